#   _places.py - an application on another machine: its registrations
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Registrations with servers, and the leases by them, as
lockkeeper-protocol(7), 9.20 has them: what src/client/roam_place.c does. Knows
no socket, no clock and no lock; whoever uses it chooses servers."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any, Callable, Iterator, List, Optional

from ._lease import NEVER

PLACES_MAX = 8  # registrations that are remembered

_REGISTER_MS = 300  # until REGISTER is said again
_TRY_MS = 1000  # ... another server is tried
_LOOK_MS = 100  # between looks whether a registration is needed
_LEASE_PART = 6  # of what it was last given: LEASE is said so often, ...
_IDLE_PART = 4  # ... or, while nothing is asked for

#: Whether a lock needs the registration of that number (and the time).
Needs = Callable[[int, int], bool]


class Kind(enum.Enum):
    """Letters that are said and heard."""

    REGISTER = enum.auto()
    READY = enum.auto()
    LEASE = enum.auto()  # also the answer
    LOCK = enum.auto()
    UNLOCK = enum.auto()
    GOODBYE = enum.auto()
    LOCKED = enum.auto()
    FAILED = enum.auto()  # LOCKFAILED, or UNLOCKED that nobody asked for; with
    #                       a turn: that change of type alone
    UNLOCKED = enum.auto()  # as asked for
    UNKNOWN = enum.auto()  # no such registration
    MOVE = enum.auto()  # the server stops


@dataclass
class Letter:
    """What is said to a server, or was heard of one."""

    kind: Kind
    server: int = -1  # to or from it
    number: int = 0  # of the registration
    drawn: int = 0  # the server's own; REGISTER: 0
    serial: int = 0  # LOCK, UNLOCK, and their answers
    lock: Any = None  # LOCK, UNLOCK: which
    token: int = 0  # LOCK that claims what is held; LOCKED; of a set: that of
    #                 its first name
    turn: int = 0  # LOCK: the change of type that it asks for; LOCKED, FAILED:
    #                that is over
    left_ms: int = 0  # LOCK that claims: held still so long; REGISTER: session
    #                   lease; LEASE: answer
    sent: int = 0  # REGISTER, LEASE, and its answer, LOCK: the own clock
    asked_before: bool = False  # LOCK: in an earlier registration


@dataclass
class Place:
    """A registration, as it is known here."""

    server: int
    number: int
    gap_ms: int  # what it was last given
    begun_ms: int
    heard_ms: int  # an answer, last
    drawn: int = 0
    ready: bool = False
    over: bool = False  # the server does not know it any more
    left: bool = False  # GOODBYE was said, or nothing is asked of it
    until_ms: int = NEVER  # believes till then
    sent_ms: int = NEVER  # LEASE, or REGISTER, last
    look_ms: int = NEVER  # whether it is needed is looked at then

    def next_lease(self, is_idle: bool) -> int:
        """When LEASE is due: more often when nothing is heard."""
        gap_ms = self.gap_ms // (_IDLE_PART if is_idle else _LEASE_PART)
        missed = self.sent_ms - self.heard_ms > gap_ms + _REGISTER_MS
        return self.sent_ms + (min(_REGISTER_MS, gap_ms) if missed
                               else gap_ms)


class Places:
    """All of them. ``letters`` are to be sent."""

    def __init__(self, lease_ms: int) -> None:
        self.letters: List[Letter] = []
        self.number = 0  # of the latest registration
        self.current_number = 0  # of the latest that is ready
        self._lease_ms = lease_ms
        self._places: List[Place] = []

    def find(self, number: int) -> Optional[Place]:
        """The one of that number."""
        for place in self._places:
            if place.number == number:
                return place
        return None

    @property
    def latest(self) -> Optional[Place]:
        """The latest registration."""
        return self.find(self.number)

    @property
    def current(self) -> Optional[Place]:
        """The latest that is ready, which all is asked of."""
        return self.find(self.current_number)

    def of(self, letter: Letter) -> Optional[Place]:
        """The one that a letter is about."""
        place = self.find(letter.number)
        if place is None or place.server != letter.server:
            return None
        if letter.kind in (Kind.READY, Kind.MOVE):
            return place
        return place if place.ready and place.drawn == letter.drawn else None

    def send(self, place: Place, letter: Letter) -> None:
        """Sends it, as one of that registration."""
        letter.server, letter.number = place.server, place.number
        letter.drawn = place.drawn
        self.letters.append(letter)

    #   -------------------------------------------------------- registering

    def register(self, server: int, now_ms: int, needs: Needs) -> int:
        """Registers with that server, maybe once more. The number of one that
        is given up for it, the one that is needed least; 0: of none."""
        given_up = 0
        if len(self._places) == PLACES_MAX:
            least = min(self._places, key=lambda place: (
                self._is_used(place, now_ms, needs), place.number))
            given_up = least.number
            self._places.remove(least)
        self.number += 1
        place = Place(server, self.number, self._lease_ms, now_ms, now_ms)
        self._places.append(place)
        self._say_register(place, now_ms)
        return given_up

    def _say_register(self, place: Place, now_ms: int) -> None:
        place.sent_ms = now_ms
        self.send(place, Letter(Kind.REGISTER, left_ms=self._lease_ms,
                                sent=now_ms))

    def _say_lease(self, place: Place, now_ms: int) -> None:
        place.sent_ms = now_ms
        self.send(place, Letter(Kind.LEASE, sent=now_ms))

    def _is_used(self, place: Place, now_ms: int, needs: Needs) -> bool:
        """Protocol 9.20: Silence."""
        if place.number == self.number:
            return True
        return place.ready and (place.number == self.current_number
                                or needs(place.number, now_ms))

    def wants_server(self, now_ms: int) -> bool:
        """Whether another server is to be tried now. A server may take longer
        to answer than it takes until another one is tried."""
        latest, place = self.latest, self.current
        is_well = place is not None and not place.over \
            and now_ms - place.heard_ms <= place.gap_ms // 2
        waits = latest is not None and not latest.ready \
            and not latest.over and now_ms - latest.begun_ms < _TRY_MS
        return not is_well and not waits

    #   -------------------------------------------------------- hearing

    def leased(self, place: Place, letter: Letter, now_ms: int) -> None:
        """It counts from its LEASE on, whenever it comes.
        Protocol 9.20: Lease by message."""
        if place.over or letter.sent > now_ms:
            return
        place.until_ms = max(place.until_ms, letter.sent + letter.left_ms)
        place.gap_ms = letter.left_ms
        place.heard_ms = now_ms

    def ready(self, place: Place, letter: Letter, now_ms: int) -> bool:
        """Its server says that it is registered; whether all is asked of it
        from now on."""
        if place.ready:
            return False
        place.ready = True
        place.drawn = letter.drawn
        place.heard_ms = now_ms
        self._say_lease(place, now_ms)
        if place.number < self.current_number:
            return False
        self.current_number = place.number
        return True

    @staticmethod
    def move_on(place: Place, now_ms: int) -> None:
        """Its server stops; locks there are good till then."""
        place.heard_ms = now_ms - place.gap_ms
        place.begun_ms = now_ms - _TRY_MS

    #   -------------------------------------------------------- leaving

    def _leave(self, place: Place) -> None:
        place.left = True
        if place.ready and not place.over:
            self.send(place, Letter(Kind.GOODBYE))

    def leave(self, now_ms: int, needs: Needs) -> None:
        """GOODBYE to all where no claim of what was held there may be open.
        Protocol 9.20: Silence."""
        for place in self._places:
            if not place.left and (
                    place.number >= self.current_number
                    or not self._is_used(place, now_ms, needs)):
                self._leave(place)

    def _is_to_be_left(self, place: Place, now_ms: int, needs: Needs) -> bool:
        """Whether it is needed no more; that takes a look at all locks."""
        if place.number >= self.current_number or now_ms < place.look_ms:
            return False
        place.look_ms = now_ms + _LOOK_MS
        return not self._is_used(place, now_ms, needs)

    #   -------------------------------------------------------- time

    def _alive(self) -> Iterator[Place]:
        return (place for place in self._places
                if not place.over and not place.left)

    def tick(self, now_ms: int, needs: Needs, is_idle: bool) -> None:
        """Says what is due; ``is_idle``: nothing is asked for."""
        for place in self._alive():
            if self._is_to_be_left(place, now_ms, needs):
                self._leave(place)
            elif not place.ready:
                if place.number == self.number \
                        and now_ms - place.sent_ms >= _REGISTER_MS:
                    self._say_register(place, now_ms)
            elif now_ms >= place.next_lease(is_idle):
                self._say_lease(place, now_ms)

    def deadline(self, deadline_ms: int, is_idle: bool) -> int:
        """When tick is due, and not after ``deadline_ms``."""
        for place in self._alive():
            if place.ready:
                deadline_ms = min(deadline_ms, place.next_lease(is_idle))
            elif place.number == self.number:
                deadline_ms = min(deadline_ms, place.sent_ms + _REGISTER_MS)
            if place.number < self.current_number:
                deadline_ms = min(deadline_ms, place.look_ms)
        return deadline_ms
