#   _work.py - what other threads have the listener of a session do
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""A thread that wants something makes a job of it, leaves it with the
listener and waits. Python breaks into the main thread anywhere, for Ctrl-C or
whatever a signal handler raises: so that thread only waits, and if it is
broken into, the listener undoes what nobody would know of."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any, Callable, Generic, List, Optional, TypeVar

from ._drive import Steps, Until
from ._lease import now_ms

T = TypeVar("T")
Call = Callable[[], Any]


class _Mark:
    """Stands for a thread, with which it ends."""

    __slots__ = ("__weakref__",)


_here = threading.local()


def this_thread() -> "weakref.ref[_Mark]":
    """The calling thread, which no later one is equal to, though it may have
    the same number."""
    if not hasattr(_here, "mark"):
        _here.mark = _Mark()
    return weakref.ref(_here.mark)


class Bell:
    """Wakes who sleeps on its descriptor. Any thread rings it, also one that
    is broken into while it does."""

    def __init__(self) -> None:
        self.number, self._end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._mutex = threading.RLock()

    def ring(self) -> None:
        with self._mutex:
            if self._end >= 0:
                try:
                    os.write(self._end, b"!")
                except BlockingIOError:
                    pass  # it rings

    def hush(self) -> None:
        try:
            os.read(self.number, 4096)
        except BlockingIOError:
            pass

    def close(self) -> None:
        with self._mutex:
            os.close(self.number)
            os.close(self._end)
            self._end = -1


class Abandoned(BaseException):
    """Who waited for these steps was broken into."""


class Job(Generic[T]):
    """Steps that the listener carries out, and who waits for them.

        job = session._job(steps)
        try:
            return job.wait()
        except BaseException:
            job.abandon()
            raise

    The caller has to have the ``try``: what is raised behind the return of
    wait() is caught there, too. ``post`` leaves the listener something to
    call; ``jobs`` are those that are under way, which it alone touches;
    ``check`` raises if nothing may begin any more.
    ``undo`` is called if the steps were done and nobody learns that.
    """

    def __init__(self, post: Callable[[Call], None], check: Call,
                 jobs: "List[Job[Any]]", steps: Steps[T],
                 undo: Optional[Call] = None) -> None:
        self._post, self._check, self._jobs = post, check, jobs
        self._steps, self._undo = steps, undo
        self._gate = threading.Lock()
        self._gate.acquire()
        self._until: Optional[Until] = None
        self._started = self._done = False
        self._result: Optional[T] = None
        self._error: Optional[BaseException] = None

    #   -------------------------------------------------------- the caller's

    def wait(self) -> T:
        """What the steps return, or raise."""
        self._post(self.start)
        self._gate.acquire()
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]

    def abandon(self, begin: bool = False) -> None:
        """Nobody waits any more, or learns what came of it. Steps that failed
        are left at that, and so are those that were not begun, unless they
        are to be begun all the same."""
        if begin:
            self._post(self.start)
        self._post(self._abandon)

    #   ------------------------------------------------------ the listener's

    def start(self) -> None:
        """The first step, once."""
        if not self._started:
            self._started = True
            self._jobs.append(self)
            self._go(self._first)

    def _first(self) -> Until:
        self._check()
        return next(self._steps)

    @property
    def end_ms(self) -> int:
        """When it waits no more, at the latest."""
        return self._until.end_ms if self._until else 0

    def is_due(self) -> bool:
        """Whether what it waited for is there, or its time is over."""
        return self._until is None or self._until.ready() \
            or now_ms() >= self._until.end_ms

    def advance(self) -> None:
        """The next step; another one may have ended it meanwhile."""
        if not self._done:
            self._go(lambda: next(self._steps))

    def fail(self, error: BaseException) -> None:
        """Breaks into the steps."""
        self._go(lambda: self._steps.throw(error))

    def _abandon(self) -> None:
        if not self._started:
            self._started = self._done = True
        elif not self._done:
            self.fail(Abandoned())
        elif self._error is None and self._undo is not None:
            self._undo()

    def _go(self, step: Callable[[], Until]) -> None:
        try:
            self._until = step()
        except StopIteration as done:
            self._finish(done.value, None)
        except BaseException as error:
            self._finish(None, error)

    def _finish(self, result: Any, error: Optional[BaseException]) -> None:
        self._done = True
        self._result, self._error = result, error
        self._jobs.remove(self)
        self._gate.release()
