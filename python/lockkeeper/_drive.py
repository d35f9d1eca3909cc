#   _drive.py - what sessions do
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""What blocking and asyncio sessions share: one turn of all that is to do,
and what is done with locks, as generators that yield what they wait for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Callable, Dict, Generator, List, Optional, Sequence
from typing import Tuple, TypeVar

from ._attach import READY, REFUSED
from ._book import Told
from ._config import find_client, find_endpoints
from ._entry import Entry
from ._far import Far
from ._frame import Body
from ._lease import FOREVER, now_ms
from ._near import Near
from ._questions import Question
from ._way import Way
from ._wish import check_str
from .errors import Disconnected, Misuse, Refused, TimedOut

T = TypeVar("T")

GIVE_BACK_MS = 1000  # how long the end of a session waits for UNLOCKED
CONNECT_S = 5.0


@dataclass
class Until:
    """What a step waits for: that ``ready`` says so, or the time ``end_ms``
    (boot clock)."""

    ready: Callable[[], bool]
    end_ms: int = FOREVER


Owned = Tuple[Any, Tuple[bytes, ...], str]
Steps = Generator[Until, None, T]


def end_of(wait_ms: int) -> int:
    """When a wait that begins now is over; -1: never."""
    return FOREVER if wait_ms < 0 else now_ms() + wait_ms


class Driver:
    """A way to a lock service, and who uses it. Not for several threads at
    once."""

    def __init__(self, endpoint: Optional[str], name: Optional[str],
                 client: Optional[str]) -> None:
        self.pid = os.getpid()
        self.broken: Optional[BaseException] = None
        self.closed = False  # the user closed it
        check_str(endpoint, "an endpoint")
        check_str(client, "the path of a client file")
        name = check_str(name, "a name of a session")
        file = find_client(client, endpoint)
        self.way: Way = Far(file, name) if file is not None \
            else Near(find_endpoints(endpoint) or [""], name)
        #: What each thread or task has of each name, to be entered again.
        self.mine: Dict[Owned, List[Entry]] = {}

    @property
    def is_alive(self) -> bool:
        """Whether anything is heard: not after the end, not in a child."""
        return os.getpid() == self.pid and not self.closed \
            and self.broken is None

    def check_alive(self) -> None:
        """Not after the end, and not in a child."""
        if os.getpid() != self.pid:
            raise Misuse("a session does not outlive fork(): "
                         "open another one in the child")
        if self.closed:
            raise Misuse("the session is closed")
        if self.broken is not None:
            raise Disconnected(f"the session broke: {self.broken!r}")

    def turn(self) -> List[Told]:
        """Does all that is to do now; what happened to locks is returned."""
        self.way.work()
        book = self.way.book
        told, book.events = book.events, []
        return told

    #   -------------------------------------------------------- steps

    def connect_steps(self, connect_ms: int) -> Steps[None]:
        """Waits for the router, or a server."""
        way = self.way
        yield Until(lambda: way.state in (READY, REFUSED), end_of(connect_ms))
        if way.state == READY:
            return
        if way.state == REFUSED or way.refusal:
            raise Refused(f"the router refused: {way.refusal}"
                          if way.refusal else way.problem(),
                          way.refused_for)
        raise Disconnected(way.problem())

    def ask_steps(self, to: str, command: str, body: Optional[Body],
                  answers: Sequence[str], end_ms: int) -> Steps[Question]:
        """Asks a service and waits for its answer."""
        question = Question(to, command, body, answers)
        try:
            self.way.ask(question, now_ms())
            yield Until(lambda: question.done, end_ms)
        finally:
            self.way.drop(question)
        if question.error is not None:
            raise question.error
        if question.answer is None:
            raise TimedOut(f"{to} did not answer {command} in time")
        return question

    def close_steps(self) -> Steps[None]:
        """Gives back all but static locks. The router tells the lock service
        that we are gone, or a lease is over, so nothing leaks if this does not
        get through."""
        book = self.way.book
        self.closed = True
        book.abandon_all(now_ms())
        yield Until(lambda: book.open_count == 0, end_of(GIVE_BACK_MS))

    def shut(self) -> None:
        """Takes leave and closes the connection."""
        self.way.shut()
