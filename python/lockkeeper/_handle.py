#   _handle.py - a lock in the user's hands
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""What Lock, Semaphore and LockSet are, but for how they wait: that is for
_session.py and aio.py."""

from __future__ import annotations

import weakref
from typing import Any, Callable, Dict, Iterable, NoReturn, Optional, Tuple
from typing import Union

from . import _frame, _wish
from ._attach import REFUSED
from ._drive import Driver, Owned, Steps, Until, end_of
from ._entry import Entry, Life
from ._lease import FOREVER, now_ms
from ._wish import EXCLUSIVE, SEMAPHORE, SHARED, Name, Wish
from .errors import Busy, Invalid, LockkeeperError, LockLost, Misuse
from .errors import TimedOut, error_of, refuse_copy

RELEASE_S = 5.0  # how long a release waits for its confirmation
_SPARE_MS = 500  # where the length of a lease is not known

OnLost = Callable[[Any, str], Any]
OnJeopardy = Callable[[Any, bool], Any]
Key = Union[str, int]


def key_of(key: Optional[Key]) -> int:
    """A key as a number: it is one, or 16 hexadecimal digits."""
    if key is None:
        return 0
    number = _frame.read_hex(key) if isinstance(key, str) else key
    if number is None:
        raise Invalid("a key has 16 hexadecimal digits")
    return _wish.check_number(number, "a key", (1 << 64) - 1)


class Handle:
    """A lock that can be asked for, held and given back, again and again.

    It stands for one holding at a time: see Lock.
    """

    def __init__(self, wish: Wish, session: Any, timeout: Optional[float],
                 reentrant: bool, on_lost: Optional[OnLost],
                 on_jeopardy: Optional[OnJeopardy]) -> None:
        self._wish = _wish.check(wish)
        self._timeout = timeout
        _wish.to_ms(timeout, "a timeout", -1)
        for call in (on_lost, on_jeopardy):
            if call is not None and not callable(call):
                raise Invalid(f"{call!r} cannot be called")
        self._reentrant = reentrant
        self._session = self._find_session(session)
        self._driver: Driver = self._session._driver
        objection = self._driver.way.objection(wish)
        if objection:
            raise Invalid(objection)
        self._entry: Optional[Entry] = None
        self._busy = False  # asked for or not given back, by ``_owner``
        self._owner: Any = None
        self._depth = 0
        #: Called as ``on_lost(lock, reason)`` when the lock is lost.
        self.on_lost = on_lost
        #: Called as ``on_jeopardy(lock, danger)`` when the lock may soon be
        #: lost (True), and when that is over (False).
        self.on_jeopardy = on_jeopardy

    def _find_session(self, session: Any) -> Any:
        raise NotImplementedError

    def _hear(self) -> None:
        """Looks at what has arrived, for somebody who asks."""
        raise NotImplementedError

    def _turn(self) -> None:
        """The same, for steps."""
        raise NotImplementedError

    def __reduce__(self) -> NoReturn:
        refuse_copy(self)

    def __repr__(self) -> str:
        names = ", ".join(_frame.show_name(name) for name in self._wish.names)
        state = "held" if self._is_held() else "not held"
        return f"<{type(self).__name__} {names!r}: {state}>"

    #   -------------------------------------------------------- questions

    @property
    def name(self) -> Name:
        """The name; of a set its first one. bytes if it is no text."""
        return self._wish.name

    @property
    def names(self) -> Tuple[Name, ...]:
        """All names, in the order of asking."""
        return tuple(map(_wish.plain_name, self._wish.names))

    @property
    def context(self) -> str:
        """The context: a name means another lock in each."""
        return self._wish.context

    @property
    def held(self) -> bool:
        """Whether this process may still act as the holder, by the host's own
        clock: False as soon as the host's lease or the duration is over, even
        if nobody could tell us, or the loss was told. Costs a system call or
        two: ask it before each step."""
        return now_ms() < self._until()

    def _until(self) -> int:
        """After all that has arrived."""
        if self._entry is not None and self._driver.is_alive:
            self._hear()
        return self._known_until()

    def _known_until(self) -> int:
        entry = self._entry
        return entry.until() if entry and self._driver.is_alive else 0

    def _is_held(self) -> bool:
        return now_ms() < self._known_until()

    @property
    def remaining(self) -> float:
        """Seconds for which it is held if nobody is heard any more (inf: for
        ever); 0 if it is not held. While all is well that stays about the
        length of a host's lease."""
        until = self._until()
        if until == FOREVER:
            return float("inf")
        return max(0, until - now_ms()) / 1000

    @property
    def left(self) -> Optional[float]:
        """Seconds until its duration is over; None if it has none."""
        if self._entry is None or self._entry.until_ms == FOREVER:
            return None
        return max(0, self._entry.until_ms - now_ms()) / 1000

    @property
    def spare(self) -> float:
        """How many seconds ahead of the end of the host's lease who stops
        what it does by force has to begin; others may have the lock from that
        end on."""
        lease_ms = self._entry.lease_ms if self._entry else 0
        return (lease_ms * 5 // 32 if lease_ms > 0 else _SPARE_MS) / 1000

    @property
    def token(self) -> int:
        """The fencing token, which grows with every grant of that name: give
        it to whatever the lock protects. 0 if it was not held yet; of a set
        that of its first name."""
        return self._entry.token if self._entry else 0

    @property
    def tokens(self) -> Dict[Name, int]:
        """The fencing token of each name."""
        tokens = self._entry.tokens if self._entry else []
        return dict(zip(self.names, tokens))

    @property
    def key(self) -> str:
        """The secret with which anybody can end the lock, 16 hexadecimal
        digits; empty if it was not held yet."""
        granted = self._entry is not None and self._entry.token != 0
        return _frame.write_hex(self._entry.key) \
            if granted and self._entry else ""

    @property
    def keys(self) -> Dict[Name, str]:
        """The key of each name; empty if it was not held yet."""
        keys = self._entry.keys if self._entry else []
        return dict(zip(self.names, map(_frame.write_hex, keys)))

    @property
    def type(self) -> str:
        """'exclusive', 'shared' or 'semaphore', as it is held or wanted."""
        return self._entry.type if self._entry else self._wish.type

    @property
    def ordinal(self) -> int:
        """By how many it was held when it was granted, itself too; 0 if it
        was not held yet."""
        return self._entry.ordinal if self._entry else 0

    @property
    def in_jeopardy(self) -> bool:
        """Whether it is held, but may soon be lost: its home was not heard
        for half a lease, or less than half of the host's own is left."""
        entry = self._entry
        return entry is not None and entry.holds and entry.danger.told

    def ensure(self) -> int:
        """The fencing token, if the lock is held; LockLost if it was lost,
        Misuse if it was not acquired."""
        entry = self._acquired()
        if not self.held:
            raise self._loss(entry)
        return entry.token

    def _ensure(self) -> Entry:
        """The same for steps."""
        entry = self._acquired()
        if not self._is_held():
            raise self._loss(entry)
        return entry

    def _acquired(self) -> Entry:
        entry = self._entry
        if entry is None or entry.life in (Life.ASKED, Life.GIVING):
            raise Misuse("the lock is not acquired")
        return entry

    def _loss(self, entry: Entry) -> LockLost:
        reason = "disconnected"
        if self._driver.is_alive:
            reason = self._driver.way.book.why_over(entry, now_ms()) \
                or "isolated"
        return self._lost(entry, reason)

    def _lost(self, entry: Entry, reason: str) -> LockLost:
        comment = f" ({entry.comment})" if entry.comment else ""
        loss = self._driver.way.loss(reason) + comment
        return self._wish.about(LockLost(loss, reason, entry.comment),
                                " is lost")

    #   -------------------------------------------------------- steps

    def _enter(self, entry: Entry) -> None:
        self._entry = entry
        self._session._kept.add(self)

    def _reset(self) -> None:
        entry, owned = self._entry, self._owned()
        self._session._kept.discard(self)
        if entry is not None:
            entry.users = [user for user in entry.users
                           if user() is not self]
            mine = [one for one in self._driver.mine.pop(owned, [])
                    if one is not entry or one.users]
            if mine:
                self._driver.mine[owned] = mine
        self._entry, self._busy = None, False
        self._owner, self._depth = None, 0

    def _owned(self) -> Owned:
        return self._owner, self._wish.names, self._wish.context

    def _join(self) -> bool:
        """Enters again what this thread or task has of that name and type;
        false if it has none. Raises LockLost if it was lost."""
        for entry in self._driver.mine.get(self._owned(), []):
            if entry.type == self._wish.type:
                if now_ms() >= entry.until():
                    raise self._loss(entry)
                self._enter(entry)
                entry.users.append(weakref.ref(self))
                return True
        return False

    def _claim_steps(self, wait_ms: int, owner: Any) -> Steps[int]:
        """This object is ours; returns what is left of the wait."""
        if self._busy and self._owner == owner:
            raise Misuse("this lock is acquired already, and not reentrant")
        end_ms = end_of(wait_ms)
        while self._busy:
            if now_ms() >= end_ms:
                kind = Busy if wait_ms == 0 else TimedOut
                raise self._wish.about(kind(
                    "this process has it in another thread or task"))
            yield Until(lambda: not self._busy, end_ms)
        self._busy, self._owner, self._depth = True, owner, 1
        if wait_ms <= 0:
            return wait_ms
        return max(1, end_ms - now_ms())  # 0 would be no wait at all

    def _check_refused(self) -> None:
        """Another credential may have come meanwhile."""
        way = self._driver.way
        if way.state == REFUSED:
            self._turn()
        if way.state == REFUSED:
            raise self._wish.about(error_of(
                way.refused_for, way.refusal or way.problem()))

    def _acquire_steps(self, timeout: Optional[float],
                       owner: Any) -> Steps[None]:
        """Asks and waits. Whatever breaks in takes the request back, or what
        was granted."""
        if self._reentrant:
            self._turn()  # whether it is still held
        if self._reentrant and self._busy and self._owner == owner:
            self._ensure()
            self._depth += 1
            return
        wait_ms = yield from self._claim_steps(
            _wish.to_ms(timeout, "a timeout", -1), owner)
        try:
            if self._reentrant and self._join():
                return
            self._check_refused()
        except LockkeeperError:
            self._reset()
            raise
        book = self._driver.way.book
        entry = book.lock(self._wish, wait_ms, now_ms(), weakref.ref(self))
        self._enter(entry)
        try:
            yield Until(lambda: entry.life is not Life.ASKED)
            if not entry.holds:
                raise self._wish.about(error_of(
                    entry.error or "disconnected", entry.remark))
            self._driver.mine.setdefault(self._owned(), []).append(entry)
        except BaseException:
            book.forget(entry, now_ms())
            self._reset()
            raise

    def _undo_acquire(self) -> None:
        """Gives back, unseen, what nobody learns that he has."""
        entry = self._entry
        if self._depth > 1:
            self._depth -= 1
        elif entry is not None:
            if len(entry.users) == 1:
                self._driver.way.book.forget(entry, now_ms())
            self._reset()

    def _release_steps(self, wait_ms: int, owner: Any) -> Steps[bool]:
        """Gives it back; whether that was confirmed."""
        self._turn()  # whether it is still held
        book, entry = self._driver.way.book, self._acquired()
        self._check_owner(owner)
        if self._depth > 1:
            self._depth -= 1
            self._check_loss(entry, book.why_over(entry, now_ms()))
            return True
        if len(entry.users) > 1:  # entered again, and not left yet
            self._reset()
            self._check_loss(entry, book.why_over(entry, now_ms()))
            return True
        try:
            book.release(entry, now_ms())
            yield Until(lambda: entry.life is Life.CLOSED, end_of(wait_ms))
        finally:
            confirmed = entry.life is Life.CLOSED
            book.forget(entry, now_ms())
            self._reset()
        self._check_loss(entry, entry.loss or ("late" if entry.late else ""))
        return confirmed

    def _check_owner(self, owner: Any) -> None:
        """What a thread or task may enter again, it alone leaves; unless it
        has ended."""
        if self._reentrant and owner != self._owner \
                and self._lives(self._owner):
            raise Misuse("a reentrant lock is released by the thread or task "
                         "that has it")

    @staticmethod
    def _lives(owner: Any) -> bool:
        return owner() is not None

    def _check_loss(self, entry: Entry, reason: str) -> None:
        if reason:
            raise self._lost(entry, reason)

    def _change_steps(self, wanted: str, wait_ms: int) -> Steps[None]:
        """From shared to exclusive, or back, without giving it back."""
        self._turn()  # whether it is still held
        book, entry = self._driver.way.book, self._ensure()
        if self._wish.is_set or entry.type == SEMAPHORE \
                or wanted not in (EXCLUSIVE, SHARED):
            raise Invalid("only between exclusive and shared can a type "
                          "change, and not of a set")
        objection = self._driver.way.turn_objection(entry)
        if objection:
            raise self._wish.about(Invalid(objection))
        book.change(entry, wanted, wait_ms, now_ms())
        try:
            yield Until(lambda: entry.life is not Life.CHANGING)
        except BaseException:
            if entry.life is Life.CHANGING and wanted == EXCLUSIVE:
                book.change(entry, SHARED, 0, now_ms())
            raise
        if not entry.holds:
            raise self._loss(entry)
        if entry.error:
            raise self._wish.about(error_of(entry.error, entry.remark))

    def _leave_steps(self) -> Steps[str]:
        """Leaves it held; its key."""
        self._turn()  # whether it is still held
        entry = self._ensure()
        if self._depth > 1 or len(entry.users) > 1 \
                or not (entry.static or self._wish.linger_ms):
            raise Invalid("what can be left is a static or lingering lock "
                          "that is held and was acquired once")
        key = self.key
        self._driver.way.book.leave(entry, now_ms())
        self._reset()
        yield from ()
        return key


class LockKind(Handle):
    """An exclusive lock, or with ``shared=True`` a shared one."""

    def __init__(self, name: Name, *, session: Any = None,
                 timeout: Optional[float] = None,
                 duration: Optional[float] = None, context: str = "",
                 shared: bool = False, soft: bool = False,
                 quiet: Optional[float] = None, lenient: bool = False,
                 static: bool = False, linger: Optional[float] = None,
                 key: Optional[Key] = None, reentrant: bool = False,
                 on_lost: Optional[OnLost] = None,
                 on_jeopardy: Optional[OnJeopardy] = None) -> None:
        wish = Wish(
            (_wish.check_name(name),), SHARED if shared else EXCLUSIVE,
            _wish.check_text(context, "a context"),
            duration_ms=_wish.to_ms(duration, "a duration", 0),
            lenient=lenient, soft=soft,
            quiet_ms=_wish.to_ms(quiet, "a quiet time", 0), static=static,
            linger_ms=_wish.to_ms(linger, "a time to linger", 0),
            key=key_of(key))
        super().__init__(wish, session, timeout, reentrant, on_lost,
                         on_jeopardy)


class SemaphoreKind(Handle):
    """One unit of a semaphore."""

    def __init__(self, name: Name, limit: Optional[int] = None, *,
                 bound: Optional[int] = None, session: Any = None,
                 timeout: Optional[float] = None,
                 duration: Optional[float] = None, context: str = "",
                 lenient: bool = False, static: bool = False,
                 linger: Optional[float] = None, key: Optional[Key] = None,
                 on_lost: Optional[OnLost] = None,
                 on_jeopardy: Optional[OnJeopardy] = None) -> None:
        wish = Wish(
            (_wish.check_name(name),), SEMAPHORE,
            _wish.check_text(context, "a context"),
            duration_ms=_wish.to_ms(duration, "a duration", 0),
            lenient=lenient, static=static,
            limit=_wish.check_number(limit or 0, "a limit", _wish.LIMIT_MAX),
            bound=_wish.check_number(bound or 0, "a bound", _wish.LIMIT_MAX),
            linger_ms=_wish.to_ms(linger, "a time to linger", 0),
            key=key_of(key))
        super().__init__(wish, session, timeout, False, on_lost, on_jeopardy)


class SetKind(Handle):
    """Several locks, all or none."""

    def __init__(self, names: Iterable[Name], *, session: Any = None,
                 timeout: Optional[float] = None,
                 duration: Optional[float] = None, context: str = "",
                 shared: bool = False, linger: Optional[float] = None,
                 on_lost: Optional[OnLost] = None,
                 on_jeopardy: Optional[OnJeopardy] = None) -> None:
        wish = Wish(
            _wish.check_names(names), SHARED if shared else EXCLUSIVE,
            _wish.check_text(context, "a context"),
            duration_ms=_wish.to_ms(duration, "a duration", 0),
            linger_ms=_wish.to_ms(linger, "a time to linger", 0))
        super().__init__(wish, session, timeout, False, on_lost, on_jeopardy)
