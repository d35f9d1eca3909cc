#   __init__.py - locks for a cluster, in Python
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Locks for a cluster.

    import lockkeeper

    with lockkeeper.Lock("backup", timeout=10) as lock:
        print("token", lock.token)
        while lock.held and work():
            pass

Asks the lock service of this host through its router, see
lockkeeper-router(8) and lockkeeper-lockd(8); on a machine without a router
those of other hosts, by a client file. There are

    Session     the way to the lock service; locks that are made without one
                share one for the process (default_session)
    Lock        exclusive or shared
    Semaphore   a number of holders
    RWLock      readers and writers
    LockSet     several locks, all or none

Their exceptions are in lockkeeper.errors, the same for asyncio in
lockkeeper.aio, and the interface of the module clusterlock in
lockkeeper.clusterlock. The whole story is in lockkeeper-python(7).
"""

from ._attach import VERSION as __version__
from ._locks import Lock, LockSet, RWLock, Semaphore, default_session
from ._look import Happening, History, Member, Status, Ticket
from ._others import Check
from ._session import Session
from .errors import (Busy, Deadlock, Denied, Disconnected, Invalid, Isolated,
                     LockkeeperError, LockLost, Misuse, NotGranted,
                     Overloaded, Refused, Shutdown, TimedOut, Unknown)

__all__ = [
    "Busy", "Check", "Deadlock", "Denied", "Disconnected", "Happening",
    "History", "Invalid", "Isolated", "Lock", "LockLost", "LockSet",
    "LockkeeperError", "Member", "Misuse",
    "NotGranted", "Overloaded", "RWLock", "Refused", "Semaphore", "Session",
    "Shutdown", "Status", "Ticket", "TimedOut", "Unknown", "__version__",
    "default_session"]
