#   _session.py - sessions that block
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Blocking sessions. Each has a thread that listens, so that a lock which is
lost is told while the program works; a mutex is around all of it."""

from __future__ import annotations

import atexit
import os
import queue
import select
import sys
import threading
import weakref
from types import TracebackType
from typing import Any, Callable, Iterable, List, Optional
from typing import Type, TypeVar

from . import _locks, _others, _wish
from ._book import JEOPARDY, LOST, SAFE, Told
from ._drive import CONNECT_S, Driver, Steps, Until
from ._handle import Handle, Key
from ._lease import FOREVER, now_ms
from ._others import Check, Status, Ticket
from ._wish import Name
from .errors import Disconnected

T = TypeVar("T")
Call = Callable[[], Any]

_open: "weakref.WeakSet[Session]" = weakref.WeakSet()


class _Bell:
    """Wakes who sleeps on its descriptor."""

    def __init__(self) -> None:
        self.number, self._end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._rung = False  # under the session's mutex

    def ring(self) -> None:
        if not self._rung:
            self._rung = True
            os.write(self._end, b"!")

    def hush(self) -> None:
        if self._rung:
            os.read(self.number, 16)
            self._rung = False

    def close(self) -> None:
        os.close(self.number)
        os.close(self._end)


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
        self._changed = threading.Condition()
        self._wake = _Bell()
        self._sleeps_until = 0
        self._ending = False
        self._calls: "queue.SimpleQueue[Optional[Call]]" = queue.SimpleQueue()
        self._caller: Optional[threading.Thread] = None
        self._listener = threading.Thread(
            target=self._listen, name="lockkeeper", daemon=True)
        self._listener.start()
        _open.add(self)
        try:
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

    def close(self) -> None:
        """Gives back all locks but static ones, for which it waits up to a
        second, and leaves. Once more does nothing; in a child, too."""
        driver = self._driver
        if os.getpid() != driver.pid:
            return
        with self._changed:
            if driver.closed:
                return
            steps = driver.close_steps()
            if driver.core.state != "ready" or driver.broken:
                driver.closed = True
            else:
                self._carry_out(steps)
            self._ending = True
            self._changed.notify_all()
            self._wake.ring()
        self._calls.put(None)
        if threading.current_thread() is not self._listener:
            self._listener.join()
        driver.shut()
        self._wake.close()
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
        return self._run(_others.status(self._driver, timeout))

    def list(self, timeout: Optional[float] = 10.0) -> List[Ticket]:
        """Who holds and who waits for locks in the whole cluster; those of
        one name stand together, holders first, then the queue."""
        return self._run(_others.list_tickets(self._driver, timeout))

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

    def _run(self, steps: Steps[T]) -> T:
        self._driver.check_alive()
        with self._changed:
            self._driver.check_alive()
            return self._carry_out(steps)

    def _carry_out(self, steps: Steps[T]) -> T:
        """Goes from wait to wait. What breaks into a wait, such as Ctrl-C, is
        the steps' to clean up after."""
        try:
            until = next(steps)
            while True:
                self._push()
                try:
                    self._await(until)
                except BaseException as error:
                    until = steps.throw(error)
                else:
                    until = next(steps)
        except StopIteration as done:
            result: T = done.value
            return result
        finally:
            self._push()

    def _await(self, until: Until) -> None:
        while not until.ready() and not self._ending:
            if self._driver.broken is not None:
                self._driver.check_alive()
            left = until.end_ms - now_ms()
            if left <= 0:
                return
            self._changed.wait(None if until.end_ms == FOREVER
                               else min(left, 3_600_000) / 1000)
        if self._ending and not until.ready():
            raise Disconnected("the session was closed")

    def _push(self) -> None:
        """What was said leaves now; the listener does the rest."""
        driver = self._driver
        if self._ending:
            return
        if not driver.core.reopen:
            driver.flush()
        self._changed.notify_all()
        if driver.core.reopen or not driver.link.is_idle() \
                or driver.core.deadline() < self._sleeps_until:
            self._wake.ring()

    #   -------------------------------------------------------- the listener

    def _listen(self) -> None:
        try:
            while not self._ending:
                self._listen_once()
        except BaseException as error:  # nothing is heard from now on
            with self._changed:
                self._driver.broken = error
                self._changed.notify_all()
            raise

    def _listen_once(self) -> None:
        with self._changed:
            self._wake.hush()
            if self._ending:
                return  # it was said while we waited for the mutex
            told = self._driver.turn()
            for event in told:
                self._tell(event)
            self._changed.notify_all()
            sleep_ms = self._driver.timeout_ms()
            self._sleeps_until = (FOREVER if sleep_ms is None
                                  else now_ms() + sleep_ms)
            poll = select.poll()
            poll.register(self._wake.number, select.POLLIN)
            for number in self._driver.link.descriptors():
                poll.register(number, select.POLLIN)
        poll.poll(None if sleep_ms is None else min(sleep_ms, 3_600_000))

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
    for session in list(_open):
        session.close()
