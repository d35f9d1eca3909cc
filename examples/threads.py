#   threads.py - threads that share a session, and readers and writers
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   threads.py [NAME]

import sys
import threading

import lockkeeper


def on_lost(lock, reason):
    """Called in a thread of the session."""
    print(f"lost {lock.name}: {reason}", file=sys.stderr)


def main(name):
    """Four readers and a writer; not more than two work at a time."""
    with lockkeeper.Session() as session:
        catalog = session.rwlock(name, timeout=10, on_lost=on_lost)

        def read(number):
            with session.semaphore(name + "/work", 2), catalog.read():
                print(f"reader {number}")

        def write():
            with catalog.write() as lock:
                print(f"writer, token {lock.token}")

        threads = [threading.Thread(target=read, args=(number,))
                   for number in range(4)]
        threads.append(threading.Thread(target=write))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


main(sys.argv[1] if len(sys.argv) > 1 else "example")
