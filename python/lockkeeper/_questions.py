#   _questions.py - what is asked of services, and what they answer
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Questions to services of any host, which change nothing: each is repeated
until it is answered. Knows no socket and no clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Optional, Sequence

from ._frame import Body, Message
from ._lease import FOREVER
from .errors import LockkeeperError, error_of

_QUESTION_MS = 1000  # a question is repeated that often


@dataclass(eq=False)
class Question:
    """Something that is asked of a service; ``answer`` is what it said, or
    ``error`` why there is none."""

    to: str
    command: str
    body: Optional[Body]
    answers: Sequence[str]
    serial: int = 0
    repeat_at: int = 0
    answer: Optional[Message] = None
    error: Optional[LockkeeperError] = None

    @property
    def done(self) -> bool:
        """Whether there is an answer, or will be none."""
        return self.answer is not None or self.error is not None


class Questions:
    """Those that are open; ``messages`` are to be sent."""

    def __init__(self) -> None:
        self.messages: List[Message] = []
        self._open: Dict[int, Question] = {}

    def ask(self, question: Question, serial: int, now_ms: int) -> None:
        """Asks it, again and again until it is answered or dropped."""
        question.serial = serial
        self._open[serial] = question
        self._ask_again(question, now_ms)

    def drop(self, question: Question) -> None:
        """Nobody waits for the answer any more."""
        self._open.pop(question.serial, None)

    def repeat(self, now_ms: int) -> None:
        """Asks all once more."""
        for question in self._open.values():
            self._ask_again(question, now_ms)

    def fail(self, error: LockkeeperError) -> None:
        """None of them will be answered."""
        for question in self._open.values():
            question.error = error
        self._open.clear()

    def _ask_again(self, question: Question, now_ms: int) -> None:
        self.messages.append(Message(question.to, "", question.command,
                                     question.serial, question.body))
        question.repeat_at = now_ms + _QUESTION_MS

    def take(self, message: Message) -> bool:
        """Whether it is an answer to one of them."""
        question = self._open.get(message.serial)
        if question is None:
            return False
        reason = message.text("reason") or message.text("text")
        if message.command in question.answers:
            question.answer = message
        elif message.command == "INVALID":
            question.error = error_of("invalid", reason)
        elif message.command == "LOCKFAILED":
            question.error = error_of(message.text("error"), reason)
        elif message.command == "UNKNOWN":
            question.error = error_of("unknown", reason)
        elif message.command == "TRANSMISSIONREPORT":
            if question.to.endswith("@."):
                return True  # it may come: we ask again
            question.error = error_of(message.text("error"), reason)
        else:
            return False
        self.drop(question)
        return True

    def tick(self, now_ms: int) -> None:
        """Asks those again that are due."""
        for question in list(self._open.values()):
            if now_ms >= question.repeat_at:
                self._ask_again(question, now_ms)

    def deadline(self) -> int:
        """When tick is due at the latest (boot clock, ms)."""
        return min((question.repeat_at for question in self._open.values()),
                   default=FOREVER)
