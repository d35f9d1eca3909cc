#   _others.py - what is done about the locks of others
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Unlocking with a key, by force, and checking tokens: as steps that blocking
and asyncio sessions share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from . import _wish
from ._drive import Driver, Steps, Until, end_of
from ._entry import Entry, Life
from ._handle import Key, key_of
from ._lease import now_ms
from ._wish import Name, Wish
from .errors import TimedOut, error_of


@dataclass(frozen=True)
class Check:
    """What a LOCKCHECK says: whether somebody holds the lock with that token
    now, and the highest token that it is held with (0: nobody does)."""

    held: bool
    newest: int

    def __bool__(self) -> bool:
        return self.held


def _wish_of(name: Name, context: str) -> Wish:
    return Wish((_wish.check_name(name),),
                context=_wish.check_text(context, "a context"))


def _await_steps(driver: Driver, entry: Entry,
                 timeout: Optional[float]) -> Steps[None]:
    wait_ms = _wish.to_ms(timeout, "a timeout", -1)
    try:
        yield Until(lambda: entry.life is Life.CLOSED, end_of(wait_ms))
        closed = entry.life is Life.CLOSED
    finally:
        driver.way.book.discard(entry)
    if not closed:
        raise entry.wish.about(TimedOut(
            entry.remark or "nobody answered in time; it may still happen"))
    if entry.error:
        raise entry.wish.about(error_of(entry.error, entry.remark))


def unlock(driver: Driver, name: Name, key: Key, now: bool, context: str,
           timeout: Optional[float]) -> Steps[None]:
    """Ends a lock with its key."""
    entry = driver.way.book.unlock_by_key(
        _wish_of(name, context), key_of(key), bool(now), now_ms())
    yield from _await_steps(driver, entry, timeout)


@dataclass(frozen=True)
class Forcing:
    """How an operator ends a lock: from the holder with that token (0: from
    all), and what he says."""

    token: int
    reason: Optional[str]
    now: bool


def force(driver: Driver, name: Name, how: Forcing, context: str,
          timeout: Optional[float]) -> Steps[None]:
    """Ends a lock as an operator does."""
    entry = driver.way.book.force(
        _wish_of(name, context), key_of(how.token),
        _wish.check_text(how.reason, "a reason"), bool(how.now), now_ms())
    yield from _await_steps(driver, entry, timeout)


def check(driver: Driver, name: Name, token: int, context: str,
          timeout: Optional[float]) -> Steps[Check]:
    """Whether a lock is held with that token."""
    entry = driver.way.book.check(_wish_of(name, context), key_of(token),
                                   now_ms())
    yield from _await_steps(driver, entry, timeout)
    return Check(entry.checked, entry.newest)
