#   _listener.py - the thread of a blocking session
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""The listener does all there is to do for a session: it alone touches the
core and the connection. Other threads leave it work and wait, so that whatever
breaks into them, such as Ctrl-C, breaks into nothing; see _work.py.

It knows neither the session nor its locks, but by weak references: so a
session that nobody has any more is collected, which ends its listener."""

from __future__ import annotations

import atexit
import os
import queue
import select
import sys
import threading
from typing import Any, Callable, List, Optional, Set, TypeVar

from ._attach import READY
from ._book import JEOPARDY, LOST, SAFE, Told
from ._drive import Driver, Steps
from ._handle import Handle
from ._lease import FOREVER, now_ms
from ._work import Bell, Job
from .errors import Disconnected, LockkeeperError, Misuse

T = TypeVar("T")
Call = Callable[[], Any]

_HEAR_S = 0.1

_open: "Set[Listener]" = set()
_exiting = False  # the interpreter ends


class Listener:
    """The thread of a session, and what others leave it to do."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._inbox: "queue.SimpleQueue[Call]" = queue.SimpleQueue()
        self._jobs: List[Job[Any]] = []
        self._bell = Bell()
        self._epoll = select.epoll()
        self._epoll.register(self._bell.number, select.EPOLLIN)
        self._watched: Set[int] = set()
        self._over = False  # nothing is taken any more
        self._calls: "queue.SimpleQueue[Optional[Call]]" = queue.SimpleQueue()
        self._caller: Optional[threading.Thread] = None
        self._thread = threading.Thread(
            target=self._listen, name="lockkeeper", daemon=True)
        driver.way.watch(self._unwatch)

    def start(self) -> None:
        """Begins to listen, until it is closed."""
        try:
            self._thread.start()
        except BaseException:
            self._end()
            raise
        _open.add(self)

    #   -------------------------------------------------------- for others

    def job(self, steps: Steps[T], undo: Optional[Call] = None) -> Job[T]:
        """Has steps carried out, and can undo them if nobody learns that they
        were; see Job."""
        if _exiting and threading.current_thread().daemon:
            threading.Event().wait()  # it will not go on anyway
        check = self._driver.check_alive
        check()
        if threading.get_ident() == self._thread.ident:
            raise Misuse("the thread of a session cannot wait for it, "
                         "as a __del__ that it calls would")
        return Job(self._post, check, self._jobs, steps, undo)

    def run(self, steps: Steps[T]) -> T:
        """Has steps carried out."""
        job = self.job(steps)
        try:
            return job.wait()
        except BaseException:
            job.abandon()
            raise

    def hear(self) -> None:
        """Waits until what has arrived was looked at, but for no thread that
        hangs. To find that nothing has arrived costs a system call."""
        try:
            arrived = {number for number, _ in self._epoll.poll(0)}
        except ValueError:
            return  # it is over
        if arrived - {self._bell.number} \
                and threading.get_ident() != self._thread.ident:
            heard = threading.Event()
            self._post(self.turn)
            self._post(heard.set)
            heard.wait(_HEAR_S)

    def close(self) -> None:
        """Gives back all locks but static ones, and waits for the end."""
        self.drop()
        if os.getpid() == self._driver.pid \
                and threading.current_thread() is not self._thread \
                and self._thread.ident is not None:
            self._thread.join()

    def drop(self) -> None:
        """The same, without waiting. In a child it does nothing."""
        if os.getpid() == self._driver.pid:
            self._post(self._begin_close)

    def _post(self, call: Call) -> None:
        """The listener will call it, or whoever finds that it is over."""
        self._inbox.put(call)
        if self._over:
            self._refuse_all()
        self._bell.ring()

    #   -------------------------------------------------------- the thread

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
            self._end()
            self._calls.put(None)
            _open.discard(self)

    def _listen_once(self) -> None:
        self._bell.hush()
        while True:
            self._take_inbox()
            self.turn()
            if not self._advance():
                break
        if not self._driver.closed or self._jobs:
            self._sleep()

    def turn(self) -> None:
        """Does what is to do now, and tells of it; for steps that want to know
        what has arrived."""
        if not self._over:
            for told in self._driver.turn():
                self._tell(told)

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
        numbers = set(self._driver.way.descriptors())
        for number in numbers - self._watched:
            self._epoll.register(number, select.EPOLLIN)
        self._watched = numbers
        due = min((job.end_ms for job in self._jobs), default=FOREVER)
        due = min(due, self._driver.way.deadline())
        self._epoll.poll(None if due == FOREVER
                         else min(max(0, due - now_ms()), 3_600_000) / 1000)

    def _unwatch(self) -> None:
        """The numbers of descriptors that are closed are soon those of
        others."""
        for number in self._watched:
            self._epoll.unregister(number)
        self._watched = set()

    #   -------------------------------------------------------- its end

    def _end(self) -> None:
        self._bell.close()
        self._driver.shut()
        self._epoll.close()

    def _begin_close(self) -> None:
        driver = self._driver
        if driver.closed:
            return
        others = list(self._jobs)
        if driver.way.state == READY:
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

    #   -------------------------------------------------------- callbacks

    def _tell(self, told: Told) -> None:
        """Has the users' callbacks called in the thread for that."""
        for user in told.entry.users:
            lock = user()
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
                target=_make_calls, args=(self._calls,),
                name="lockkeeper calls", daemon=True)
            self._caller.start()


def _make_calls(calls: "queue.SimpleQueue[Optional[Call]]") -> None:
    while True:
        call = calls.get()
        if call is None:
            return
        try:
            call()
        except Exception:  # of the user's: as any thread tells of it
            threading.excepthook(threading.ExceptHookArgs(
                (*sys.exc_info(), threading.current_thread())))
        del call  # it has the lock


@atexit.register
def _close_all() -> None:
    """What still waits or asks are daemon threads, which end with the
    interpreter and should not complain about that."""
    global _exiting
    _exiting = True
    for listener in list(_open):
        listener.close()
