#   _carried.py - a book whose requests others say
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""On a machine without a lock service each LOCK is said by who carries it
(_carrier.py): to the server that serves it, again to the next one, and given
back. The carrier knows until when a lock is believed in, and lends that to the
book, which knows what it means to the user. It does what
src/client/book_carried.c does."""

from __future__ import annotations

from typing import List

from . import _letter
from ._book import Book
from ._entry import Deed, Entry, Life
from ._frame import Message
from ._lease import Loan


class CarriedBook(Book):
    """``opened`` are entries that have something new to be said."""

    def __init__(self, serial: int) -> None:
        super().__init__(serial)
        self.opened: List[Entry] = []

    def _send(self, entry: Entry, now_ms: int) -> None:
        if entry.deed is Deed.LOCK:
            self.opened.append(entry)
        else:
            super()._send(entry, now_ms)

    @property
    def _has_word(self) -> bool:
        return False

    def _is_over(self, entry: Entry, error: str) -> bool:
        return False  # it is given back

    #   -------------------------------------------------------- as is told

    def lend(self, entry: Entry, until_ms: int, lease_ms: int) -> None:
        """It is believed in till then. An end that comes sooner is to be
        looked for sooner."""
        lease = entry.lease
        entry.lease_ms = lease_ms
        if not isinstance(lease, Loan):
            entry.lease = Loan(until_ms)
            return
        is_sooner = until_ms < lease.until()
        lease.move(until_ms)
        if is_sooner and entry.holds:
            self._reconsider(entry)

    def begin_anew(self, entry: Entry, serial: int) -> None:
        """It waits as another request."""
        self._rename(entry, serial)
        self._reconsider(entry)

    def goes_on(self, entry: Entry, message: Message, now_ms: int) -> None:
        """It is held by way of another server. Its time is not longer for
        that."""
        grant = _letter.read_grant(message, entry)
        if grant is None or not entry.holds or now_ms >= entry.until():
            return
        entry.token, entry.tokens = grant.tokens[0], grant.tokens
        entry.ordinal = grant.ordinal
        entry.until_ms = min(entry.until_ms, grant.until_ms)
        entry.danger.said = False
        self._look_at_lease(entry, now_ms)
        self._reconsider(entry)

    def fail_asked(self, error: str, remark: str, now_ms: int) -> None:
        """Fails all requests that wait, for that reason, in those words, and
        gives them back."""
        for entry in list(self._entries.values()):
            if entry.life is Life.ASKED:
                entry.remark = remark
                self._occur(entry, "expired", error, now_ms)

    def lose(self, entry: Entry, error: str, now_ms: int) -> None:
        """It is held no more; without ``error``: by its time. A claim finds
        nothing where the lease was cut short by the credential, whichever is
        seen first."""
        if entry.holds:
            expiry = self._expiry(entry, now_ms)
            why = error if error and expiry != "credential" else expiry
            self._occur(entry, "lost" if error else "expired", why, now_ms)

    def fail_change(self, entry: Entry, error: str, now_ms: int) -> None:
        """It stays of the type that it was of."""
        self._occur(entry, "unchanged", error, now_ms)

    def close(self, entry: Entry, now_ms: int) -> None:
        """All of it was given back."""
        if not entry.holds:
            self._occur(entry, "unlocked", "", now_ms)
