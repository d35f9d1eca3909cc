#   _locks.py - locks that block
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Lock, Semaphore, LockSet and RWLock for threads, and the session that they
use if they are given none."""

from __future__ import annotations

import os
import threading
from types import TracebackType
from typing import Any, Dict, NoReturn, Optional, Type, TypeVar

from . import _session, _wish
from ._drive import Steps
from ._handle import RELEASE_S, Handle, LockKind, SemaphoreKind, SetKind
from ._wish import EXCLUSIVE, SHARED, Name
from ._work import Job, this_thread
from .errors import Busy, LockkeeperError, refuse_copy

T = TypeVar("T")
H = TypeVar("H", bound="Blocking")


_default: Dict[int, _session.Session] = {}
_default_mutex = threading.Lock()


def _renew_mutex() -> None:
    global _default_mutex
    _default_mutex = threading.Lock()


os.register_at_fork(after_in_child=_renew_mutex)


def default_session() -> _session.Session:
    """The session of this process for locks that are made without one; it is
    opened when it is asked for first, and again in a child."""
    with _default_mutex:
        session = _default.get(os.getpid())
        if session is None or session.closed:
            session = _session.Session()
            _default.clear()
            _default[os.getpid()] = session
        return session


#   ------------------------------------------------------------ locks


class Blocking(Handle):
    """A lock whose operations wait in the calling thread."""

    def _find_session(
            self, session: Optional[_session.Session]) -> _session.Session:
        return default_session() if session is None else session

    def _do(self, steps: Steps[T]) -> T:
        session: _session.Session = self._session
        return session._run(steps)

    def _hear(self) -> None:
        session: _session.Session = self._session
        session._listener.hear()

    def _turn(self) -> None:
        session: _session.Session = self._session
        session._listener.turn()

    def _ask_for(self, timeout: Optional[float]) -> Job[None]:
        session: _session.Session = self._session
        return session._listener.job(
            self._acquire_steps(timeout, this_thread()), self._undo_acquire)

    def acquire(self, timeout: Optional[float] = None) -> None:
        """Waits until the lock is held, ``timeout`` seconds at most (None:
        as long as the constructor's ``timeout`` says, which is for ever by
        default).

        Raises TimedOut, or what else of NotGranted. It fails at the latest 5
        seconds after the timeout, even if nobody answers.
        """
        job = self._ask_for(self._timeout if timeout is None else timeout)
        try:
            job.wait()
        except BaseException:
            job.abandon()
            raise

    def try_acquire(self) -> bool:
        """Takes the lock if it is free, and does not wait for it otherwise.
        False if somebody has it; all other failures are raised."""
        try:
            self.acquire(0)
        except Busy:
            return False
        return True

    def release(self, timeout: float = RELEASE_S) -> bool:
        """Gives the lock back, and waits until all leaders have that in
        writing, ``timeout`` seconds at most. False if nobody confirmed it in
        time: it is given back all the same, by asking on.

        Raises LockLost if the lock was lost before, each time that it is
        released: what was done under it may have been done by another one as
        well.
        """
        job = self._give_back(timeout)
        try:
            return job.wait()
        except BaseException:
            job.abandon(begin=True)
            raise

    def change(self, type: str, timeout: Optional[float] = None) -> None:
        """To 'exclusive' or 'shared', without giving the lock back.

        To 'exclusive': waits until nobody else holds it, ``timeout`` seconds
        at most (None: for ever), ahead of all others that wait, and has a new
        token then. Raises Deadlock if another holder wants that already, or
        TimedOut; the lock is still held shared then. To 'shared': at once,
        with the same token. Invalid for sets and semaphores.
        """
        self._do(self._change_steps(
            type, _wish.to_ms(timeout, "a timeout", -1)))

    def upgrade(self, timeout: Optional[float] = None) -> None:
        """change("exclusive", timeout)."""
        self.change(EXCLUSIVE, timeout)

    def downgrade(self) -> None:
        """change("shared")."""
        self.change(SHARED)

    def leave(self) -> str:
        """Lets go of a static or lingering lock and leaves it held; returns
        its key, which is needed to end it."""
        return self._do(self._leave_steps())

    def _give_back(self, timeout: float = RELEASE_S) -> Job[bool]:
        session: _session.Session = self._session
        return session._listener.job(self._release_steps(
            _wish.to_ms(timeout, "a timeout", 0), this_thread()))

    def __enter__(self: H) -> H:
        job = self._ask_for(self._timeout)
        try:
            job.wait()
        except BaseException:
            job.abandon()
            raise
        return self

    def __exit__(self, kind: Optional[Type[BaseException]],
                 value: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        job = None
        try:
            if self._entry is not None:  # not released or left in the block
                job = self._give_back()
                job.wait()
        except LockkeeperError:
            if value is None:
                raise
        except BaseException:
            (job or self._give_back()).abandon(begin=True)
            raise


class Lock(Blocking, LockKind):
    """A lock that one process of the whole cluster holds at a time.

        with lockkeeper.Lock("backup", timeout=10) as lock:
            for step in work:
                lock.ensure()
                step(lock.token)

    ``name`` is a str, or bytes of any value, 1 to 4096 of them. Times are
    seconds. The options:

    session     whose lock it is; otherwise that of default_session().
    timeout     how long acquire() and ``with`` wait; None: for ever.
    duration    the lock is lost after this time; None: never.
    context     the same name in another context is another lock.
    shared      any number of processes may hold it shared at a time.
    soft        while it waits, shared requests that come later pass it,
    quiet       ... and it waits until nobody held it shared for so long.
    lenient     the duration ends it only while somebody waits for it.
    static      it outlives the process and its host: its key, its duration
                or an operator ends it, or that all leaders are down at once.
                See leave().
    linger      when the process ends without giving it back, it is kept for
                so long.
    key         takes over the lock with this key that lingers on this host;
                not on a machine without a router.
    reentrant   the thread that holds a lock of that name, context and type
                in this session may acquire it again, with this object or with
                another one; it is given back when it has been released as
                often, by that thread.
    on_lost     called as on_lost(lock, reason) in a thread for callbacks.
    on_jeopardy called as on_jeopardy(lock, danger), likewise.

    An object stands for one holding at a time. Threads may share it: while
    one has it, acquire() of another waits, also after the lock was lost,
    until it is released; so nobody takes another thread's lock for its own.
    Whoever wants to hold a shared lock in several threads uses an object for
    each of them.

    Nothing is to be renewed: the host does that, or the session, as long as
    the leaders are heard and the process lives. ``held`` is honest by the
    host's clock and lease also when the router, the lock service or all
    servers hang or are gone.
    """


class Semaphore(Blocking, SemaphoreKind):
    """One unit of a semaphore: at most ``limit`` holders at a time.

        with lockkeeper.Semaphore("snmp", 3):
            ...

    ``limit`` is how many there may be in the eyes of this caller, ``bound``
    how many for everybody, which is kept as the first one said it for as
    long as anybody holds the lock or waits for it. The smaller one counts,
    and one of the two has to be there. All else is as for Lock: one object
    is one unit, so use one for each thread.
    """


class LockSet(Blocking, SetKind):
    """Several locks, all or none of them.

        with lockkeeper.LockSet(["fork-1", "fork-2"]) as forks:
            print(forks.tokens["fork-1"])

    Whatever the order of the names is, sets never wait for each other in a
    circle. It is held when all of them are, and lost when one of them is.
    """


class RWLock:
    """A lock for readers and writers: read() and write() make a lock each.

        lock = lockkeeper.RWLock("config")
        with lock.read():
            ...
        with lock.write(timeout=5):
            ...

    The options are those of Lock, and hold for both; read() and write() take
    further ones, such as ``soft`` for a writer that readers may pass.
    """

    def __init__(self, name: Name, *,
                 session: Optional[_session.Session] = None,
                 **options: Any) -> None:
        self._name = name
        self._options = dict(
            options, session=default_session() if session is None else session)
        self.write()  # raises if the options make no sense

    def __reduce__(self) -> NoReturn:
        refuse_copy(self)

    def read(self, **options: Any) -> Lock:
        """A new shared lock of that name."""
        return Lock(self._name, shared=True, **{**self._options, **options})

    def write(self, **options: Any) -> Lock:
        """A new exclusive lock of that name."""
        return Lock(self._name, **{**self._options, **options})
