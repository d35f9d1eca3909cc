#   aio.py - sessions and locks for asyncio
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Locks for a cluster, for asyncio.

    from lockkeeper import aio

    async with aio.Session() as session:
        async with session.lock("backup", timeout=10) as lock:
            await work(lock.token)

The same as in lockkeeper, but for waiting: a session belongs to the event
loop in which it was opened, and has no thread. When a task is cancelled that
waits for a lock the request is taken back; when it is cancelled while it holds
one, ``async with`` gives it back. If the loop does not run nothing is heard,
but ``lock.held`` is honest all the same.
"""

from __future__ import annotations

import asyncio
import os
import select
import weakref
from dataclasses import dataclass
from types import TracebackType
from typing import Any, AsyncIterator, Dict, Iterable, List, NoReturn
from typing import Optional, Set
from typing import Type, TypeVar

from . import _look, _others, _wish
from ._attach import READY
from ._book import JEOPARDY, LOST, SAFE, Told
from ._drive import CONNECT_S, Driver, Steps, Until
from ._handle import RELEASE_S, Handle, Key, LockKind, SemaphoreKind, SetKind
from ._lease import FOREVER, now_ms
from ._look import Happening, History, Member, Status, Ticket
from ._others import Check
from ._wish import EXCLUSIVE, SHARED, Name
from .errors import Busy, Disconnected, LockkeeperError, Misuse, refuse_copy

__all__ = ["Check", "Event", "Happening", "History", "Lock", "LockSet",
           "Member", "RWLock", "Semaphore", "Session", "Status", "Ticket"]

T = TypeVar("T")
H = TypeVar("H", bound="Waiting")


@dataclass(frozen=True)
class Event:
    """What happened to a lock that is held. ``kind`` is 'lost' (and
    ``reason`` why), 'jeopardy' (it may soon be lost) or 'safe' (that is
    over)."""

    kind: str
    lock: "Waiting"
    reason: str = ""


class _Watch:
    """The descriptors of a session in its loop, and when it is due. It knows
    the session by a weak reference: one that nobody has is collected."""

    def __init__(self, session: "Session",
                 loop: asyncio.AbstractEventLoop) -> None:
        self._session = weakref.ref(session)
        self._numbers: Set[int] = set()
        self._poll = select.poll()
        self._timer: Optional[asyncio.TimerHandle] = None
        self.loop = loop

    def turn(self) -> None:
        """The session's turn, if it is there."""
        session = self._session()
        if session is not None:
            session._turn()

    def set(self, numbers: Set[int]) -> None:
        """Those are the descriptors."""
        for number in numbers - self._numbers:
            self.loop.add_reader(number, self.turn)
            self._poll.register(number, select.POLLIN)
        self._numbers = numbers

    def clear(self) -> None:
        """There are none; the numbers of those that are closed are soon those
        of others."""
        for number in self._numbers:
            self.loop.remove_reader(number)
            self._poll.unregister(number)
        self._numbers = set()

    def has_news(self) -> bool:
        """Whether something has arrived; asked by the loop's own thread."""
        try:
            return asyncio.get_running_loop() is self.loop \
                and bool(self._poll.poll(0))
        except RuntimeError:  # there is none in this thread
            return False

    def set_timer(self, due: int) -> None:
        """A turn is due then."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if due != FOREVER:
            left_s = min(max(0, due - now_ms()), 3_600_000) / 1000
            self._timer = self.loop.call_later(left_s, self.turn)


def _abandon(watch: _Watch, driver: Driver) -> None:
    """Nobody has the session any more."""
    watch.set_timer(FOREVER)
    if os.getpid() == driver.pid and not watch.loop.is_closed():
        watch.loop.call_soon_threadsafe(driver.shut)


class Session:
    """A way to the lock service of this host, or of others, for one event
    loop.

    The arguments are those of lockkeeper.Session. ``async with`` opens and
    closes it; or open() and close() do.
    """

    def __init__(self, endpoint: Optional[str] = None, *,
                 name: Optional[str] = None,
                 connect_timeout: Optional[float] = CONNECT_S,
                 client: Optional[str] = None) -> None:
        self._endpoint, self._name, self._client = endpoint, name, client
        self._connect_ms = _wish.to_ms(connect_timeout, "a timeout", -1)
        self._made: Optional[Driver] = None
        self._watching: Optional[_Watch] = None
        self._kept: Set[Handle] = set()  # that are asked for or held
        self._waiters: Dict["asyncio.Future[None]", Until] = {}
        self._queues: "weakref.WeakSet[asyncio.Queue[Optional[Event]]]" \
            = weakref.WeakSet()
        self._tasks: Set["asyncio.Task[Any]"] = set()
        self._shut = False

    @property
    def _driver(self) -> Driver:
        if self._made is None:
            raise Misuse("the session is not open yet")
        return self._made

    @property
    def _watch(self) -> _Watch:
        assert self._watching is not None
        return self._watching

    async def open(self) -> "Session":
        """Connects; raises Disconnected or Refused."""
        if self._made is not None:
            raise Misuse("the session was opened before")
        self._watching = _Watch(self, asyncio.get_running_loop())
        self._made = Driver(self._endpoint, self._name, self._client)
        self._made.way.watch(self._watching.clear)
        self._drop = weakref.finalize(
            self, _abandon, self._watching, self._made)
        self._drop.atexit = False
        try:
            await self._run(self._made.connect_steps(self._connect_ms))
        except BaseException:
            await self.close()
            raise
        return self

    async def close(self) -> None:
        """Gives back all locks but static ones, for which it waits up to a
        second, and leaves. Once more does nothing; in a child, too."""
        driver = self._made
        if driver is None or driver.closed or os.getpid() != driver.pid:
            return
        try:
            if driver.way.state == READY and driver.broken is None:
                await self._carry_out(driver.close_steps())
        finally:
            driver.closed = True
            self._end(driver)

    def _end(self, driver: Driver) -> None:
        self._shut = True
        self._drop.detach()
        self._watch.set_timer(FOREVER)
        for future in self._waiters:
            if not future.done():
                future.set_result(None)
        for queue in self._queues:
            queue.put_nowait(None)
        driver.shut()

    def __reduce__(self) -> NoReturn:
        refuse_copy(self)

    async def __aenter__(self) -> "Session":
        return await self.open()

    async def __aexit__(self, kind: Optional[Type[BaseException]],
                        value: Optional[BaseException],
                        traceback: Optional[TracebackType]) -> None:
        await self.close()

    #   -------------------------------------------------------- making locks

    def lock(self, name: Name, **options: Any) -> "Lock":
        """Lock(name, session=self, ...)."""
        return Lock(name, session=self, **options)

    def semaphore(self, name: Name, limit: Optional[int] = None,
                  **options: Any) -> "Semaphore":
        """Semaphore(name, limit, session=self, ...)."""
        return Semaphore(name, limit, session=self, **options)

    def rwlock(self, name: Name, **options: Any) -> "RWLock":
        """RWLock(name, session=self, ...)."""
        return RWLock(name, session=self, **options)

    def lock_all(self, names: Iterable[Name], **options: Any) -> "LockSet":
        """LockSet(names, session=self, ...)."""
        return LockSet(names, session=self, **options)

    #   -------------------------------------------------------- questions

    @property
    def host(self) -> str:
        """As lockkeeper.Session.host."""
        return self._driver.way.host

    @property
    def closed(self) -> bool:
        """Whether it is not open, or belongs to the parent of this
        process."""
        return self._made is None or not self._made.is_alive

    async def status(self, timeout: Optional[float] = 5.0) -> Status:
        """As lockkeeper.Session.status."""
        return await self._run(_look.status(self._driver, timeout))

    async def list(self, name: Optional[Name] = None, *, context: str = "",
                   timeout: Optional[float] = 10.0) -> "List[Ticket]":
        """As lockkeeper.Session.list."""
        return await self._run(_look.list_tickets(
            self._driver, name, context, timeout))

    async def owners(self, name: Name, *, context: str = "",
                     timeout: Optional[float] = 10.0) -> "List[Ticket]":
        """As lockkeeper.Session.owners."""
        return await self._run(_look.owners(self._driver, name, context,
                                         timeout))

    async def history(self, name: Optional[Name] = None, *, count: int = 20,
                      context: str = "",
                      timeout: Optional[float] = 10.0) -> History:
        """As lockkeeper.Session.history."""
        return await self._run(_look.history(self._driver, name, context,
                                          count, timeout))

    async def members(self,
                      timeout: Optional[float] = 10.0) -> "List[Member]":
        """As lockkeeper.Session.members."""
        return await self._run(_look.members(self._driver, timeout))

    async def check(self, name: Name, token: int, *, context: str = "",
                    timeout: Optional[float] = 5.0) -> Check:
        """As lockkeeper.Session.check."""
        return await self._run(_others.check(self._driver, name, token,
                                             context, timeout))

    async def unlock(self, name: Name, key: Key, *, now: bool = False,
                     context: str = "",
                     timeout: Optional[float] = None) -> None:
        """As lockkeeper.Session.unlock."""
        await self._run(_others.unlock(self._driver, name, key, now, context,
                                       timeout))

    async def force(self, name: Name, *, token: int = 0,
                    reason: Optional[str] = None, now: bool = False,
                    context: str = "",
                    timeout: Optional[float] = None) -> None:
        """As lockkeeper.Session.force."""
        how = _others.Forcing(token, reason, now)
        await self._run(_others.force(self._driver, name, how, context,
                                      timeout))

    def events(self) -> AsyncIterator[Event]:
        """What happens to the locks of this session from now on, and first
        which of them are in jeopardy, until it is closed:
        ``async for event in session.events(): ...``"""
        queue: "asyncio.Queue[Optional[Event]]" = asyncio.Queue()
        self._driver.check_alive()
        book = self._driver.way.book
        for lock in self._kept:
            entry = lock._entry
            if isinstance(lock, Waiting) and entry and lock.in_jeopardy:
                queue.put_nowait(Event(JEOPARDY, lock, book.why_danger(entry)))
        self._queues.add(queue)
        return self._take_events(queue)

    async def _take_events(
            self, queue: "asyncio.Queue[Optional[Event]]"
    ) -> AsyncIterator[Event]:
        while True:
            event = await queue.get()
            if event is None:
                return
            yield event

    #   -------------------------------------------------------- waiting

    async def _run(self, steps: Steps[T]) -> T:
        self._driver.check_alive()
        if asyncio.get_running_loop() is not self._watch.loop:
            raise Misuse("a session belongs to the event loop that opened it")
        return await self._carry_out(steps)

    async def _carry_out(self, steps: Steps[T]) -> T:
        """Goes from wait to wait. What breaks into a wait, such as a
        cancellation, is the steps' to clean up after."""
        try:
            until = next(steps)
            while True:
                self._turn()
                try:
                    await self._await(until)
                except BaseException as error:
                    until = steps.throw(error)
                else:
                    until = next(steps)
        except StopIteration as done:
            result: T = done.value
            return result
        finally:
            if not self._shut:
                self._turn()

    async def _await(self, until: Until) -> None:
        if until.ready() or now_ms() >= until.end_ms:
            return
        future: "asyncio.Future[None]" = self._watch.loop.create_future()
        self._waiters[future] = until
        self._rearm()
        try:
            await future
        finally:
            del self._waiters[future]
        if self._shut and not until.ready():
            raise Disconnected("the session was closed")
        self._driver_or_break()

    def _driver_or_break(self) -> Driver:
        if self._driver.broken is not None:
            self._driver.check_alive()
        return self._driver

    #   -------------------------------------------------------- the loop

    def _turn(self) -> None:
        """Does all that is to do, and sleeps on what comes next."""
        if self._shut:
            return
        driver = self._driver
        try:
            told = driver.turn()
        except Exception as error:  # nothing is heard from now on
            driver.broken = error
            self._watch.clear()
            self._wake_waiters()
            raise
        for event in told:
            self._tell(event)
        self._watch.set(set(driver.way.descriptors()))
        self._wake_waiters()
        self._rearm()

    def _hear(self) -> None:
        """Looks at what has arrived, for who asks whether a lock is held."""
        if not self._shut and self._watch.has_news():
            try:
                self._turn()
            except Exception:
                pass  # it broke: nothing is held then

    def _wake_waiters(self) -> None:
        now = now_ms()
        for future, until in self._waiters.items():
            if not future.done() and (
                    until.ready() or now >= until.end_ms
                    or self._driver.broken is not None):
                future.set_result(None)

    def _rearm(self) -> None:
        due = min((until.end_ms for until in self._waiters.values()),
                  default=FOREVER)
        self._watch.set_timer(min(due, self._driver.way.deadline()))

    def _tell(self, told: Told) -> None:
        for user in told.entry.users:
            lock = user()
            if isinstance(lock, Waiting) and lock._entry is told.entry:
                self._tell_user(lock, told)

    def _tell_user(self, lock: "Waiting", told: Told) -> None:
        for queue in self._queues:
            queue.put_nowait(Event(told.kind, lock, told.reason))
        loop = self._watch.loop
        if told.kind == LOST and lock.on_lost is not None:
            loop.call_soon(self._call, lock.on_lost, lock, told.reason)
        elif told.kind in (JEOPARDY, SAFE) and lock.on_jeopardy is not None:
            loop.call_soon(self._call, lock.on_jeopardy, lock,
                           told.kind == JEOPARDY)

    def _call(self, callback: Any, lock: "Waiting", value: Any) -> None:
        """Calls a callback; what is awaitable becomes a task."""
        result = callback(lock, value)
        if asyncio.iscoroutine(result):
            task = self._watch.loop.create_task(result)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)


#   ------------------------------------------------------------ locks


def _this_task() -> "weakref.ref[asyncio.Task[Any]]":
    task = asyncio.current_task()
    assert task is not None
    return weakref.ref(task)


class Waiting(Handle):
    """A lock whose operations are awaited."""

    def _find_session(self, session: Optional[Session]) -> Session:
        if session is None:
            raise Misuse("a lock for asyncio needs a session")
        return session

    async def _do(self, steps: Steps[T]) -> T:
        session: Session = self._session
        return await session._run(steps)

    def _hear(self) -> None:
        session: Session = self._session
        session._hear()

    def _turn(self) -> None:
        session: Session = self._session
        session._turn()

    @staticmethod
    def _lives(owner: Any) -> bool:
        task = owner()
        return task is not None and not task.done()

    async def acquire(self, timeout: Optional[float] = None) -> None:
        """As lockkeeper.Lock.acquire. When it is cancelled the request is
        taken back, and so is a lock that was granted meanwhile."""
        if timeout is None:
            timeout = self._timeout
        await self._do(self._acquire_steps(timeout, _this_task()))

    async def try_acquire(self) -> bool:
        """As lockkeeper.Lock.try_acquire."""
        try:
            await self._do(self._acquire_steps(0, _this_task()))
        except Busy:
            return False
        return True

    async def release(self, timeout: float = RELEASE_S) -> bool:
        """As lockkeeper.Lock.release. When it is cancelled the lock is given
        back all the same."""
        wait_ms = _wish.to_ms(timeout, "a timeout", 0)
        return await self._do(self._release_steps(wait_ms, _this_task()))

    async def change(self, type: str,
                     timeout: Optional[float] = None) -> None:
        """As lockkeeper.Lock.change. When it is cancelled that wants to be
        exclusive the lock is shared."""
        await self._do(self._change_steps(
            type, _wish.to_ms(timeout, "a timeout", -1)))

    async def upgrade(self, timeout: Optional[float] = None) -> None:
        """change("exclusive", timeout)."""
        await self.change(EXCLUSIVE, timeout)

    async def downgrade(self) -> None:
        """change("shared")."""
        await self.change(SHARED)

    async def leave(self) -> str:
        """As lockkeeper.Lock.leave."""
        return await self._do(self._leave_steps())

    async def __aenter__(self: H) -> H:
        await self.acquire()
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]],
                        value: Optional[BaseException],
                        traceback: Optional[TracebackType]) -> None:
        if self._entry is None:
            return  # released or left inside of the block
        try:
            await self.release()
        except LockkeeperError:
            if value is None:
                raise


class Lock(Waiting, LockKind):
    """As lockkeeper.Lock, with tasks in place of threads. ``session`` has to
    be there. Callbacks run in the loop and may be coroutine functions."""


class Semaphore(Waiting, SemaphoreKind):
    """One unit of a semaphore, as lockkeeper.Semaphore."""


class LockSet(Waiting, SetKind):
    """Several locks, all or none of them, as lockkeeper.LockSet."""


class RWLock:
    """A lock for readers and writers, as lockkeeper.RWLock."""

    def __init__(self, name: Name, *, session: Session,
                 **options: Any) -> None:
        self._name = name
        self._options = dict(options, session=session)
        self.write()  # raises if the options make no sense

    def __reduce__(self) -> NoReturn:
        refuse_copy(self)

    def read(self, **options: Any) -> Lock:
        """A new shared lock of that name."""
        return Lock(self._name, shared=True, **{**self._options, **options})

    def write(self, **options: Any) -> Lock:
        """A new exclusive lock of that name."""
        return Lock(self._name, **{**self._options, **options})
