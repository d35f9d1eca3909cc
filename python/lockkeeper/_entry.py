#   _entry.py - one request of a session, and what became of it
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""An entry of the book: a lock that was asked for, or something that is done
about the lock of others."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any, List, Union

from ._lease import FOREVER, Lease, Loan
from ._wish import EXCLUSIVE, Wish

MARGIN_MS = 5000  # over the wait, until we give up ourselves
_SHORT_MS = 100  # an answer may take longer than such a wait
WORD_MS = 50  # for the lock service to say why a lease ended


class Life(enum.Enum):
    """The life of a lock."""

    ASKED = enum.auto()  # LOCK is open
    HELD = enum.auto()  # LOCKED came, nothing has ended it
    CHANGING = enum.auto()  # held, and LOCK is open for another type
    UNDOING = enum.auto()  # likewise, to take back an upgrade, unseen
    ENDED = enum.auto()  # the user was told, the service may keep it
    GIVING = enum.auto()  # UNLOCK is open, and somebody waits for that
    DROPPING = enum.auto()  # UNLOCK is open, nobody waits for that
    LEFT = enum.auto()  # held, and no more of this process
    CLOSED = enum.auto()  # nothing is open


HOLDING = (Life.HELD, Life.CHANGING, Life.UNDOING)


def is_short(wait_ms: int) -> bool:
    """Whether the wait may be over before anybody can answer: then it is
    tried first whether that can be had without waiting."""
    return 0 < wait_ms < _SHORT_MS


class Deed(enum.Enum):
    """What an entry is about. All but the first are GIVING until they are
    answered."""

    LOCK = enum.auto()
    UNLOCK = enum.auto()  # by its key, whoever holds it
    FORCE = enum.auto()  # an operator's UNLOCK
    CHECK = enum.auto()  # LOCKCHECK


@dataclass
class Change:
    """The change of type that was asked for last."""

    type: str = EXCLUSIVE
    was: str = EXCLUSIVE
    wait_ms: int = -1
    asked_at: int = 0
    tries: bool = False


@dataclass
class Danger:
    """Whether a lock may soon be lost: what the lock service says, what the
    lease page says, and what the user was told."""

    said: bool = False
    why: str = ""  # as it said
    seen: bool = False
    orphan: bool = False  # the lock service that granted it has ended
    told: bool = False
    look_at: int = FOREVER


@dataclass(eq=False)
class Entry:
    """One request. ``serial`` is even, that of its LOCK; what ends it has
    the next one."""

    serial: int
    wish: Wish
    wait_ms: int
    asked_at: int
    deed: Deed = Deed.LOCK
    life: Life = Life.ASKED
    wanted: bool = True  # the user has not let go of it
    tries: bool = False  # LOCK asks for what can be had without waiting
    users: List[Any] = field(default_factory=list)  # several: re-entered
    repeat_at: int = FOREVER
    due: int = FOREVER
    type: str = EXCLUSIVE
    token: int = 0
    tokens: List[int] = field(default_factory=list)
    key: int = 0
    keys: List[int] = field(default_factory=list)
    ordinal: int = 0
    turn: int = 0
    resuming: bool = False  # held, and the new lock service is to go on
    change: Change = field(default_factory=Change)
    static: bool = False
    until_ms: int = FOREVER  # of the duration
    lease: Union[Lease, Loan, None] = None
    lease_ms: int = 0
    danger: Danger = field(default_factory=Danger)
    error: str = ""  # why it failed or was lost, or the last change failed
    loss: str = ""  # why it was lost; empty: not before it was given back
    granted: bool = False  # the user was told that he has it
    remark: str = ""  # what the lock service said about that
    late: bool = False
    comment: str = ""  # FORCE: ours; else an operator's
    now: bool = False  # UNLOCK, FORCE: at once, whoever believes in it
    checked: bool = False  # CHECK: it is held with that token
    newest: int = 0

    @property
    def holds(self) -> bool:
        """Granted, and nothing that was said or seen has ended it."""
        return self.life in HOLDING

    @property
    def may_resume(self) -> bool:
        """Whether another lock service can go on with it. A static lock needs
        nobody."""
        return self.holds and self.danger.orphan and not self.static

    def lease_until(self) -> int:
        """The end of the host's lease as of now."""
        return self.lease.until() if self.lease is not None else 0

    def ends_at(self) -> int:
        """When a duration ends it by our own clock; a lenient one is asked
        back by its home."""
        return FOREVER if self.wish.lenient else self.until_ms

    def expires_at(self) -> int:
        """When it ends, or the request is given up, by our own clock."""
        if self.life is Life.ASKED and self.wait_ms >= 0:
            return self.asked_at + self.wait_ms + MARGIN_MS
        if self.holds:
            if self.static:
                return self.ends_at()
            return min(self.ends_at(), self.lease_until())
        return FOREVER

    def overdue_at(self) -> int:
        """When we give up waiting for another type; to be shared does not
        wait."""
        if self.life is not Life.CHANGING or self.change.wait_ms < 0 \
                or self.change.type != EXCLUSIVE:
            return FOREVER
        return self.change.asked_at + self.change.wait_ms + MARGIN_MS

    def told_at(self, has_word: bool) -> int:
        """When its end is told. The lock service, which knows why a lease
        ended, has the first word if there is one (``has_word``)."""
        expires = self.expires_at()
        by_lease = self.holds and expires < self.ends_at()
        waits = by_lease and has_word and not self.danger.orphan
        return expires + WORD_MS if waits else expires

    def due_at(self, has_word: bool) -> int:
        """When it has to be looked at."""
        look_at = self.danger.look_at if self.holds else FOREVER
        return min(self.told_at(has_word), self.overdue_at(), look_at,
                   self.repeat_at)

    def until(self) -> int:
        """Until when the user may act as the holder if nothing more is
        heard; 0: not at all."""
        return self.expires_at() if self.holds else 0
