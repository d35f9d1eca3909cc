#   exclusive.py - work that only one process of the cluster does at a time
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   exclusive.py [NAME]

import sys
import time

import lockkeeper


def main(name):
    """Three steps, each ahead of which the lock is looked at."""
    with lockkeeper.Lock(name, timeout=10) as lock:
        for step in range(1, 4):
            lock.ensure()
            print(f"step {step}, token {lock.token}")
            time.sleep(0.1)


try:
    main(sys.argv[1] if len(sys.argv) > 1 else "example")
except lockkeeper.LockkeeperError as error:
    sys.exit(f"exclusive.py: {error}")
