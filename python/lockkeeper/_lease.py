#   _lease.py - until when the host's lock service vouches for its locks
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""The lease page (lockkeeper-protocol(7), 7.2), and the clock it goes by."""

from __future__ import annotations

import mmap
import os
import time
from typing import Optional

FOREVER = (1 << 63) - 1
NEVER = -(1 << 62)
_SIZE = 24


def now_ms() -> int:
    """The boot clock of this host, in milliseconds."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000


class _View:
    """A mapped lease page. Each number is read by one copy of 8 bytes, which
    a memoryview of native numbers does."""

    def __init__(self, path: str) -> None:
        number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            self._map = mmap.mmap(number, _SIZE, mmap.MAP_SHARED,
                                  mmap.PROT_READ)
        finally:
            os.close(number)
        if self._map[:8] != b"LKLEASE1":
            self._map.close()
            raise ValueError("no lease page")
        view = memoryview(self._map)
        self._sessions = view.cast("Q")
        self._times = view.cast("q")

    def until(self, session: int) -> int:
        """The time first, then whose it is: never that of a later one."""
        until_ms = self._times[2]
        return until_ms if self._sessions[1] == session else 0


class Lease:
    """The lease that a LOCKED named. Where the page cannot be read it ends
    when the LOCKED said."""

    def __init__(self, path: str, session: int, until_ms: int) -> None:
        self.session = session
        self.problem = ""  # why the page cannot be read
        self._said = until_ms
        self._view: Optional[_View] = None
        if path:
            try:
                self._view = _View(path)
            except (OSError, ValueError) as error:
                why = getattr(error, "strerror", None) or str(error)
                self.problem = f"cannot read '{path}': {why.lower()}"

    @property
    def lives(self) -> bool:
        """Whether it is read from a page, and so can be prolonged."""
        return self._view is not None

    def until(self) -> int:
        """The end of the lease (boot clock, ms); 0 as soon as the session is
        over."""
        if self._view is None:
            return self._said
        return self._view.until(self.session)

    def is_that(self, session: int, until_ms: int) -> bool:
        """Whether a LOCKED speaks of this lease. A page that says less than
        the LOCKED is that of another lock service, whose state file was lost
        since, and which counts its sessions from 1 again."""
        if self.session != session:
            return False
        return (self.until() >= until_ms if self.lives
                else self._said == until_ms)


class Loan:
    """A lease on a machine without a lock service, by messages: who carries
    its requests has it go on. Whatever thread asks, it ends in time."""

    lives = True
    problem = ""

    def __init__(self, until_ms: int) -> None:
        self._until_ms = until_ms

    def until(self) -> int:
        """The end of the lease (boot clock, ms)."""
        return self._until_ms

    def move(self, until_ms: int) -> None:
        """It ends then."""
        self._until_ms = until_ms


def take(known: Optional[Lease], path: str, session: int,
         until_ms: int) -> Lease:
    """The lease of a LOCKED: the known one, if that is it."""
    if known is not None and known.is_that(session, until_ms):
        return known
    return Lease(path, session, until_ms)
