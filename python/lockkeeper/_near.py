#   _near.py - the way to the lock service of this host
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""A session's core and its connection together."""

from __future__ import annotations

import errno
import os
from typing import Callable, List, Sequence

from . import _link
from ._core import Core
from ._lease import now_ms
from ._link import Link
from ._questions import Question
from ._way import Way


def _why_not(endpoint: str) -> str:
    """Why a router does not answer there."""
    number = _link.probe(endpoint)
    if number == 0:
        return f"the router at '{endpoint}' does not answer"
    why = os.strerror(number).lower()
    if number == errno.EACCES:
        return f"no access to the router at '{endpoint}': {why}"
    return f"no router at '{endpoint}': {why}"


class Near(Way):
    """By the router of this host."""

    def __init__(self, endpoints: Sequence[str], name: str) -> None:
        self._endpoints = [_link.check_endpoint(one) for one in endpoints]
        self.core = Core(self._endpoints, now_ms(), name)
        self.name, self.book = self.core.name, self.core.book
        self._link = Link()
        self._shutting = False  # and nothing is opened any more

    @property
    def state(self) -> str:
        return self.core.state

    @property
    def host(self) -> str:
        return self.core.host

    @property
    def refusal(self) -> str:
        return self.core.refusal

    def problem(self) -> str:
        return "; ".join(map(_why_not, self._endpoints))

    def descriptors(self) -> List[int]:
        return self._link.descriptors()

    def watch(self, before_close: Callable[[], None]) -> None:
        self._link.before_close = before_close

    def deadline(self) -> int:
        return self.core.deadline()

    def ask(self, question: Question, now_ms: int) -> Question:
        return self.core.ask(question, now_ms)

    def drop(self, question: Question) -> None:
        self.core.drop(question)

    def work(self) -> None:
        while True:
            self._read()
            self.core.tick(now_ms())
            self._flush()
            if self._link.is_idle():
                return

    def _flush(self) -> None:
        """What is to be sent leaves now."""
        if self.core.reopen and not self._shutting:
            self.core.reopen = False
            if not self._link.open(self.core.endpoint):
                self.core.disconnected(now_ms())
        for frame in self.core.take_frames():
            self._link.send(frame)

    def _read(self) -> None:
        for word, frame in self._link.read():
            if word == _link.UP:
                self.core.connected(now_ms())
            elif word == _link.DOWN:
                self.core.disconnected(now_ms())
            else:
                self.core.receive(frame, now_ms())

    def shut(self) -> None:
        self._shutting = True
        self.core.leave()
        self._flush()
        self._link.close()
