#   devices.py - the interface of the module clusterlock, over lockkeeper
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   devices.py [DEVICE]

import sys

from lockkeeper.clusterlock import (ClusterLockError, Lock, Semaphore,
                                    acquire_all)


def main(device):
    """At most three queries of a device, and one that makes its config."""
    with Semaphore(device, "snmp-query", max_bound=3):
        print("query")
    config = Lock(device, "get-config")
    try:
        config.acquire(max_wait=5)
        print("config")
        config.release()
    except ClusterLockError as error:
        sys.exit(str(error))
    both = [Lock(device, "one"), Lock(device, "two")]
    acquire_all(both, max_wait_per_lock=1, sleep_time=.5, total_wait=10)
    print("both")
    for lock in both:
        lock.release()


main(sys.argv[1] if len(sys.argv) > 1 else "device")
