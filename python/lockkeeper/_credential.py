#   _credential.py - the credential of a machine without a router
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""The file that has it, and when it is renewed: what
src/net/credential_file.c and src/client/renewal.c do. Servers judge it; here
no more is read of it than how long it lasts. Other processes of the machine
may write the file, too."""

from __future__ import annotations

import enum
import os
import tempfile
from typing import Optional, Tuple

from ._lease import FOREVER

LINE_MAX = 639

LEAD_MS = 600_000  # so long ahead of the end it is renewed, or longer
WARN_MS = 60_000  # so long ahead its end is told anyway
ANSWER_MS = 20_000  # for a new one, or READY
LOOK_MS = 5000  # between looks into the file
AGAIN_MS = 30_000  # between RENEWs that failed
_SAME_MS = 2000  # ends are told in seconds, by answers that take time
_LIFE_PART = 10  # of its time: ahead of its end, ...
_LIFE_LEAST = 2  # ... at most, also of one that is short
_LOT_PART = 4  # of that: processes begin spread over it

_WORDS = 11
_TIMES = slice(5, 8)  # not before, not after, since
_Stamp = Tuple[int, int, int, int]


def times_of(line: str) -> Optional[Tuple[int, bool]]:
    """How long it lasts in all, ms, and whether somebody logged in for it;
    None: it is no credential."""
    words = line.split(" ")
    if len(words) != _WORDS or len(line) > LINE_MAX \
            or not all(word.isascii() and word.isdigit()
                       for word in words[_TIMES]):
        return None
    begin, end, since = map(int, words[_TIMES])
    return ((end - begin) * 1000, since != 0) if begin < end else None


class CredentialFile:
    """``path`` may be empty: there is none."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seen: Optional[_Stamp] = None  # as it was read last
        self._line = ""

    def line(self) -> str:
        """Its line, read anew if the file changed; empty if there is none, or
        it cannot be read."""
        try:
            number = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK
                             | os.O_CLOEXEC)
        except OSError:
            if self._seen is not None:
                self._seen, self._line = None, ""
            return self._line
        try:
            state = os.fstat(number)
            stamp = (state.st_dev, state.st_ino, state.st_size,
                     state.st_mtime_ns)
            if stamp != self._seen:
                text = os.read(number, 2 * LINE_MAX)
                self._seen, self._line = stamp, self._first(text)
        except OSError:
            self._seen, self._line = None, ""
        finally:
            os.close(number)
        return self._line

    @staticmethod
    def _first(text: bytes) -> str:
        lines = text.decode("utf-8", "replace").strip().splitlines() or [""]
        line = lines[0].strip()
        return line if len(line.encode()) <= LINE_MAX else ""

    def write(self, line: str) -> None:
        """Replaces it, mode 0600, whole or not at all. One that cannot be
        written counts here nevertheless, until the file changes."""
        self._line = line
        fresh = ""
        try:
            folder, name = os.path.split(self._path)
            number, fresh = tempfile.mkstemp(prefix=f"{name}.",
                                             dir=folder or ".")
            with open(number, "w", encoding="utf-8") as file:
                file.write(line + "\n")
                file.flush()
                os.fsync(number)
            os.rename(fresh, self._path)
        except OSError:
            if fresh and os.path.exists(fresh):
                os.unlink(fresh)


class Deed(enum.Enum):
    """A step of a renewal."""

    IDLE = enum.auto()
    LOOK = enum.auto()  # whether the file has another one
    ASK = enum.auto()  # RENEW


class Renewal:
    """Decides, and does nothing. Times are of the boot clock, from what is
    left by the server's word: the clock of the wall may be wrong."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self.ends_ms = FOREVER  # it has no end, or there is none
        self._begins_ms = FOREVER  # to be renewed
        self._look_ms = FOREVER  # the file is looked at next
        self._ask_ms = FOREVER  # RENEW next; never: it cannot be renewed
        self._has_looked = False  # ahead of that RENEW
        self._is_refused = False  # by RENEW, or it is of no log-in
        self._is_shown = False  # another one, whose end no server has said yet

    def begin(self, ends_ms: int, life_ms: int, may_renew: bool,
              lot: float) -> None:
        """The server knows one until then, which lasts so long in all (0: not
        known). ``lot``, 0 to 1, is drawn: several processes do not begin at
        once. The same end as before changes nothing."""
        if ends_ms == FOREVER:
            self._forget()
            return
        self._is_shown = False
        if self.ends_ms != FOREVER and abs(ends_ms - self.ends_ms) <= _SAME_MS:
            return
        lead_ms = max(life_ms // _LIFE_PART, LEAD_MS)
        if life_ms > 0:
            lead_ms = min(lead_ms, life_ms // _LIFE_LEAST)
        self.ends_ms = ends_ms
        self._begins_ms = ends_ms - lead_ms \
            + int(lead_ms // _LOT_PART * lot)
        self._look_ms = self._begins_ms
        self._ask_ms = self._begins_ms if may_renew else FOREVER
        self._has_looked, self._is_refused = False, not may_renew

    def next(self, now_ms: int) -> Deed:
        """The step to do now, which is noted as done. Another process may
        have renewed it: so a look comes ahead of RENEW."""
        if now_ms >= self._ask_ms and self._has_looked:
            self._has_looked = False
            self._ask_ms = now_ms + ANSWER_MS
            return Deed.ASK
        if now_ms >= min(self._look_ms, self._ask_ms):
            self._has_looked = True
            self._look_ms = now_ms + LOOK_MS
            return Deed.LOOK
        return Deed.IDLE

    def shown(self, now_ms: int) -> None:
        """The file has another one, which is shown to servers. Their READY
        says until when; nothing else is asked for until then."""
        self._has_looked, self._is_shown = False, True
        self._look_ms = now_ms + LOOK_MS
        if self._ask_ms != FOREVER:
            self._ask_ms = now_ms + ANSWER_MS

    def refused(self, now_ms: int) -> None:
        """RENEW was, for good."""
        self._is_refused, self._ask_ms = True, FOREVER
        self._look_ms = now_ms

    def failed(self, wait_ms: int, now_ms: int) -> None:
        """RENEW has failed, and may be said again after that time."""
        if self._ask_ms != FOREVER:
            self._ask_ms = now_ms + max(wait_ms, AGAIN_MS)

    def _warns_at(self) -> int:
        """One that cannot be renewed is told of as soon as it would have been,
        but not hours ahead."""
        ahead_ms = self.ends_ms - self._begins_ms
        if self._is_refused:
            return self.ends_ms - min(LEAD_MS, ahead_ms)
        return self.ends_ms - min(WARN_MS, ahead_ms // _LIFE_LEAST)

    def ends_soon(self, now_ms: int) -> bool:
        """Whether no other one is in sight: what is held is in danger."""
        return self.ends_ms != FOREVER and now_ms >= self._warns_at()

    def over_ms(self) -> int:
        """When it cuts leases short: a little sooner than we know of its
        end."""
        return FOREVER if self.ends_ms == FOREVER else self.ends_ms - _SAME_MS

    def has_ended(self, now_ms: int) -> bool:
        """Whether it is over, and no other one was shown."""
        return now_ms >= self.ends_ms and not self._is_shown

    def deadline(self, now_ms: int) -> int:
        """When something changes by itself."""
        due_ms = min(self._look_ms, self._ask_ms)
        if self.ends_ms != FOREVER and now_ms < self._warns_at():
            due_ms = min(due_ms, self._warns_at())
        return due_ms
