#   _core.py - a session without its socket
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""The way to the lock service of this host, without the socket: hands its
messages to the book and to questions, and tells the book what becomes of it.
Knows no socket, no thread and no clock; _near.py drives it."""

from __future__ import annotations

from typing import List, Sequence

from ._attach import REFUSED, Attach
from ._book import Book
from ._frame import Message
from ._questions import Question, Questions
from ._way import first_serial, make_name
from .errors import Refused

_CUT = "connection ended"  # the process may be alive and come back


class Core(Attach):
    """A session with the router of this host."""

    def __init__(self, endpoints: Sequence[str], now_ms: int,
                 name: str = "") -> None:
        super().__init__(make_name(name), endpoints, now_ms,
                         subscribe=["STATUS:lock"])
        self.book = Book(first_serial(now_ms))
        self._service = 0  # the process of this host's lock service
        self._questions = Questions()

    #   -------------------------------------------------------- connection

    def on_ready(self, now_ms: int) -> None:
        self.book.repeat(now_ms)
        self._questions.repeat(now_ms)

    def on_lost(self, now_ms: int) -> None:
        self.book.desert(True)

    def on_refused(self, now_ms: int) -> None:
        self.book.give_up("refused", self.refusal, now_ms)
        self._questions.fail(self._refusal())

    def _refusal(self) -> Refused:
        return Refused(f"the router refused: {self.refusal}")

    #   -------------------------------------------------------- receiving

    def on_message(self, message: Message, now_ms: int) -> None:
        if self._questions.take(message):
            return
        service, _, host = message.sender.partition("@")
        if host != self.host or service not in ("router", "lock"):
            return
        if service == "router" and message.command == "STATUS":
            self._take_status(message, now_ms)
        else:
            self.book.take(message, now_ms)

    def _take_status(self, message: Message, now_ms: int) -> None:
        """This host's lock service ended, or has come (back): then it knows
        of nothing."""
        if message.text("service") != f"lock@{self.host}":
            return
        is_up = message.text("status") == "up"
        pid = message.number("pid")
        self.book.desert(not is_up)
        if is_up and self._service not in (0, pid):
            self.book.orphan(now_ms)
        elif not is_up and message.text("reason", _CUT) != _CUT:
            self.book.orphan(now_ms)
        if is_up:
            self._service = pid
            self.book.repeat(now_ms)

    #   -------------------------------------------------------- questions

    def ask(self, question: Question, now_ms: int) -> Question:
        """Asks it, again and again until it is answered or dropped."""
        if self.state == REFUSED:
            question.error = self._refusal()
        else:
            self._questions.ask(question, self.book.next_serial(), now_ms)
        return question

    def drop(self, question: Question) -> None:
        """Nobody waits for the answer any more."""
        self._questions.drop(question)

    #   -------------------------------------------------------- time

    def tick(self, now_ms: int) -> None:
        """Does what is due."""
        super().tick(now_ms)
        self.book.tick(now_ms)
        self._questions.tick(now_ms)

    def deadline(self) -> int:
        """When tick is due at the latest (boot clock, ms)."""
        return min(super().deadline(), self.book.deadline(),
                   self._questions.deadline())

    def take_frames(self) -> List[bytes]:
        """What is to be sent now. What cannot be sent is repeated anyway."""
        for messages in (self.book.messages, self._questions.messages):
            for message in messages:
                self.say(message)
            messages.clear()
        return super().take_frames()
