#   _session.py - sessions that block
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Blocking sessions. Each has a thread, the listener, that does all there is
to do: it alone touches the core and the connection. Other threads leave it
work and wait, so that whatever breaks into them, such as Ctrl-C, breaks into
nothing; see _work.py."""

from __future__ import annotations

import atexit
import os
import queue
import select
import sys
import threading
import weakref
from types import TracebackType
from typing import Any, Callable, Iterable, List, NoReturn, Optional
from typing import Type, TypeVar

from . import _locks, _look, _others, _wish
from ._book import JEOPARDY, LOST, SAFE, Told
from ._core import READY
from ._drive import CONNECT_S, Driver, Steps
from ._handle import Handle, Key
from ._lease import FOREVER, now_ms
from ._look import History, Member, Status, Ticket
from ._others import Check
from ._wish import Name
from ._work import Bell, Job
from .errors import Disconnected, LockkeeperError, refuse_copy

T = TypeVar("T")
Call = Callable[[], Any]

_open: "weakref.WeakSet[Session]" = weakref.WeakSet()
_exiting = False  # the interpreter ends


class Session:
    """A way to the lock service of this host.

    ``endpoint`` is where the router listens, 'ipc://PATH', or several of
    them with commas, which are tried in turn; without it
    $LOCKKEEPER_ENDPOINT counts, then /etc/lockkeeper/lockkeeper.conf, then
    ipc:///run/lockkeeper/router. ``name`` is shown to others with the
    process's number behind it, otherwise the program's. ``connect_timeout``
    is how many seconds to wait for the router, which otherwise raises
    Disconnected, or Refused.

    A session and its locks may be used by all threads of the process. It has
    a thread of its own, which does the repeating and hears what happens; on
    demand another one, in which callbacks run. After fork() it is the
    parent's alone: in the child its locks are not held and all else raises
    Misuse, so open another one there. (What was acquired by a parent that is
    gone is given back.)

    close(), or the end of a ``with`` block, gives back all locks but static
    ones; so does a regular end of the process. A process that is killed
    gives all back as well: the router watches it.
    """

    def __init__(self, endpoint: Optional[str] = None, *,
                 name: Optional[str] = None,
                 connect_timeout: Optional[float] = CONNECT_S) -> None:
        connect_ms = _wish.to_ms(connect_timeout, "a timeout", -1)
        self._driver = Driver(endpoint, name)
        self._inbox: "queue.SimpleQueue[Call]" = queue.SimpleQueue()
        self._jobs: List[Job[Any]] = []
        self._bell = Bell()
        self._over = False  # the listener takes nothing any more
        self._calls: "queue.SimpleQueue[Optional[Call]]" = queue.SimpleQueue()
        self._caller: Optional[threading.Thread] = None
        self._listener = threading.Thread(
            target=self._listen, name="lockkeeper", daemon=True)
        try:
            self._listener.start()
            _open.add(self)
            self._run(self._driver.connect_steps(connect_ms))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]],
                 value: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "open" if self._driver.is_alive else "closed"
        return f"<Session {self._driver.core.name}@{self.host}: {state}>"

    def __reduce__(self) -> NoReturn:
        refuse_copy(self)

    def close(self) -> None:
        """Gives back all locks but static ones, for which it waits up to a
        second, and leaves. Once more does nothing; in a child, too."""
        if os.getpid() != self._driver.pid:
            return
        self._post(self._begin_close)
        if threading.current_thread() is not self._listener \
                and self._listener.ident is not None:
            self._listener.join()
        self._calls.put(None)
        _open.discard(self)

    #   -------------------------------------------------------- making locks

    def lock(self, name: Name, **options: Any) -> "_locks.Lock":
        """Lock(name, session=self, ...)."""
        return _locks.Lock(name, session=self, **options)

    def semaphore(self, name: Name, limit: Optional[int] = None,
                  **options: Any) -> "_locks.Semaphore":
        """Semaphore(name, limit, session=self, ...)."""
        return _locks.Semaphore(name, limit, session=self, **options)

    def rwlock(self, name: Name, **options: Any) -> "_locks.RWLock":
        """RWLock(name, session=self, ...)."""
        return _locks.RWLock(name, session=self, **options)

    def lock_all(self, names: Iterable[Name],
                 **options: Any) -> "_locks.LockSet":
        """LockSet(names, session=self, ...)."""
        return _locks.LockSet(names, session=self, **options)

    #   -------------------------------------------------------- questions

    @property
    def host(self) -> str:
        """This host's name, as its router calls it."""
        return self._driver.core.host

    @property
    def closed(self) -> bool:
        """Whether it was closed, or belongs to the parent of this process."""
        return not self._driver.is_alive

    def status(self, timeout: Optional[float] = 5.0) -> Status:
        """How the lock service of this host is."""
        return self._run(_look.status(self._driver, timeout))

    def list(self, name: Optional[Name] = None, *, context: str = "",
             timeout: Optional[float] = 10.0) -> "List[Ticket]":
        """Who holds and who waits for locks in the whole cluster, or for the
        one of that name; those of one name stand together, holders first,
        then the queue."""
        return self._run(_look.list_tickets(
            self._driver, name, context, timeout))

    def owners(self, name: Name, *, context: str = "",
               timeout: Optional[float] = 10.0) -> "List[Ticket]":
        """Who holds and who waits for that lock, as list(), and what their
        hosts know of them: command, user, and whether it is in jeopardy."""
        return self._run(_look.owners(self._driver, name, context,
                                         timeout))

    def history(self, name: Optional[Name] = None, *, count: int = 20,
                context: str = "",
                timeout: Optional[float] = 10.0) -> History:
        """What happened to a lock of late, or to all of them, as the hosts of
        the cluster saw it: the last ``count`` events, up to 500. It is
        remembered in memory that is bounded, and lost when a lock service
        ends."""
        return self._run(_look.history(self._driver, name, context,
                                          count, timeout))

    def members(self,
                timeout: Optional[float] = 10.0) -> "List[Member]":
        """The hosts of the cluster: leaders first, then members, then those
        that are heard and no members."""
        return self._run(_look.members(self._driver, timeout))

    def check(self, name: Name, token: int, *, context: str = "",
              timeout: Optional[float] = 5.0) -> Check:
        """For who guards what a lock protects: is ``token`` still that of a
        holder? The answer may be old when it arrives, so compare with the
        highest token that was seen, too."""
        return self._run(_others.check(self._driver, name, token, context,
                                       timeout))

    def unlock(self, name: Name, key: Key, *, context: str = "",
               timeout: Optional[float] = 5.0) -> None:
        """Ends the lock of whoever holds it with that key, from any host.
        Raises Denied, Unknown (nobody holds it) or TimedOut."""
        self._run(_others.unlock(self._driver, name, key, context, timeout))

    def force(self, name: Name, *, token: int = 0,
              reason: Optional[str] = None, context: str = "",
              timeout: Optional[float] = None) -> None:
        """Takes a lock away from all of its holders, or from the one with
        that token, as an operator; they see the reason. Waits until the last
        of them is gone, which may take as long as a host lease."""
        self._run(_others.force(self._driver, name, token, reason, context,
                                timeout))

    #   -------------------------------------------------------- waiting

    def _job(self, steps: Steps[T],
             undo: Optional[Call] = None) -> Job[T]:
        """Has steps carried out, and can undo them if nobody learns that they
        were; see Job."""
        if _exiting and threading.current_thread().daemon:
            threading.Event().wait()  # it will not go on anyway
        check = self._driver.check_alive
        check()
        return Job(self._post, check, self._jobs, steps, undo)

    def _run(self, steps: Steps[T]) -> T:
        job = self._job(steps)
        try:
            return job.wait()
        except BaseException:
            job.abandon()
            raise

    def _post(self, call: Call) -> None:
        """The listener will call it, or whoever finds that it is over."""
        self._inbox.put(call)
        if self._over:
            self._refuse_all()
        self._bell.ring()

    #   -------------------------------------------------------- the listener

    def _listen(self) -> None:
        driver = self._driver
        try:
            while not driver.closed or self._jobs:
                self._listen_once()
        except BaseException as error:  # nothing is heard from now on
            driver.broken = error
            raise
        finally:
            self._over = True
            driver.closed = driver.closed or driver.broken is None
            self._refuse_all()
            self._bell.close()
            driver.shut()

    def _listen_once(self) -> None:
        self._bell.hush()
        while True:
            self._take_inbox()
            for event in self._driver.turn():
                self._tell(event)
            if not self._advance():
                break
        if not self._driver.closed or self._jobs:
            self._sleep()

    def _take_inbox(self) -> None:
        try:
            while True:
                self._inbox.get_nowait()()
        except queue.Empty:
            pass

    def _advance(self) -> bool:
        """Goes on with each job that waits no more; whether there was one."""
        due = [job for job in self._jobs if job.is_due()]
        for job in due:
            job.advance()
        return bool(due)

    def _sleep(self) -> None:
        poll = select.poll()
        poll.register(self._bell.number, select.POLLIN)
        for number in self._driver.link.descriptors():
            poll.register(number, select.POLLIN)
        due = min((job.end_ms for job in self._jobs), default=FOREVER)
        due = min(due, self._driver.core.deadline())
        poll.poll(None if due == FOREVER
                  else min(max(0, due - now_ms()), 3_600_000))

    def _begin_close(self) -> None:
        driver = self._driver
        if driver.closed:
            return
        others = list(self._jobs)
        if driver.core.state == READY:
            Job(self._post, driver.check_alive, self._jobs,
                driver.close_steps()).start()
        driver.closed = True
        for job in others:
            if _exiting:
                self._jobs.remove(job)
            else:
                job.fail(Disconnected("the session was closed"))

    def _refuse_all(self) -> None:
        """Nothing is done any more."""
        if _exiting:
            return
        self._take_inbox()
        for job in list(self._jobs):
            try:
                self._driver.check_alive()
            except LockkeeperError as error:
                job.fail(error)

    def _tell(self, told: Told) -> None:
        """Has the users' callbacks called in the thread for that."""
        for lock in told.entry.users:
            if isinstance(lock, Handle) and lock._entry is told.entry:
                self._tell_user(lock, told)

    def _tell_user(self, lock: Handle, told: Told) -> None:
        if told.kind == LOST and lock.on_lost is not None:
            on_lost, reason = lock.on_lost, told.reason
            self._call(lambda: on_lost(lock, reason))
        elif told.kind in (JEOPARDY, SAFE) and lock.on_jeopardy is not None:
            on_jeopardy = lock.on_jeopardy
            danger = told.kind == JEOPARDY
            self._call(lambda: on_jeopardy(lock, danger))

    def _call(self, call: Call) -> None:
        self._calls.put(call)
        if self._caller is None:
            self._caller = threading.Thread(
                target=self._make_calls, name="lockkeeper calls", daemon=True)
            self._caller.start()

    def _make_calls(self) -> None:
        while True:
            call = self._calls.get()
            if call is None:
                return
            try:
                call()
            except Exception:  # of the user's: as any thread tells of it
                threading.excepthook(threading.ExceptHookArgs(
                    (*sys.exc_info(), threading.current_thread())))


@atexit.register
def _close_all() -> None:
    """What still waits or asks are daemon threads, which end with the
    interpreter and should not complain about that."""
    global _exiting
    _exiting = True
    for session in list(_open):
        session.close()
