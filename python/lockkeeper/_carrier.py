#   _carrier.py - the book's requests, carried from server to server
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Book and roam together, without a socket and a clock. The book thinks of
each LOCK as one request of one lock service; which server has it, and how
often it is said, is roam's. When roam says that it moved the book hears of
nothing but its lease. It does what src/client/far_locks.c and far_letter.c
do."""

from __future__ import annotations

import secrets
from typing import List, Optional, Tuple

from . import _frame, _letter
from ._book import is_kept
from ._carried import CarriedBook
from ._entry import Entry, Life
from ._frame import Body, Message
from ._letter import SERVICE
from ._places import Kind, Letter, Place
from ._questions import Questions
from ._roam import News, Roam, RoamLock, State
from ._way import first_serial

#: A host gives no more than a host lease.
LEASE_MS = 10_000
_LEASE_MAX_MS = 3_600_000  # more than a host may have

#: Serials of what is about a registration; those of locks are smaller.
_REGISTRATION_SERIAL = 1 << 62

_KINDS = {"LOCKREGISTER": Kind.READY, "LOCKLEASE": Kind.LEASE,
          "LOCKMOVE": Kind.MOVE, "LOCKUNREGISTERED": Kind.UNKNOWN}


def is_of_registration(serial: int) -> bool:
    """Whether that is the serial of something about a registration, which a
    complaint repeats."""
    return serial & _REGISTRATION_SERIAL != 0


def _sign(body: Body, number: int, drawn: int) -> Body:
    body["registration"] = number
    if drawn:
        body["drawn"] = _frame.write_hex(drawn)
    return body


#   ------------------------------------------------------------ reading


def read_letter(message: Message) -> Optional[Letter]:
    """A message about a registration, and no lock."""
    kind = _KINDS.get(message.command)
    number = message.number("registration")
    if kind is None or number <= 0:
        return None
    letter = Letter(kind, number=number, drawn=message.hex("drawn") or 0)
    if kind is Kind.LEASE:
        letter.sent = message.number("sent", -1)
        letter.left_ms = message.number("left")
        if letter.sent < 0 or not 0 < letter.left_ms <= _LEASE_MAX_MS:
            return None  # one that lasts for ever would be nobody's
    return letter


def _kind_of_failure(message: Message, lock: RoamLock) -> Optional[Kind]:
    """LOCKFAILED or INVALID; one that is too busy is asked again, and one
    that says that our credential has ended takes no claim."""
    error = "invalid" if message.command == "INVALID" \
        else message.text("error")
    if message.serial % 2 == 1:
        is_over = error in ("denied", "invalid", "unknown")
        return Kind.UNLOCKED if is_over else None
    is_busy = error in ("overloaded", "credential") \
        and lock.state is State.HELD \
        and "turn" not in (message.body or {})
    return None if is_busy else Kind.FAILED


def _kind_of_end(message: Message, lock: RoamLock) -> Optional[Kind]:
    """UNLOCKED."""
    if message.flag("moved"):
        return None
    if message.serial % 2 == 1:
        return Kind.UNLOCKED
    if is_kept(message.text("error")) and lock.state is State.HELD:
        return None
    return Kind.FAILED


def read_answer(message: Message, lock: RoamLock) -> Optional[Letter]:
    """An answer to LOCK or UNLOCK; None: roam has no use for it. Of a change
    of type servers say the latest turn, also if it has failed: it is made if
    the lock is of that type."""
    entry: Entry = lock.user
    number = message.number("registration")
    letter = Letter(Kind.LOCKED, number=number, serial=lock.serial,
                    drawn=message.hex("drawn") or 0)
    kind: Optional[Kind] = None
    if message.command == "LOCKED":
        grant = _letter.read_grant(message, entry)
        if grant is not None and grant.is_far and message.serial % 2 == 0:
            kind = Kind.LOCKED
            letter.token = grant.tokens[0]
            if grant.type in (entry.change.type, ""):
                letter.turn = grant.turn
    elif message.command == "UNLOCKED":
        kind = _kind_of_end(message, lock) if number > 0 else None
    elif message.command == "INVALID" \
            or (message.command == "LOCKFAILED" and number > 0):
        kind = _kind_of_failure(message, lock)
        letter.turn = message.number("turn")
        if message.command == "INVALID" and lock.state is State.HELD \
                and not lock.doubtful:
            letter.turn = lock.turn  # which it does not repeat
    if kind is None:
        return None
    letter.kind = kind
    return letter


#   ------------------------------------------------------------ the carrier


class Carrier:
    """``out`` are messages to be sent, each with the server."""

    def __init__(self, now_ms: int) -> None:
        self.book = CarriedBook(first_serial(now_ms))
        self.roam = Roam(self.book.next_serial, LEASE_MS)
        self.questions = Questions()
        self.out: List[Tuple[int, Message]] = []
        self.lease_ms = LEASE_MS  # that was given last
        self._secret = secrets.randbits(64), secrets.randbits(64)
        self._heard: Optional[Message] = None  # while roam is told of it

    #   -------------------------------------------------------- saying

    def settle(self, now_ms: int) -> None:
        """What the book has opened is asked for, what roam tells is told, and
        what it says is to be sent."""
        book, roam = self.book, self.roam
        while book.opened or roam.news:
            opened, book.opened = book.opened, []
            for entry in opened:
                self._open(entry, now_ms)
            told = list(roam.news)
            roam.news.clear()
            for lock, news in told:
                self._tell(lock, news, now_ms)
        for letter in roam.letters:
            self._post(letter, now_ms)
        roam.letters.clear()

    def _open(self, entry: Entry, now_ms: int) -> None:
        lock, wish = self.roam.locks.get(entry.serial), entry.wish
        if entry.life is Life.ASKED:
            if lock is None:
                self.roam.ask(entry.serial, entry, now_ms,
                              is_static=wish.static, is_set=wish.is_set)
        elif lock is None:
            self.book.close(entry, now_ms)  # it was given back already
        elif not entry.holds:
            self.roam.give_back(lock, now_ms)
        elif entry.life is not Life.HELD \
                and not self.roam.turn(lock, entry.turn, now_ms):
            self._fail_change(entry, now_ms)

    def _fail_change(self, entry: Entry, now_ms: int) -> None:
        entry.remark = "the server that granted the static lock is in use " \
            "no more, and no other one changes its type"
        self.book.fail_change(entry, "invalid", now_ms)

    def _post(self, letter: Letter, now_ms: int) -> None:
        message = self._render(letter, now_ms)
        message.body = _sign(message.body or {}, letter.number, letter.drawn)
        self.out.append((letter.server, message))

    def _render(self, letter: Letter, now_ms: int) -> Message:
        if letter.lock is not None:
            return self._render_lock(letter, now_ms)
        body: Body = {}
        command = {Kind.REGISTER: "LOCKREGISTER", Kind.LEASE: "LOCKLEASE",
                   Kind.GOODBYE: "LOCKGOODBYE"}[letter.kind]
        if letter.kind is Kind.REGISTER:
            body["lease"] = letter.left_ms
            body["secret"], body["secret2"] = map(_frame.write_hex,
                                                  self._secret)
        if letter.kind is not Kind.GOODBYE:
            body["sent"] = letter.sent
        return Message(SERVICE, "", command,
                       _REGISTRATION_SERIAL | letter.number, body)

    @staticmethod
    def _render_lock(letter: Letter, now_ms: int) -> Message:
        """The router of a server that has no lock service, just being
        restarted maybe, need not keep it: it is said again."""
        entry: Entry = letter.lock.user
        if letter.kind is Kind.UNLOCK:
            return _letter.far_end(entry, letter.serial)
        if letter.turn:
            message = _letter.change(entry, now_ms)
        elif letter.token:
            message = _letter.claim(entry, letter.left_ms, now_ms)
        else:
            message = _letter.lock(entry, now_ms)
        message.serial, message.ttl = letter.serial, 0
        assert message.body is not None
        if letter.asked_before:
            message.body["again"] = True
        if not letter.turn:
            message.body["sent"] = letter.sent
        return message

    def sign(self, message: Message, place: Place) -> Message:
        """A request about no lock of ours, as one of that registration."""
        message.body = _sign(message.body or {}, place.number, place.drawn)
        return message

    #   -------------------------------------------------------- news

    def _lend(self, lock: RoamLock) -> None:
        self.book.lend(lock.user, self.roam.until(lock), self.lease_ms)

    def lend_all(self) -> None:
        """The leases of what is held are as roam has them."""
        for lock in self.roam.locks.values():
            if lock.state is State.HELD:
                self._lend(lock)

    def _is_meant(self, lock: RoamLock) -> bool:
        """Whether the book still means that LOCK."""
        entry: Entry = lock.user
        return entry.serial == lock.serial

    def _news_of(self, lock: RoamLock) -> Optional[Message]:
        """What is heard, if it is about that request and not only the
        occasion."""
        heard = self._heard
        return heard if heard is not None and self._is_meant(lock) \
            and heard.serial & ~1 == lock.serial else None

    def _tell(self, lock: RoamLock, news: News, now_ms: int) -> None:
        book, heard = self.book, self._news_of(lock)
        entry: Entry = lock.user
        if news is News.ANEW:
            book.begin_anew(entry, lock.serial)
        elif news is News.LOST:
            self._lose(lock, heard, now_ms)
        elif news is News.GOES_ON:
            self._lend(lock)
            if heard is not None:
                book.goes_on(entry, heard, now_ms)
        elif news is News.NOT_TURNED and heard is None:
            self._fail_change(entry, now_ms)
        else:
            if news is News.GRANTED:
                self._lend(lock)
            if heard is not None:
                book.take(heard, now_ms)
            if news is News.DONE and self._is_meant(lock):
                book.close(entry, now_ms)

    def _lose(self, lock: RoamLock, heard: Optional[Message],
              now_ms: int) -> None:
        if not self._is_meant(lock):
            return
        if heard is not None and heard.command == "UNLOCKED":
            self.book.take(heard, now_ms)
        else:
            self.book.lose(lock.user, "lost" if heard is not None else "",
                           now_ms)

    #   -------------------------------------------------------- hearing

    def hear_letter(self, letter: Letter, now_ms: int) -> None:
        """Something about a registration."""
        self.settle(now_ms)
        self.roam.hear(letter, now_ms)
        if letter.kind is Kind.LEASE:
            self.lease_ms = letter.left_ms
            self.lend_all()
        self.settle(now_ms)

    def hear(self, server: int, message: Message, now_ms: int) -> None:
        """What a server's lock service, or router, says of a request."""
        self.settle(now_ms)
        lock = self.roam.locks.get(message.serial & ~1)
        if lock is not None:
            self._hear_of(lock, server, message, now_ms)
        elif message.command != "LOCKED":
            self.book.take(message, now_ms)
        elif message.serial % 2 == 0:
            self._give_back(server, message)
        self.settle(now_ms)

    def _hear_of(self, lock: RoamLock, server: int, message: Message,
                 now_ms: int) -> None:
        letter = read_answer(message, lock)
        if letter is not None:
            letter.server = server
            if message.command == "INVALID":
                self._sign_complaint(letter, lock)
            self._heard = message
            self.roam.hear(letter, now_ms)
            self.settle(now_ms)
            self._heard = None
        elif message.command != "LOCKED" and not message.flag("moved") \
                and self._is_meant(lock) \
                and message.number("registration") == lock.number:
            entry: Entry = lock.user
            has_left = entry.life is Life.LEFT
            self.book.take(message, now_ms)
            if has_left and entry.life is Life.CLOSED:
                #   It was taken away, and nobody else here will say UNLOCK.
                self.roam.give_back(lock, now_ms)

    def _sign_complaint(self, letter: Letter, lock: RoamLock) -> None:
        """The router does not know of registrations."""
        current = self.roam.places.current
        if current is not None and current.number == lock.number:
            letter.number, letter.drawn = current.number, current.drawn

    def _give_back(self, server: int, grant: Message) -> None:
        """Of what nobody here has asked for any more."""
        message = _letter.give_back(grant)
        told = grant.body or {}
        for name in ("object", "object_hex", "context", "registration",
                     "drawn"):
            if name in told and message.body is not None:
                message.body[name] = told[name]
        self.out.append((server, message))
