#   _far.py - the way to a lock service from a machine without a router
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Drives all that there is for that, and chooses servers: what
src/client/far.c does. lockkeeper-protocol(7), 9.20."""

from __future__ import annotations

import os
import random
import secrets
from typing import Callable, List

from ._attach import READY, REFUSED, ROUTER, SEEKING
from ._carrier import Carrier, is_of_registration, read_letter
from ._client_file import ClientFile
from ._credential import Deed, Renewal, times_of
from ._entry import Entry
from ._frame import Message
from ._lease import FOREVER, NEVER, now_ms
from ._places import Kind, Letter
from ._questions import Question
from ._servers import Servers
from ._way import Way, make_name
from ._wish import Wish
from .errors import text_of

_SILENT_FIFTHS = 2  # of a lease: so long a server may be silent, ...
_SILENT_PART = 2  # ... or so long while nothing is asked for
_FIRST_MS = 300  # for the first lease, which what is asked for needs
_AGAIN_MS = 1000  # until a server that forgets us is taken again
_WAIT_S_MAX = 3600  # that a router may ask for
_RENEW_SERIAL = 1 << 61  # of RENEW; those of registrations are greater

_LOSSES = {
    "disconnected": "no server answered for as long as its lease lasted",
    "isolated": "the server lost touch with the leaders, and no other one "
                "took over in time"}


class Far(Way):
    """By one of several servers, as long as it serves."""

    def __init__(self, file: ClientFile, name: str) -> None:
        self.name = make_name(
            name, file.head(), f"-{os.getpid()}-{secrets.token_hex(4)}")
        self._carrier = Carrier(now_ms())
        self._roam = self._carrier.roam
        self._servers = Servers(file, self.name)
        self.book = self._carrier.book
        self._host = ""
        self._is_vain = False  # the latest server refused to register us
        self._forgetful = -1  # a server that knows nothing of us
        self._again_ms = NEVER  # one such was registered with again
        self._ready_ms = NEVER  # when we were registered first
        self._renewal = Renewal()
        self._ends_ms = FOREVER  # the credential, as the server said last
        self._cut_ms = FOREVER  # end of the lease that it cut short
        self._ends_soon = False  # as the book was told
        self._renew_serial = 0  # of the RENEW that is open
        self._shown = self._servers.credential.line()  # by servers, last
        self._is_over = False  # no server serves us, for want of a credential

    #   -------------------------------------------------------- questions

    @property
    def state(self) -> str:
        """Nothing is granted without a lease: so it waits for the first one,
        if that comes soon."""
        current, now = self._roam.places.current, now_ms()
        if self._is_over:
            return REFUSED
        if self._ready_ms != NEVER and (
                (current is not None and current.until_ms > now)
                or now - self._ready_ms >= _FIRST_MS):
            return READY
        return SEEKING

    @property
    def host(self) -> str:
        return self._host

    refused_for = "credential"

    def problem(self) -> str:
        """An end by the clock no server need have told."""
        return text_of("credential") \
            if self._is_over and not self._servers.deny_credential \
            else self._servers.problem()

    def objection(self, wish: Wish) -> str:
        """Protocol 9.20: Not moved."""
        return "what lingers is taken over by its key on a host alone, not " \
            "from a machine without a router" if wish.key else ""

    def turn_objection(self, entry: Entry) -> str:
        lock = self._roam.locks.get(entry.serial)
        return "" if lock is None or self._roam.may_turn(lock) else \
            "a static lock changes its type only as long as the server " \
            "that granted it is in use"

    def loss(self, reason: str) -> str:
        """What the words of an error say of this host is true of the
        server's."""
        return _LOSSES.get(reason) or text_of(reason)

    def ask(self, question: Question, now_ms: int) -> Question:
        self._carrier.questions.ask(question, self.book.next_serial(), now_ms)
        return question

    def drop(self, question: Question) -> None:
        self._carrier.questions.drop(question)

    def descriptors(self) -> List[int]:
        return self._servers.descriptors()

    def watch(self, before_close: Callable[[], None]) -> None:
        self._servers.watch(before_close)

    def deadline(self) -> int:
        now = now_ms()
        return min(self._servers.deadline(now), self._roam.deadline(now),
                   self.book.deadline(), self._carrier.questions.deadline(),
                   self._renewal.deadline(now))

    #   -------------------------------------------------------- hearing

    def _hear(self, server: int, message: Message, now: int) -> None:
        if self._carrier.questions.take(message):
            return
        service, _, host = message.sender.partition("@")
        if host != self._servers.host(server) \
                or service not in ("lock", "router"):
            return
        if service == "router" and self._renew_serial \
                and message.serial == self._renew_serial:
            self._hear_renewal(message, now)
            return
        letter = read_letter(message) if service == "lock" else None
        if letter is not None:
            letter.server = server
            self._hear_letter(letter, now)
        elif is_of_registration(message.serial):
            self._hear_complaint(server, message)
        else:
            self._carrier.hear(server, message, now)

    def _hear_letter(self, letter: Letter, now: int) -> None:
        self._carrier.hear_letter(letter, now)
        current = self._roam.places.current
        is_current = current is not None and current.number == letter.number
        if letter.kind is Kind.READY and is_current:
            self._ready_ms = now if self._ready_ms == NEVER \
                else self._ready_ms
            self._servers.note(letter.server, "")
            self._host = self._servers.host(letter.server)
        elif letter.kind is Kind.UNKNOWN and current is not None \
                and is_current and current.over:
            self._forgetful = letter.server
        elif letter.kind is Kind.LEASE:
            self._note_lease(letter, now)
        elif letter.kind is Kind.MOVE:
            self._servers.note_move(letter.server, now)

    def _note_lease(self, letter: Letter, now: int) -> None:
        """It counts from when it was asked for, be it that leaders were not
        heard for a while."""
        is_cut = now + letter.left_ms >= self._renewal.over_ms()
        self._cut_ms = letter.sent + letter.left_ms if is_cut else FOREVER

    def _hear_complaint(self, server: int, message: Message) -> None:
        """The router there, or its lock service, has no use for
        LOCKREGISTER."""
        latest = self._roam.places.latest
        if latest is not None and not latest.ready \
                and latest.server == server:
            self._is_vain = True
            self._servers.note(server, message.text("text")
                               or message.text("reason")
                               or "it does not serve us")

    #   -------------------------------------------------------- credential

    def _note_end(self) -> None:
        """A server has said until when it counts."""
        current = self._roam.places.current
        if current is None or not self._servers.is_up(current.server):
            return
        ends_ms = self._servers.credential_ends_ms(current.server)
        if ends_ms != self._ends_ms:
            self._ends_ms, self._cut_ms = ends_ms, FOREVER
            self._shown = self._servers.credential.line()
            life_ms, may_renew = times_of(self._shown) or (0, False)
            self._renewal.begin(ends_ms, life_ms, may_renew, random.random())

    def _show(self, now: int) -> None:
        self._shown = self._servers.credential.line()
        self._servers.show_credential(now)
        self._renewal.shown(now)

    def _look(self, now: int) -> None:
        """Somebody else may have written it."""
        line = self._servers.credential.line()
        if line and line != self._shown:
            self._show(now)

    def _ask_renewal(self, now: int) -> None:
        current = self._roam.places.current
        if current is not None:
            self._renew_serial = (self._renew_serial or _RENEW_SERIAL) + 1
            self._servers.send(current.server, Message(
                ROUTER, "", "RENEW", self._renew_serial), now)

    def _hear_renewal(self, message: Message, now: int) -> None:
        """An issuer that is not there may come back."""
        line = message.text("credential")
        if message.command == "LOGIN" and times_of(line) is not None:
            self._servers.credential.write(line)
            self._show(now)
        elif message.command != "LOGIN" \
                and message.text("error", "invalid") in ("denied", "invalid"):
            self._renewal.refused(now)
        else:
            wait_s = message.number("wait", 0)
            self._renewal.failed(
                wait_s * 1000 if 0 < wait_s < _WAIT_S_MAX else 0, now)

    def _renew(self, now: int) -> None:
        """All processes of the machine share the file: the first one of them
        that renews does it for all."""
        self._note_end()
        deed = self._renewal.next(now)
        while deed is not Deed.IDLE:
            if deed is Deed.LOOK:
                self._look(now)
            else:
                self._ask_renewal(now)
            deed = self._renewal.next(now)
        over_ms = now if self._servers.deny_credential \
            else self._renewal.over_ms()
        self.book.credential_over_ms = min(over_ms, self._cut_ms)
        ends_soon = self._renewal.ends_soon(now)
        if ends_soon is not self._ends_soon:
            self._ends_soon = ends_soon
            self.book.set_credential(ends_soon, now)

    def _counts(self, now: int) -> bool:
        return not self._servers.deny_credential \
            and not self._renewal.has_ended(now)

    def _give_up(self, now: int) -> None:
        """As long as a server serves us it is that one's to say no. Another
        credential of the file, which is shown then, may count."""
        current = self._roam.places.current
        is_served = not self.book.deserted and current is not None \
            and not current.over
        if not is_served and not self._counts(now):
            self._look(now)
        self._is_over = not is_served and not self._counts(now)
        if self._is_over:
            self._carrier.book.fail_asked(
                self.refused_for, self.problem(), now)

    #   -------------------------------------------------------- choosing

    def _is_silent(self, now: int) -> bool:
        """Whether nothing is heard of the server that all is asked of."""
        current = self._roam.places.current
        if current is None or not self._servers.is_up(current.server):
            return True
        silence_ms = current.gap_ms * _SILENT_FIFTHS // 5 \
            if self._roam.locks else current.gap_ms // _SILENT_PART
        return now - current.heard_ms > silence_ms

    def _wants_server(self, now: int) -> bool:
        """Sooner than roam, which does not see connections, unless one is
        being registered with."""
        latest = self._roam.places.latest
        if latest is None or self._roam.wants_server(now):
            return True
        return (latest.ready or self._is_vain) and self._is_silent(now)

    def _choose(self, now: int) -> None:
        """One whose lock service was restarted is there, and as good as any
        other."""
        if self._forgetful >= 0 and now - self._again_ms >= _AGAIN_MS \
                and self._servers.is_up(self._forgetful):
            self._again_ms = now
            self._roam.register(self._forgetful, now)
        self._forgetful = -1
        current = self._roam.places.current
        server = self._servers.choose(
            self._wants_server(now),
            current.server if current is not None else -1, now)
        if server >= 0:
            self._is_vain = False
            self._roam.register(server, now)
        if self._is_silent(now) != self.book.deserted:
            self.book.desert(not self.book.deserted)

    #   -------------------------------------------------------- work

    def work(self) -> None:
        while True:
            now = now_ms()
            for server, message in self._servers.work(now):
                self._hear(server, message, now)
            self._tick(now_ms())
            if self._servers.is_idle():
                return

    def _tick(self, now: int) -> None:
        self._carrier.settle(now)
        self._renew(now)
        self._roam.tick(now)
        self._choose(now)
        self._give_up(now)
        self._carrier.settle(now)
        self.book.tick(now)
        self._carrier.questions.tick(now)
        self._carrier.settle(now)
        self._flush(now)

    def _flush(self, now: int) -> None:
        """Messages about no lock of ours go to the present server; one that
        cannot be sent is repeated."""
        carrier, current = self._carrier, self._roam.places.current
        for server, message in carrier.out:
            self._servers.send(server, message, now)
        carrier.out.clear()
        if current is not None and not current.over:
            for message in self.book.messages:
                self._servers.send(current.server,
                                   carrier.sign(message, current), now)
            for message in carrier.questions.messages:
                self._servers.send(current.server, message, now)
        self.book.messages.clear()
        carrier.questions.messages.clear()
        self._servers.flush(now)

    def shut(self) -> None:
        now = now_ms()
        self._carrier.settle(now)
        self._roam.leave(now)
        self._carrier.settle(now)
        self._flush(now)
        self._servers.close(now)
