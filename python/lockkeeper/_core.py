#   _core.py - a session without its socket
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Registers with the router, and again when it was away; hands messages of
the lock service to the book, answers to questions, and packs what is to be
sent into frames. Knows no socket, no thread and no clock: blocking and
asyncio sessions drive it, see _drive.py."""

from __future__ import annotations

import itertools
import os
import re
import sys
from dataclasses import dataclass
from typing import Dict, List, Optional, Sequence

from . import _frame
from ._book import Book
from ._frame import Body, FrameError, Message
from ._lease import FOREVER
from .errors import LockkeeperError, Refused, error_of

VERSION = "0.1.0"
ROUTER = "router@."
SEEKING, REGISTERING, READY, REFUSED = (
    "seeking", "registering", "ready", "refused")

_REGISTER_MS = 500  # REGISTER is repeated that often
_SEEK_MS = 100  # a router that is not there is sought that often
_TAKEN_MS = 5000  # for so long a name may be taken by a former process
_TAKEN_RETRY_MS = 100
_PATIENCE_MS = 3000  # then the next endpoint is tried, if there are several
_QUESTION_MS = 1000  # a question is repeated that often
_FRAME_MAX = 256 * 1024
_CUT = "connection ended"  # the process may be alive and come back

_sessions = itertools.count(1)


def make_name(base: str = "") -> str:
    """"backup-4711-1": unlike that of any other session of this host."""
    base = base or os.path.basename(sys.argv[0] if sys.argv else "")
    tail = f"-{os.getpid()}-{next(_sessions)}"
    head = re.sub(r"[^A-Za-z0-9._-]", "_", base or "python")
    return head[:63 - len(tail)] + tail


def first_serial(now_ms: int) -> int:
    """Unlike those of a former process of the same name and number."""
    return (now_ms & 0xffffffff) << 16


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


class Core:
    """A session. Whoever drives it opens a connection to ``endpoint``
    whenever ``reopen`` is set (and clears that), says what becomes of it,
    hands over what is received and sends ``take_frames``."""

    def __init__(self, endpoints: Sequence[str], now_ms: int,
                 name: str = "") -> None:
        self.name = make_name(name)
        self.host = ""
        self.state = SEEKING
        self.refusal = ""
        self.book = Book(first_serial(now_ms))
        self.reopen = True
        self._endpoints = list(endpoints)
        self._at = 0
        self._address = f"{self.name}@."
        self._serial = 0
        self._since_ms = now_ms  # of this try
        self._retry_ms = (FOREVER if len(self._endpoints) < 2
                          else now_ms + _PATIENCE_MS)
        self._taken_since = 0
        self._service = 0  # the process of this host's lock service
        self._out: List[Message] = []
        self._questions: Dict[int, Question] = {}

    @property
    def endpoint(self) -> str:
        """Where to connect."""
        return self._endpoints[self._at]

    #   -------------------------------------------------------- connection

    def connected(self, now_ms: int) -> None:
        """The connection that was opened is up."""
        if self.state == SEEKING:
            self._begin_register(now_ms)

    def disconnected(self, now_ms: int) -> None:
        """It is over, or nobody is there."""
        if self.state == REFUSED:
            return
        was_ready = self.state == READY
        self.state = SEEKING
        self._out.clear()
        self._at = (self._at + 1) % len(self._endpoints)
        self._retry_ms = now_ms if was_ready else now_ms + _SEEK_MS
        if was_ready:
            self.book.desert(True)

    def _begin_register(self, now_ms: int) -> None:
        self.state = REGISTERING
        self._taken_since = 0
        self._since_ms = now_ms
        self._address = f"{self.name}@."
        self._send_register(now_ms)

    def _send_register(self, now_ms: int) -> None:
        self._serial += 1
        self._out = [Message(ROUTER, self._address, "REGISTER", self._serial, {
            "service": self.name, "version": VERSION, "pid": os.getpid(),
            "application": True, "subscribe": ["STATUS:lock"]})]
        self._retry_ms = now_ms + _REGISTER_MS

    def _be_ready(self, message: Message, now_ms: int) -> None:
        host = message.text("host")
        if self.state != REGISTERING or not _frame.is_name(host):
            return
        self.state, self.host = READY, host
        self._address = f"{self.name}@{host}"
        self._retry_ms = FOREVER
        self.book.repeat(now_ms)
        for question in self._questions.values():
            self._ask_again(question, now_ms)

    def _be_refused(self, message: Message, now_ms: int) -> None:
        if self.state != REGISTERING:
            return
        self.refusal = message.text("reason", "no reason given")
        if self.refusal.startswith("name is taken"):
            self._taken_since = self._taken_since or now_ms
            if now_ms - self._taken_since < _TAKEN_MS:
                self._retry_ms = now_ms + _TAKEN_RETRY_MS
                return
        self.state, self._retry_ms = REFUSED, FOREVER
        self.book.give_up("refused", self.refusal, now_ms)
        for question in self._questions.values():
            question.error = Refused(f"the router refused: {self.refusal}")
        self._questions.clear()

    def leave(self) -> None:
        """The last word to the router; nothing is answered."""
        self._say(Message(ROUTER, "", "UNREGISTER"))

    #   -------------------------------------------------------- receiving

    def receive(self, frame: bytes, now_ms: int) -> None:
        """A frame from the router."""
        try:
            for message in _frame.decode(frame):
                self._take(message, now_ms)
        except FrameError:
            pass  # nothing behind it is looked at

    def _take(self, message: Message, now_ms: int) -> None:
        service, _, host = message.sender.partition("@")
        if message.problem:
            self._complain(message)
        elif service == "router" and message.command == "READY":
            self._be_ready(message, now_ms)
        elif service == "router" and message.command == "REFUSE":
            self._be_refused(message, now_ms)
        elif self.state == READY:
            self._take_ready(message, service, host, now_ms)

    def _take_ready(self, message: Message, service: str, host: str,
                    now_ms: int) -> None:
        if self._take_answer(message):
            return
        if host != self.host or service not in ("router", "lock"):
            return
        if service == "lock":
            self.book.take(message, now_ms)
        elif message.command == "STATUS":
            self._take_status(message, now_ms)
        elif message.command == "INVALID" \
                and message.text("reason").startswith("register first"):
            #   A new router, to which ZeroMQ has connected by itself.
            self.book.desert(True)
            self._begin_register(now_ms)
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

    def _complain(self, message: Message) -> None:
        """The router passes on what it could read, which the body is not part
        of: its sender is told, unless it is a complaint itself."""
        if self.state == READY \
                and message.command not in ("INVALID", "UNKNOWN",
                                        "TRANSMISSIONREPORT"):
            self._say(Message(message.sender, self._address, "INVALID",
                              message.serial, {"reason": message.problem}))

    #   -------------------------------------------------------- questions

    def ask(self, question: Question, now_ms: int) -> Question:
        """Asks it, again and again until it is answered or dropped."""
        question.serial = self.book.next_serial()
        self._questions[question.serial] = question
        if self.state == REFUSED:
            question.error = Refused(f"the router refused: {self.refusal}")
        else:
            self._ask_again(question, now_ms)
        return question

    def drop(self, question: Question) -> None:
        """Nobody waits for the answer any more."""
        self._questions.pop(question.serial, None)

    def _ask_again(self, question: Question, now_ms: int) -> None:
        self._say(Message(question.to, "", question.command, question.serial,
                          question.body))
        question.repeat_at = now_ms + _QUESTION_MS

    def _take_answer(self, message: Message) -> bool:
        question = self._questions.get(message.serial)
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

    #   -------------------------------------------------------- time

    def tick(self, now_ms: int) -> None:
        """Does what is due."""
        if now_ms >= self._retry_ms:
            self._retry_ms = FOREVER
            self._retry(now_ms)
        self.book.tick(now_ms)
        for question in list(self._questions.values()):
            if now_ms >= question.repeat_at:
                self._ask_again(question, now_ms)

    def _retry(self, now_ms: int) -> None:
        if self.state == REGISTERING:
            if self._is_stuck(now_ms):
                self.disconnected(now_ms)
            else:
                self._send_register(now_ms)
        elif self.state == SEEKING:
            if self._is_stuck(now_ms):
                self._at = (self._at + 1) % len(self._endpoints)
            self._since_ms = now_ms
            self.reopen = True
            if len(self._endpoints) > 1:
                self._retry_ms = now_ms + _PATIENCE_MS

    def _is_stuck(self, now_ms: int) -> bool:
        """Another endpoint may answer where this one does not."""
        return len(self._endpoints) > 1 \
            and now_ms - self._since_ms >= _PATIENCE_MS

    def deadline(self) -> int:
        """When tick is due at the latest (boot clock, ms)."""
        due = min(self._retry_ms, self.book.deadline())
        for question in self._questions.values():
            due = min(due, question.repeat_at)
        return due

    #   -------------------------------------------------------- sending

    def _say(self, message: Message) -> None:
        message.sender = self._address
        if self.state == READY:
            self._out.append(message)

    def take_frames(self) -> List[bytes]:
        """What is to be sent now. What cannot be sent is repeated anyway."""
        for message in self.book.messages:
            self._say(message)
        self.book.messages.clear()
        frames: List[bytes] = []
        frame = bytearray()
        for data in map(_frame.encode, self._out):
            if frame and len(frame) + len(data) > _FRAME_MAX:
                frames.append(bytes(frame))
                frame.clear()
            frame += data
        self._out.clear()
        if frame:
            frames.append(bytes(frame))
        return frames
