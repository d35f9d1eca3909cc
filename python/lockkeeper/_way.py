#   _way.py - how a session reaches a lock service
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""By the router of its host (_near.py), or from a machine without one, over
the network to one of several servers (_far.py). The way brings what the book
says there, and tells the book what comes from there, or has become of it."""

from __future__ import annotations

import abc
import itertools
import os
import re
import sys
from typing import Callable, List

from ._book import Book
from ._entry import Entry
from ._questions import Question
from ._wish import Wish
from .errors import text_of

_sessions = itertools.count(1)


def make_name(base: str = "", head: str = "", tail: str = "") -> str:
    """"backup-4711-1": unlike that of any other session of this host. On
    other hosts it begins with ``head`` and has another ``tail``."""
    base = base or os.path.basename(sys.argv[0] if sys.argv else "")
    tail = tail or f"-{os.getpid()}-{next(_sessions)}"
    base = re.sub(r"[^A-Za-z0-9._-]", "_", base or "python")
    return head + base[:63 - len(head) - len(tail)] + tail


def first_serial(now_ms: int) -> int:
    """Unlike those of a former process of the same name and number."""
    return (now_ms & 0xffffffff) << 16


class Way(abc.ABC):
    """Belongs to one process; not for several threads at once."""

    #: By whom it is known there.
    name: str
    book: Book

    @property
    @abc.abstractmethod
    def state(self) -> str:
        """SEEKING, REGISTERING, READY or REFUSED."""

    @property
    @abc.abstractmethod
    def host(self) -> str:
        """The host at its other end; empty: none yet."""

    @property
    def refusal(self) -> str:
        """Why it was refused for good; empty: it was not."""
        return ""

    #: The word for that.
    refused_for = "refused"

    @abc.abstractmethod
    def problem(self) -> str:
        """Why it is not READY."""

    def objection(self, wish: Wish) -> str:
        """Why no such lock can be had by it; empty: it can."""
        return ""

    def turn_objection(self, entry: Entry) -> str:
        """Why a held lock cannot be of another type; empty: it can."""
        return ""

    def loss(self, reason: str) -> str:
        """Why a lock was lost, in a sentence."""
        return text_of(reason)

    #   -------------------------------------------------------- work

    @abc.abstractmethod
    def work(self) -> None:
        """Does all that is to do now."""

    @abc.abstractmethod
    def descriptors(self) -> List[int]:
        """To sleep on. They wake by edges: after each look at it all has to
        be read, as ``work`` does."""

    @abc.abstractmethod
    def watch(self, before_close: Callable[[], None]) -> None:
        """That is to be called ahead of closing any of them."""

    @abc.abstractmethod
    def deadline(self) -> int:
        """When work is due at the latest (boot clock, ms)."""

    @abc.abstractmethod
    def ask(self, question: Question, now_ms: int) -> Question:
        """Asks it, again and again until it is answered or dropped."""

    @abc.abstractmethod
    def drop(self, question: Question) -> None:
        """Nobody waits for the answer any more."""

    @abc.abstractmethod
    def shut(self) -> None:
        """Takes leave and closes all connections."""
