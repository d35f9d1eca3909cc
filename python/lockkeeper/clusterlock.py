#   clusterlock.py - the interface of the module clusterlock
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""The interface of the module clusterlock, without its database.

Whoever used clusterlock changes an import:

    from lockkeeper.clusterlock import Lock, Semaphore, acquire_all
    from lockkeeper import clusterlock

    lock = Lock("device", "snmp-query")
    with lock:
        ...

What is the same: ``what`` and ``context`` together name a lock; ``Lock`` is a
Semaphore of one; ``acquire(max_wait)`` with seconds, 0 (the default) for as
long as it takes, raising ClusterLockError on time-out; ``release()``;
``with``; ``acquire_all``. What is different, and why:

- init_db(engine, session) does nothing, and engine and session are taken by
  the constructors and not looked at: there is no database.
- Who waits is served in the order of asking, and wakes as soon as the lock is
  free: ``sleep_interval`` means nothing.
- A process that dies gives its locks back at once; there is nothing to clean
  up, ``cleanup_every`` means nothing, and ClusterCleanUpError is never
  raised.
- ``duration``: as there, who takes longer loses the lock when somebody else
  waits for it, and release() raises ClusterLockReleaseError then. Unlike
  there, it is given to the other one only when this holder has released it,
  or the lock service's grace (lockkeeper.conf(5), 60 seconds by default) is
  over as well. ``cleanup_every`` over 0 was a condition for that, and is none
  here.
- ``value`` is kept as the first one said it, for as long as anybody holds the
  lock or waits for it; there it was kept for ever. As there, more than that
  never hold it; and nobody gets it while ``max_bound``, in its own eyes, are
  there already. ``value`` has to be 1 at least.
- A lock that was lost for another reason (this host was cut off from the
  others, an operator took it away) raises ClusterLockReleaseError on
  release(), too. ``lock.held`` tells it before.
- acquire_all takes no lock "db:global-lock": it asks in the order of the
  names, so that nobody waits for one who waits for him. As there, it gives
  back what it has if one is not had in ``max_wait_per_lock`` seconds, sleeps
  for ``sleep_time``, and tries again until ``total_wait`` is over (which also
  ends a wait for a single lock, up to that time and not beyond). One that was
  lost before the last one is had counts as one that is not had.
- An instance may be acquired several times, if its bound allows, and is
  released as often; instances may be shared by threads.

Also unlike there, ``with lock as x`` gives the lock.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from types import TracebackType
from typing import Any, List, NoReturn, Optional, Sequence, Tuple, Type
from typing import Union

from . import _locks, _session
from .errors import (Disconnected, LockkeeperError, NotGranted, Refused,
                     refuse_copy)

__all__ = ["ClusterCleanUpError", "ClusterLockError",
           "ClusterLockReleaseError", "Lock", "Semaphore", "acquire_all",
           "get_backend", "get_db", "get_who", "init_db"]


class ClusterLockError(Exception):
    """A lock was not acquired: ``max_wait`` is over, or what else the lock
    service says."""


class ClusterLockReleaseError(Exception):
    """A lock was lost before it was released, or not acquired at all."""


class ClusterCleanUpError(Exception):
    """Never raised: nothing is to be cleaned up."""


def init_db(engine: Any = None, session: Any = None) -> None:
    """Does nothing: there is no database."""


def get_db() -> Any:
    """(None, None): there is no database."""
    return None, None


def get_backend(cfgpath: str) -> Any:
    """(None, None): there is no database, and the file is not read."""
    return None, None


def get_who() -> str:
    """host:process:thread of the caller, as there."""
    return f"{socket.getfqdn()}:{os.getpid()}:{threading.get_ident()}"


def _if_any(seconds: Optional[float]) -> Optional[float]:
    """None for no time and less; what is no time is refused later."""
    is_none = isinstance(seconds, (int, float)) and seconds <= 0
    return None if is_none else seconds


class Semaphore:
    """Semaphore(what, context="-", max_bound=1, value=-1, duration=-1,
    sleep_interval=0.1, cleanup_every=10): at most ``max_bound`` holders of
    ``what`` in ``context`` at a time.

    Also as Semaphore(engine, session, what, ...), which are not looked at.
    ``lockkeeper_session`` is a Session; otherwise that of the process, which
    goes by $LOCKKEEPER_CLIENT on a machine without a router.
    """

    def __init__(self, *arguments: Any,
                 lockkeeper_session: Optional[_session.Session] = None,
                 **options: Any) -> None:
        if arguments and not isinstance(arguments[0], (str, bytes)):
            arguments = arguments[2:]
        self._session = lockkeeper_session
        self._units: List[_locks.Semaphore] = []
        self._mutex = threading.Lock()
        self._set_up(*arguments, **options)

    def _set_up(self, what: Union[str, bytes], context: str = "-",
                max_bound: int = 1, value: int = -1, duration: float = -1,
                sleep_interval: float = 0.1,
                cleanup_every: float = 10) -> None:
        if max_bound < 1 or value < -1 or value == 0:
            raise ValueError("max_bound and value are 1 at least")
        self._what, self._context = what, context
        self._tag = f"{what!s}:{context}"
        self._max_bound = max_bound
        self._value = max_bound if value == -1 else value
        self._duration = duration

    def __reduce__(self) -> NoReturn:
        refuse_copy(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._tag!r}>"

    def _new_unit(self) -> _locks.Semaphore:
        duration = _if_any(self._duration)
        return _locks.Semaphore(
            self._what, self._max_bound, bound=self._value,
            context=self._context, lenient=duration is not None,
            duration=duration, session=self._session)

    def acquire(self, max_wait: Optional[float] = 0) -> None:
        """Waits for the lock, ``max_wait`` seconds at most; 0: for ever."""
        had: List[Had] = []
        try:
            self._take(max_wait, had)
        except BaseException:  # may have broken in when it was there already
            _give_back(had)
            raise

    def _take(self, max_wait: Optional[float], had: "List[Had]") -> None:
        """The same; ``had`` gets what has to be given back."""
        try:
            unit = self._new_unit()
            had.append((self, unit))
            unit.acquire(_if_any(max_wait))
        except (NotGranted, Disconnected, Refused) as error:
            raise ClusterLockError(f"{self._tag}: {error.text}") from error
        with self._mutex:
            self._units.append(unit)

    def _drop(self, unit: _locks.Semaphore) -> None:
        """Gives it back, if it was acquired at all, without waiting."""
        with self._mutex:
            self._units = [one for one in self._units if one is not unit]
        try:
            unit._give_back().abandon(begin=True)
        except LockkeeperError:
            pass  # its session is over

    @property
    def held(self) -> bool:
        """Whether this instance is acquired, and not lost."""
        with self._mutex:
            return bool(self._units) and self._units[-1].held

    def release(self) -> None:
        """Gives back what was acquired last."""
        with self._mutex:
            unit = self._units.pop() if self._units else None
        if unit is None:
            raise ClusterLockReleaseError(f"{self._tag} is not acquired")
        try:
            unit.release()
        except LockkeeperError as error:
            raise ClusterLockReleaseError(f"{self._tag}: {error}") from error

    def __enter__(self) -> "Semaphore":
        self.acquire()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]],
                 value: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        try:
            self.release()
        except ClusterLockReleaseError:
            if value is None:
                raise


class Lock(Semaphore):
    """Lock(what, context="-", duration=-1, sleep_interval=0.1,
    cleanup_every=10): one holder of ``what`` in ``context`` at a time. All
    else is as with Semaphore, with ``max_bound`` and ``value`` 1."""

    def _set_up(  # type: ignore[override]
            self, what: Union[str, bytes], context: str = "-",
            duration: float = -1, sleep_interval: float = 0.1,
            cleanup_every: float = 10) -> None:
        super()._set_up(what, context, 1, 1, duration)


Had = Tuple[Semaphore, _locks.Semaphore]


def _give_back(had: List[Had]) -> None:
    """All of them, whatever becomes of each."""
    for lock, unit in reversed(had):
        lock._drop(unit)


def _try_all(locks: Sequence[Semaphore], max_wait: float,
             end: float) -> bool:
    """All of them, or none; one that was lost meanwhile is none."""
    had: List[Had] = []
    try:
        for lock in locks:
            left = min(max_wait, end - time.monotonic())
            lock._take(max(left, 0.001), had)
        if all(unit.held for _, unit in had):
            return True
    except ClusterLockError:
        pass
    except BaseException:
        _give_back(had)
        raise
    _give_back(had)
    return False


def acquire_all(locks: Sequence[Semaphore], max_wait_per_lock: float = 1,
                sleep_time: float = .5,
                total_wait: Optional[float] = None) -> None:
    """Acquires all locks or none; ClusterLockError when ``total_wait``
    seconds are over (None: never)."""
    end = float("inf") if total_wait is None \
        else time.monotonic() + total_wait
    ordered = sorted(locks, key=lambda lock: lock._tag)
    while not _try_all(ordered, max_wait_per_lock, end):
        left = end - time.monotonic()
        if left <= 0:
            raise ClusterLockError("acquire_all: total_wait is over")
        time.sleep(min(sleep_time, left))
