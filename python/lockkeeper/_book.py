#   _book.py - what a session has asked for and holds
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""The core: it takes the time, messages of the lock service and the user's
wishes, and makes messages to send and events for the user. It knows no socket
and reads no clock but through the lease page's times, so that blocking and
asyncio sessions share it.

Every LOCK and UNLOCK is repeated with its serial until it is answered, so
that neither a lost message nor a restarted service loses or leaks a lock. It
does what src/client/book*.c do.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple

from . import _lease, _letter
from ._entry import Change, Danger, Deed, Entry, Life, is_short
from ._frame import Message
from ._lease import FOREVER, Lease
from ._wish import EXCLUSIVE, SHARED, Wish

REPEAT_MS = 1000
_STEP_MS = 100  # repeats come together

LOST, JEOPARDY, SAFE = "lost", "jeopardy", "safe"


@dataclass(frozen=True)
class Told:
    """An event for the user of an entry."""

    kind: str
    entry: Entry
    reason: str = ""


_COLUMNS = ("granted refused unlocked lost expired change changed unchanged "
            "overdue danger safe leave release forget").split()

#   What happens to a lock, and what is done then, in each state of its life;
#   "-" is nothing. Each word is a method _do_WORD of the book.
_ROWS = {
    Life.ASKED: "grant fail - fail quit - - - - - - - give drop",
    Life.HELD: "- - lose lose end shift - - - warn calm left give drop",
    Life.CHANGING:
        "- - lose lose end shift made stay undo warn calm left give drop",
    Life.UNDOING:
        "- - lose lose end shift rest rest - warn calm left give drop",
    Life.ENDED: "- close close over - - - - - - - - give drop",
    Life.GIVING: "- close close gone - - - - - - - - - unsee",
    Life.DROPPING: "- close close over - - - - - - - - - unsee",
    Life.LEFT: "- - close close - - - - - - - - - -",
    Life.CLOSED: "- - - - - - - - - - - - - unsee",
}
_TABLE: Dict[Life, Dict[str, str]] = {
    life: dict(zip(_COLUMNS, row.split())) for life, row in _ROWS.items()}
assert all(len(row) == len(_COLUMNS) for row in _TABLE.values())


def is_kept(reason: str) -> bool:
    """Whether the service keeps what it ended until it is given back: for its
    grace, while it stops, or while we do."""
    return reason in ("timedout", "shutdown", "forced", "released")


class Book:
    """What a session has asked for and holds. Serials start at ``serial``,
    an even number."""

    def __init__(self, serial: int) -> None:
        assert serial % 2 == 0
        self._serial = serial
        self._entries: Dict[int, Entry] = {}
        self._due: List[Tuple[int, int]] = []
        self._lease: Optional[Lease] = None
        self.deserted = False
        self._credential_ends = False  # soon
        #: A lease that lasts until then is cut short by the credential: what
        #: is lost at its end is lost as 'credential'.
        self.credential_over_ms = FOREVER
        self.messages: List[Message] = []
        self.events: List[Told] = []

    #   -------------------------------------------------------- wishes

    def next_serial(self) -> int:
        """A serial of its own; the next one, which is odd, goes with it."""
        self._serial += 2
        return self._serial

    def _add(self, wish: Wish, wait_ms: int, now_ms: int, deed: Deed,
             **fields: Any) -> Entry:
        life = Life.ASKED if deed is Deed.LOCK else Life.GIVING
        entry = Entry(self.next_serial(), wish, wait_ms, now_ms, deed, life,
                      type=wish.type, **fields)
        self._entries[entry.serial] = entry
        self._send_open(entry, now_ms)
        return entry

    def lock(self, wish: Wish, wait_ms: int, now_ms: int,
             user: Any = None) -> Entry:
        """Asks for a lock (or a set)."""
        return self._add(wish, wait_ms, now_ms, Deed.LOCK, users=[user],
                         tries=is_short(wait_ms))

    def unlock_by_key(self, wish: Wish, key: int, now: bool,
                      now_ms: int) -> Entry:
        """Ends the lock of whoever holds it with that key."""
        return self._add(wish, -1, now_ms, Deed.UNLOCK, key=key, now=now)

    def force(self, wish: Wish, token: int, comment: str, now: bool,
              now_ms: int) -> Entry:
        """Takes it away from its holders."""
        return self._add(wish, -1, now_ms, Deed.FORCE, token=token,
                         comment=comment, now=now)

    def check(self, wish: Wish, token: int, now_ms: int) -> Entry:
        """Asks whether it is held with that token."""
        return self._add(wish, -1, now_ms, Deed.CHECK, token=token)

    def change(self, entry: Entry, wanted: str, wait_ms: int,
               now_ms: int) -> None:
        """Of a lock that is held, no set and no semaphore."""
        assert entry.holds
        entry.error = ""
        if entry.life is Life.HELD and entry.type == wanted:
            return
        entry.change = Change(wanted, entry.type, wait_ms, now_ms,
                              is_short(wait_ms))
        self._occur(entry, "change", "", now_ms)

    def release(self, entry: Entry, now_ms: int) -> None:
        """Gives it back; its life is CLOSED when that is confirmed, and its
        ``loss`` why it was lost before."""
        entry.late |= entry.holds and now_ms >= entry.until_ms
        if entry.granted:
            entry.loss = self.why_over(entry, now_ms)
        self._occur(entry, "release", "", now_ms)

    def forget(self, entry: Entry, now_ms: int) -> None:
        """The user lets go of it; what is open is given back unseen."""
        self._let_go(entry, "forget", now_ms)

    def leave(self, entry: Entry, now_ms: int) -> None:
        """The user leaves a lock that is held as it is."""
        assert entry.holds
        self._let_go(entry, "leave", now_ms)

    def discard(self, entry: Entry) -> None:
        """Nothing of it is repeated any more."""
        entry.wanted = False
        entry.repeat_at = FOREVER
        entry.life = Life.CLOSED
        self._entries.pop(entry.serial, None)

    def abandon_all(self, now_ms: int) -> None:
        """The session ends: whatever the user has of it is given back unseen,
        but a static lock that is held stays so."""
        for entry in list(self._entries.values()):
            left = entry.static and entry.holds
            self._let_go(entry, "leave" if left else "forget", now_ms)

    def _let_go(self, entry: Entry, how: str, now_ms: int) -> None:
        entry.wanted = False
        entry.users.clear()
        self.events = [told for told in self.events
                       if told.entry is not entry]
        self._occur(entry, how, "", now_ms)

    #   -------------------------------------------------------- the way there

    def desert(self, deserted: bool) -> None:
        """The lock service, or the router, is gone: what ends with the host's
        lease is lost as 'disconnected' then."""
        self.deserted = deserted
        for entry in list(self._entries.values()):
            self._reconsider(entry)

    def set_credential(self, ends: bool, now_ms: int) -> None:
        """The credential of the session ends soon: what is held is in
        danger."""
        self._credential_ends = ends
        for entry in list(self._entries.values()):
            if entry.holds:
                self._weigh_danger(entry, now_ms)

    def orphan(self, now_ms: int) -> None:
        """The lock service has ended: nobody prolongs what it granted."""
        for entry in list(self._entries.values()):
            if entry.holds and not entry.static:
                entry.danger.orphan = True
                self._weigh_danger(entry, now_ms)
                self._reconsider(entry)

    def repeat(self, now_ms: int) -> None:
        """The service or the router is back: repeats all that is open, and
        says what is held of a service that has ended, to go on with it."""
        for entry in list(self._entries.values()):
            entry.resuming |= entry.may_resume
            if entry.resuming or entry.repeat_at != FOREVER:
                self._send_open(entry, now_ms)

    def give_up(self, reason: str, remark: str, now_ms: int) -> None:
        """The router refuses us for good: whatever is open fails now."""
        for entry in list(self._entries.values()):
            if entry.repeat_at != FOREVER:
                entry.error, entry.remark = reason, remark
                self._occur(entry, "unchanged" if entry.holds else "refused",
                            reason, now_ms)

    #   -------------------------------------------------------- questions

    @property
    def open_count(self) -> int:
        """Requests and locks that are not closed, but for those left."""
        return sum(entry.life not in (Life.CLOSED, Life.LEFT)
                   for entry in self._entries.values())

    def deadline(self) -> int:
        """When tick is due at the latest; FOREVER: never."""
        while self._due:
            due, serial = self._due[0]
            entry = self._entries.get(serial)
            if entry is not None and entry.due == due:
                return due
            heapq.heappop(self._due)
        return FOREVER

    #   -------------------------------------------------------- time

    @property
    def _has_word(self) -> bool:
        """Whether there is a lock service that tells why a lease ended."""
        return not self.deserted

    def _reconsider(self, entry: Entry) -> None:
        due = entry.due_at(self._has_word)
        if due != entry.due:
            entry.due = due
            if due != FOREVER:
                heapq.heappush(self._due, (due, entry.serial))

    def tick(self, now_ms: int) -> None:
        """Ends what has run out, repeats what is due."""
        while self.deadline() <= now_ms:
            _, serial = heapq.heappop(self._due)
            entry = self._entries[serial]
            entry.due = FOREVER
            self._tick_entry(entry, now_ms)
            if serial in self._entries:
                self._reconsider(entry)

    def _tick_entry(self, entry: Entry, now_ms: int) -> None:
        if now_ms >= entry.told_at(self._has_word):
            self._occur(entry, "expired", self._expiry(entry, now_ms), now_ms)
            return
        if entry.holds and now_ms >= entry.danger.look_at:
            self._look_at_lease(entry, now_ms)
        if now_ms >= entry.overdue_at():
            self._occur(entry, "overdue", "timedout", now_ms)
        elif now_ms >= entry.repeat_at:
            self._send_open(entry, now_ms)

    def why_over(self, entry: Entry, now_ms: int) -> str:
        """Why a lock that was granted is not held; empty if it is."""
        if not entry.holds:
            return entry.error or "released"
        return "" if now_ms < entry.until() else self._expiry(entry, now_ms)

    def _expiry(self, entry: Entry, now_ms: int) -> str:
        if not entry.holds or now_ms >= entry.ends_at():
            return "timedout"
        if self.credential_over_ms != FOREVER \
                and max(now_ms, entry.lease_until()) \
                >= self.credential_over_ms:
            return "credential"
        if self.deserted or entry.danger.orphan:
            return "disconnected"
        return "quorum" if entry.danger.why == "quorum" else "isolated"

    def _look_at_lease(self, entry: Entry, now_ms: int) -> None:
        """There is danger when less than half of the lease is left: the host
        renews it much sooner."""
        danger = entry.danger
        if entry.static or entry.lease_ms <= 0:
            danger.look_at = FOREVER
            return
        half_at = entry.lease_until() - entry.lease_ms // 2
        danger.seen = now_ms > half_at
        danger.look_at = (now_ms + entry.lease_ms // 16 + 1 if danger.seen
                          else half_at + 1)
        self._weigh_danger(entry, now_ms)

    def why_danger(self, entry: Entry) -> str:
        """Of one that is in jeopardy; empty: not by the credential, of which
        the lock service may tell ahead of us."""
        by_service = entry.danger.said and entry.danger.why == "credential"
        return "credential" if self._credential_ends or by_service else ""

    def _weigh_danger(self, entry: Entry, now_ms: int) -> None:
        danger = entry.danger
        in_danger = danger.said or danger.seen or danger.orphan \
            or (self._credential_ends and not entry.static)
        if in_danger != entry.danger.told:
            self._occur(entry, "danger" if in_danger else "safe", "", now_ms)

    #   -------------------------------------------------------- messages

    def _send(self, entry: Entry, now_ms: int) -> None:
        """Sends the LOCK or UNLOCK that is open."""
        if entry.life is Life.ASKED:
            letter = _letter.lock(entry, now_ms)
        elif not entry.holds:
            letter = _letter.end(entry)
        elif entry.resuming:
            letter = _letter.resume(entry, now_ms)
        else:
            letter = _letter.change(entry, now_ms)
        self.messages.append(letter)

    def _send_open(self, entry: Entry, now_ms: int) -> None:
        """The same, which is repeated then."""
        self._send(entry, now_ms)
        when_ms = now_ms + REPEAT_MS + _STEP_MS - 1
        entry.repeat_at = when_ms - when_ms % _STEP_MS
        self._reconsider(entry)

    def take(self, message: Message, now_ms: int) -> bool:
        """A message of the lock service or the router; False if it is none
        for the book."""
        is_grant = message.command == "LOCKED"
        if is_grant and message.serial % 2 == 1:
            return False  # no LOCK of ours has such a serial
        entry = self._entries.get(message.serial & ~1)
        if entry is not None:
            handler = _HANDLERS.get(message.command)
            if handler is not None:
                handler(self, entry, message, now_ms)
            return handler is not None
        if is_grant:
            self.messages.append(_letter.give_back(message))
        return is_grant

    def _on_locked(self, entry: Entry, message: Message, now_ms: int) -> None:
        """A request that a restarted service knows anew may be granted twice,
        each time with its own key; what we do not hold goes back."""
        grant = _letter.read_grant(message, entry)
        if grant is None or entry.deed is not Deed.LOCK:
            return
        if entry.life is Life.ASKED:
            self._store(entry, grant)
            if self._is_unseen(entry):
                self._occur(entry, "expired", "system", now_ms)
            else:
                self._occur(entry, "granted", "", now_ms)
        elif entry.life in (Life.GIVING, Life.DROPPING):
            if entry.token == 0:  # the UNLOCK that is open needs the key
                self._store(entry, grant)
                self._send_open(entry, now_ms)
        elif grant.keys[0] != entry.key:
            self.messages.append(_letter.give_back(message))
        elif entry.holds and entry.resuming:
            self._take_resumed(entry, grant, now_ms)
        elif entry.holds and grant.turn == entry.turn > 0 \
                and grant.type in (entry.change.type, ""):
            entry.token = grant.tokens[0]
            entry.tokens = grant.tokens
            self._occur(entry, "changed", "", now_ms)

    def _take_resumed(self, entry: Entry, grant: _letter.Grant,
                      now_ms: int) -> None:
        """It goes on, and what was asked for meanwhile is asked anew. Its
        time is not longer for that."""
        if now_ms >= entry.until():
            return  # it was over already, which the next tick says
        entry.token, entry.tokens = grant.tokens[0], grant.tokens
        entry.until_ms = min(entry.until_ms, grant.until_ms)
        self._store_lease(entry, grant)
        if self._is_unseen(entry):
            self._occur(entry, "expired", "system", now_ms)
            return
        entry.resuming = entry.danger.orphan = False
        if entry.life is Life.HELD:
            self._settle(entry, Life.HELD)
        else:
            self._send_open(entry, now_ms)
        self._look_at_lease(entry, now_ms)
        self._weigh_danger(entry, now_ms)
        self._reconsider(entry)

    @staticmethod
    def _is_unseen(entry: Entry) -> bool:
        """Who cannot see the lease could not tell when it ends, and would lose
        the lock after one lease, by surprise: rather none at all, and why."""
        problem = entry.lease.problem if entry.lease is not None else ""
        if not problem or entry.static:
            return False
        entry.remark = (f"{problem}; this is the lease page of the lock "
                        "service (its option --run), which all who use locks "
                        "have to read")
        return True

    def _store(self, entry: Entry, grant: _letter.Grant) -> None:
        entry.token, entry.tokens = grant.tokens[0], grant.tokens
        entry.key, entry.keys = grant.keys[0], grant.keys
        entry.type = grant.type or entry.type
        entry.ordinal, entry.turn = grant.ordinal, grant.turn
        entry.static, entry.until_ms = grant.static, grant.until_ms
        self._store_lease(entry, grant)

    def _store_lease(self, entry: Entry, grant: _letter.Grant) -> None:
        if grant.is_far:
            return  # which was lent already
        entry.lease_ms = grant.lease_ms
        entry.lease = self._lease = _lease.take(
            self._lease, grant.lease_page, grant.session,
            grant.lease_until_ms)

    def _on_failed(self, entry: Entry, message: Message, now_ms: int) -> None:
        """LOCKFAILED, or INVALID, which repeats no turn; but what is open
        then is the change."""
        is_invalid = message.command == "INVALID"
        entry.remark = message.text("text") or message.text("reason")
        error = "invalid" if is_invalid else message.text("error", "unknown")
        turn = entry.turn if is_invalid else message.number("turn")
        if message.serial % 2 == 1:
            #   Its session has ended ahead of it. Any other failure of an
            #   UNLOCK is a reason to ask again; one that was repeated while
            #   its answer came finds nothing.
            if entry.life is Life.CLOSED:
                return
            if entry.granted and error in ("isolated", "quorum"):
                self._occur(entry, "lost", error, now_ms)
            elif error in ("denied", "invalid", "unknown"):
                entry.error = error
                self._occur(entry, "unlocked", error, now_ms)
        elif not entry.holds:
            self._on_refused(entry, error, now_ms)
        elif entry.resuming and "turn" not in (message.body or {}):
            if error != "overloaded":
                self._occur(entry, "lost", "lost" if error == "unknown"
                            else error, now_ms)
        elif turn == entry.turn:
            self._on_unchanged(entry, error, now_ms)

    def _on_refused(self, entry: Entry, error: str, now_ms: int) -> None:
        """What a short wait tried first is waited for then, as another
        request. A LOCK that was repeated when the wait was over is a try,
        too."""
        if error == "full" and entry.wait_ms > 0:
            error, entry.remark = "timedout", ""
            if entry.life is Life.ASKED and entry.tries \
                    and now_ms < entry.asked_at + entry.wait_ms:
                entry.tries = False
                self._rename(entry, self.next_serial())
                self._send_open(entry, now_ms)
                return
        self._occur(entry, "refused", error, now_ms)

    def _rename(self, entry: Entry, serial: int) -> None:
        """It is another request from now on."""
        del self._entries[entry.serial]
        entry.serial = serial
        entry.due = FOREVER
        self._entries[serial] = entry

    def _on_unchanged(self, entry: Entry, error: str, now_ms: int) -> None:
        """Likewise, with the next turn."""
        change = entry.change
        if error == "full" and change.wait_ms > 0:
            error, entry.remark = "timedout", ""
            if entry.life is Life.CHANGING and change.tries \
                    and now_ms < change.asked_at + change.wait_ms:
                change.tries = False
                self._occur(entry, "change", "", now_ms)
                return
        self._occur(entry, "unchanged", error, now_ms)

    def _on_unlocked(self, entry: Entry, message: Message,
                     now_ms: int) -> None:
        error = message.text("error")
        if entry.deed is Deed.LOCK and message.text("reason"):
            entry.comment = message.text("reason")
        entry.late |= message.flag("late")
        if not error and entry.holds:
            error = "released"
        self._occur(entry, "lost" if error else "unlocked", error, now_ms)

    def _on_undelivered(self, entry: Entry, message: Message,
                        _now_ms: int) -> None:
        """No lock service now; it may come: we go on asking."""
        entry.remark = message.text("reason")

    def _on_jeopardy(self, entry: Entry, message: Message,
                     now_ms: int) -> None:
        if message.serial % 2 == 0:
            entry.danger.said = message.flag("danger")
            entry.danger.why = message.text("error")
            self._weigh_danger(entry, now_ms)

    def _on_stopping(self, entry: Entry, message: Message,
                     _now_ms: int) -> None:
        """Of a holder that our deed waits for."""
        host, left_ms = message.text("host"), message.number("left", -1)
        if message.serial % 2 == 1 and host:
            has_left = f"{left_ms / 1000:.1f} s left" if left_ms >= 0 \
                else "nobody knows how long"
            entry.remark = (f"the holder on {host} has not stopped yet, "
                            f"{has_left}; it may still happen")

    def _on_checked(self, entry: Entry, message: Message,
                    now_ms: int) -> None:
        newest = message.hex("newest")
        if message.serial % 2 == 1 and entry.deed is Deed.CHECK \
                and newest is not None:
            entry.newest = newest
            entry.checked = message.flag("held")
            self._occur(entry, "unlocked", "", now_ms)

    #   -------------------------------------------------------- the table

    def _occur(self, entry: Entry, what: str, error: str,
               now_ms: int) -> None:
        """Does what the table says."""
        action = _TABLE[entry.life][what]
        if action != "-":
            getattr(self, "_do_" + action)(entry, error, now_ms)
            self._reconsider(entry)
        if entry.life is Life.CLOSED and not entry.wanted:
            self._entries.pop(entry.serial, None)

    def _tell(self, entry: Entry, kind: str, reason: str = "") -> None:
        if entry.wanted:
            self.events.append(Told(kind, entry, reason))

    @staticmethod
    def _settle(entry: Entry, life: Life) -> None:
        entry.life = life
        entry.resuming = entry.resuming and entry.holds
        if not entry.resuming:
            entry.repeat_at = FOREVER

    def _open(self, entry: Entry, life: Life, now_ms: int) -> None:
        entry.life = life
        entry.resuming = entry.resuming and entry.holds
        self._send_open(entry, now_ms)

    def _do_grant(self, entry: Entry, _error: str, now_ms: int) -> None:
        self._settle(entry, Life.HELD)
        entry.granted = True
        entry.danger = Danger()
        entry.remark = ""
        self._look_at_lease(entry, now_ms)

    def _do_fail(self, entry: Entry, error: str, _now_ms: int) -> None:
        self._settle(entry, Life.CLOSED)
        entry.error = error

    def _do_quit(self, entry: Entry, error: str, now_ms: int) -> None:
        entry.error = error
        entry.remark = entry.remark or "the lock service does not answer"
        self._open(entry, Life.DROPPING, now_ms)

    def _lose(self, entry: Entry, life: Life, error: str) -> None:
        self._settle(entry, life)
        entry.error = error
        entry.late |= error == "timedout"
        self._tell(entry, LOST, error)

    def _do_lose(self, entry: Entry, error: str, _now_ms: int) -> None:
        self._lose(entry, Life.ENDED if is_kept(error) else Life.CLOSED,
                   error)

    def _do_end(self, entry: Entry, error: str, _now_ms: int) -> None:
        """By our own clock. A session whose lease ran out is over for the
        service, too, as soon as it looks at the clock; but if we could not
        read the page, ours may be wrong."""
        self._lose(entry, Life.CLOSED if self._is_over(entry, error)
                   else Life.ENDED, error)

    def _is_over(self, entry: Entry, error: str) -> bool:
        going_on = entry.resuming and not self.deserted
        return error in ("isolated", "quorum", "disconnected") \
            and not going_on \
            and entry.lease is not None and entry.lease.lives

    def _do_over(self, entry: Entry, error: str, _now_ms: int) -> None:
        if not is_kept(error):
            self._settle(entry, Life.CLOSED)

    def _shift(self, entry: Entry, life: Life, now_ms: int) -> None:
        """From asking for it to be shared on it counts as shared."""
        entry.turn += 1
        entry.change.was = entry.type
        if entry.change.type == SHARED:
            entry.type = SHARED
        self._open(entry, life, now_ms)

    def _do_shift(self, entry: Entry, _error: str, now_ms: int) -> None:
        self._shift(entry, Life.CHANGING, now_ms)

    def _do_made(self, entry: Entry, _error: str, _now_ms: int) -> None:
        self._settle(entry, Life.HELD)
        entry.type, entry.error = entry.change.type, ""

    def _do_stay(self, entry: Entry, error: str, _now_ms: int) -> None:
        self._settle(entry, Life.HELD)
        entry.type, entry.error = entry.change.was, error

    def _do_undo(self, entry: Entry, error: str, now_ms: int) -> None:
        entry.error = error
        entry.change = Change(SHARED)
        self._shift(entry, Life.UNDOING, now_ms)

    def _do_rest(self, entry: Entry, _error: str, _now_ms: int) -> None:
        self._settle(entry, Life.HELD)

    def _do_warn(self, entry: Entry, _error: str, _now_ms: int) -> None:
        entry.danger.told = True
        self._tell(entry, JEOPARDY, self.why_danger(entry))

    def _do_calm(self, entry: Entry, _error: str, _now_ms: int) -> None:
        entry.danger.told = False
        self._tell(entry, SAFE)

    def _do_left(self, entry: Entry, _error: str, _now_ms: int) -> None:
        self._settle(entry, Life.LEFT)

    def _do_give(self, entry: Entry, _error: str, now_ms: int) -> None:
        self._open(entry, Life.GIVING, now_ms)

    def _do_drop(self, entry: Entry, _error: str, now_ms: int) -> None:
        self._open(entry, Life.DROPPING, now_ms)

    def _do_close(self, entry: Entry, _error: str, _now_ms: int) -> None:
        self._settle(entry, Life.CLOSED)

    def _do_gone(self, entry: Entry, error: str, now_ms: int) -> None:
        """It was lost when the service had not heard yet that it is given
        back."""
        entry.error = error
        if entry.granted and not entry.loss:
            entry.loss = error
        self._do_over(entry, error, now_ms)

    def _do_unsee(self, entry: Entry, _error: str, _now_ms: int) -> None:
        if entry.life is Life.GIVING:
            entry.life = Life.DROPPING


_HANDLERS = {
    "LOCKED": Book._on_locked,
    "UNLOCKED": Book._on_unlocked,
    "LOCKFAILED": Book._on_failed,
    "INVALID": Book._on_failed,
    "TRANSMISSIONREPORT": Book._on_undelivered,
    "LOCKJEOPARDY": Book._on_jeopardy,
    "LOCKSTOPPING": Book._on_stopping,
    "LOCKCHECK": Book._on_checked,
}
assert EXCLUSIVE != SHARED
