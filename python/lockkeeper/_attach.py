#   _attach.py - registration with a router, without its socket
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Registers with a router, and again when it was away, takes frames apart and
packs what is to be sent into frames. Knows no socket and no clock, and of
messages those of a router alone."""

from __future__ import annotations

import os
import random
from typing import List, Optional, Sequence

from . import _frame
from ._credential import CredentialFile
from ._frame import FrameError, Message
from ._lease import FOREVER

VERSION = "0.1.0"
ROUTER = "router@."
SEEKING, REGISTERING, READY, REFUSED = (
    "seeking", "registering", "ready", "refused")

_REGISTER_MS = 500  # REGISTER is repeated that often
_SEEK_SOON_MS = 5  # a router that is not there is sought again so soon, ...
_SEEK_MS = 100  # ... and that often in the end
_TAKEN_MS = 5000  # for so long a name may be taken by a former process
_TAKEN_RETRY_MS = 100
_PATIENCE_MS = 3000  # then the next endpoint is tried, if there are several
_FRAME_MAX = 256 * 1024


class Attach:
    """A registration. Whoever drives it opens a connection to ``endpoint``
    whenever ``reopen`` is set (and clears that), says what becomes of it,
    hands over what is received and sends ``take_frames``."""

    def __init__(self, name: str, endpoints: Sequence[str], now_ms: int, *,
                 subscribe: Sequence[str] = (), seek_ms: int = 0,
                 credential: Optional[CredentialFile] = None) -> None:
        self.name = name
        self.host = ""
        self.state = SEEKING
        self.refusal = ""
        self.reopen = True
        self.answer_ms = -1  # how long the router took to answer
        #: When the credential that the router knows ends.
        self.credential_ends_ms = FOREVER
        self._credential = credential
        self._shown_ms = 0  # REGISTER was said last
        self._asked_ms = 0
        self._subscribe = list(subscribe)
        self._seek_ms = seek_ms  # 0: often at first
        self._pause_ms = _SEEK_SOON_MS
        self._endpoints = list(endpoints)
        self._at = 0
        self._address = f"{name}@."
        self._serial = 0
        self._since_ms = now_ms  # of this try
        self._retry_ms = (FOREVER if len(self._endpoints) < 2
                          else now_ms + _PATIENCE_MS)
        self._taken_since = 0
        self._out: List[Message] = []

    @property
    def endpoint(self) -> str:
        """Where to connect."""
        return self._endpoints[self._at]

    #   -------------------------------------------------------- what is told

    def on_ready(self, now_ms: int) -> None:
        """It is registered."""

    def on_lost(self, now_ms: int) -> None:
        """It was registered, and the router is gone; READY may follow."""

    def on_refused(self, now_ms: int) -> None:
        """The router does not want us, and that is final."""

    def on_message(self, message: Message, now_ms: int) -> None:
        """One that came while it is registered."""

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
        self._taken_since, self._since_ms = 0, now_ms
        self._out.clear()
        self._at = (self._at + 1) % len(self._endpoints)
        self._retry_ms = now_ms if was_ready else now_ms + self._pause()
        if was_ready:
            self.on_lost(now_ms)

    def _pause(self) -> int:
        """How long until a router that is not there is sought again: longer
        each time, and not the same for all who lost it."""
        if self._seek_ms:
            return self._seek_ms
        pause_ms = self._pause_ms
        self._pause_ms = min(2 * pause_ms, _SEEK_MS)
        return round(pause_ms * random.uniform(0.75, 1.25))

    def _begin_register(self, now_ms: int) -> None:
        self.state = REGISTERING
        self._asked_ms = now_ms
        self._taken_since = 0
        self._since_ms = now_ms
        self._address = f"{self.name}@."
        self._send_register(now_ms)

    def _registration(self, now_ms: int) -> Message:
        self._serial += 1
        self._shown_ms = now_ms
        body: _frame.Body = {
            "service": self.name, "version": VERSION, "pid": os.getpid(),
            "application": True, "subscribe": self._subscribe}
        line = self._credential.line() if self._credential else ""
        if line:
            body["credential"] = line
        return Message(ROUTER, self._address, "REGISTER", self._serial, body)

    def show_credential(self, now_ms: int) -> None:
        """Says REGISTER once more, with the credential that there is now: the
        same registration goes on."""
        if self.state == READY:
            self._out.append(self._registration(now_ms))

    def _send_register(self, now_ms: int) -> None:
        self._out = [self._registration(now_ms)]
        self._retry_ms = now_ms + _REGISTER_MS

    def _be_ready(self, message: Message, now_ms: int) -> None:
        host = message.text("host")
        if not _frame.is_name(host):
            return
        #   The answer may be late.
        left_s = message.number("credential_left", -1)
        self.credential_ends_ms = self._shown_ms + left_s * 1000 \
            if left_s >= 0 else FOREVER
        if self.state != REGISTERING:
            return
        self.state, self.host = READY, host
        self._pause_ms = _SEEK_SOON_MS
        self.answer_ms = now_ms - self._asked_ms
        self._address = f"{self.name}@{host}"
        self._retry_ms = FOREVER
        self.on_ready(now_ms)

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
        self.on_refused(now_ms)

    def leave(self) -> None:
        """The last word to the router; nothing is answered."""
        self.say(Message(ROUTER, "", "UNREGISTER"))

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
        elif self.state != READY:
            pass
        elif service == "router" and host == self.host \
                and message.command == "INVALID" \
                and message.text("reason").startswith("register first"):
            #   A new router, to which ZeroMQ has connected by itself.
            self.on_lost(now_ms)
            self._begin_register(now_ms)
        else:
            self.on_message(message, now_ms)

    def _complain(self, message: Message) -> None:
        """The router passes on what it could read, which the body is not part
        of: its sender is told, unless it is a complaint itself."""
        if message.command not in ("INVALID", "UNKNOWN",
                                   "TRANSMISSIONREPORT"):
            self.say(Message(message.sender, "", "INVALID", message.serial,
                             {"reason": message.problem}))

    #   -------------------------------------------------------- time

    def tick(self, now_ms: int) -> None:
        """Does what is due."""
        if now_ms < self._retry_ms:
            return
        self._retry_ms = FOREVER
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
        return self._has_others() and self._taken_since == 0 \
            and now_ms - self._since_ms >= _PATIENCE_MS

    def _has_others(self) -> bool:
        """Whether another connection may lead to another router."""
        return len(self._endpoints) > 1

    def deadline(self) -> int:
        """When tick is due at the latest (boot clock, ms)."""
        return self._retry_ms

    #   -------------------------------------------------------- sending

    def say(self, message: Message) -> None:
        """Sends it, if it is registered."""
        message.sender = self._address
        if self.state == READY:
            self._out.append(message)

    def take_frames(self) -> List[bytes]:
        """What is to be sent now. What cannot be sent is repeated anyway."""
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
