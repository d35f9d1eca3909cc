#   _roam.py - an application on another machine: what it asks and believes
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""What is said of locks to which server, and until when they are believed in,
as lockkeeper-protocol(7), 9.20 has it: what src/client/roam_lock.c does. Takes
the time (a boot clock that goes on while the machine sleeps), what servers say
and what its user wants, and makes letters to send and news for its user. Knows
no socket, reads no clock and chooses no server."""

from __future__ import annotations

import enum
import heapq
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Tuple

from ._lease import FOREVER, NEVER
from ._places import Kind, Letter, Place, Places

_REPEAT_MS = 400  # until LOCK or UNLOCK is said again
_IDLE_MS = 400  # whether a server is wanted is asked so often


class News(enum.Enum):
    """What has become of a lock."""

    GRANTED = enum.auto()  # LOCKED, for the first time
    GOES_ON = enum.auto()  # ... again, elsewhere
    LOST = enum.auto()  # was held: its time is over, or nobody knows of it
    REFUSED = enum.auto()  # was waited for
    DONE = enum.auto()  # was given back: the lock is no more
    ANEW = enum.auto()  # a set that waits: has another serial from now on
    TURNED = enum.auto()  # a change of type is made
    NOT_TURNED = enum.auto()  # ... has failed, and it is held as before


class State(enum.Enum):
    """Of a lock that was asked for."""

    WAITS = enum.auto()
    HELD = enum.auto()
    GIVES = enum.auto()  # UNLOCK is said until it is answered


@dataclass(eq=False)
class RoamLock:
    """A lock that was asked for."""

    serial: int
    user: Any
    number: int  # of the registration that it is asked of, or given back to
    is_static: bool = False  # once held it needs no lease, and does not move
    is_set: bool = False  # one that waits begins anew elsewhere
    state: State = State.WAITS
    token: int = 0
    turn: int = 0  # change of type under way; 0: none
    turned: int = 0  # the latest that is over
    doubtful: bool = False  # held, and claimed of a later registration: ...
    floor_ms: int = NEVER  # ... believed till then, and no longer
    told_by: int = 0  # ... the one that told LOCKED last
    moved_from: int = 0  # the registration that the present claim is from ...
    claimed_ms: int = NEVER  # ... since then; NEVER: nothing is claimed
    sent_ms: int = NEVER
    said: bool = False  # LOCK, to some server
    over: bool = False  # given back, but for what it was before
    later: "Optional[RoamLock]" = None  # it is what that set was before it
    #                                     began anew, and is given back
    earlier: int = 0  # how many of these there are
    look_ms: int = FOREVER  # something is to be said, or is over, maybe

    @property
    def is_kept(self) -> bool:
        """Whether it needs nobody."""
        return self.is_static and self.state is State.HELD

    @property
    def has_to_be_said(self) -> bool:
        """Nothing is said of what is held and told, but that it is to be of
        another type."""
        return not self.over and (self.state is not State.HELD
                                  or self.doubtful or self.turn != 0)


class Roam:
    """``letters`` are to be sent, ``news`` to be told; sets that begin anew
    take a ``next_serial``."""

    def __init__(self, next_serial: Callable[[], int], lease_ms: int) -> None:
        self.places = Places(lease_ms)
        self.letters = self.places.letters
        self.news: List[Tuple[RoamLock, News]] = []
        self.locks: Dict[int, RoamLock] = {}  # by serial
        self._next_serial = next_serial
        self._lease_ms = lease_ms
        self._looks: List[Tuple[int, int, RoamLock]] = []
        self._look_count = 0

    #   -------------------------------------------------------- belief

    def until(self, lock: RoamLock) -> int:
        """Until when it believes in what it holds, whatever its duration is;
        FOREVER: it is static. A lock that was claimed of a later registration
        is believed as long as then. Protocol 9.20: Claims."""
        if lock.state is not State.HELD:
            return NEVER
        if lock.is_static:
            return FOREVER
        if lock.doubtful:
            return lock.floor_ms
        place = self.places.find(lock.told_by)
        return place.until_ms if place is not None else NEVER

    def _tell(self, lock: RoamLock, news: News) -> None:
        self.news.append((lock, news))

    #   -------------------------------------------------------- needs

    def _is_moving(self, lock: RoamLock, now_ms: int) -> bool:
        """Whether its place in a queue may still be that of an earlier
        registration: a claim of one that waits has no answer of its own."""
        return lock.claimed_ms != NEVER \
            and now_ms - lock.claimed_ms < self._lease_ms

    def _needs(self, number: int, now_ms: int) -> bool:
        """Whether a lock is asked of that registration, or believed in by its
        word, or may have its place there."""
        return any(self._lock_needs(lock, number, now_ms)
                   for lock in self.locks.values())

    def _lock_needs(self, lock: RoamLock, number: int, now_ms: int) -> bool:
        if lock.is_kept or lock.over:
            return False
        return lock.number == number \
            or (lock.doubtful and lock.told_by <= number) \
            or (lock.state is State.WAITS and lock.moved_from <= number
                and self._is_moving(lock, now_ms))

    #   -------------------------------------------------------- looks

    def _look_later(self, lock: RoamLock) -> None:
        """A lease goes on for many at once: what it was when a lock was looked
        at is the least."""
        at_ms = lock.sent_ms + _REPEAT_MS if lock.has_to_be_said else FOREVER
        if lock.state is State.HELD:
            at_ms = min(at_ms, self.until(lock))
        lock.look_ms = at_ms
        if at_ms != FOREVER:
            self._look_count += 1
            heapq.heappush(self._looks, (at_ms, self._look_count, lock))

    def _next_look(self) -> int:
        while self._looks:
            at_ms, _, lock = self._looks[0]
            if lock.look_ms == at_ms:
                return at_ms
            heapq.heappop(self._looks)
        return FOREVER

    def _look_at_due(self, now_ms: int) -> None:
        while self._next_look() <= now_ms:
            lock = heapq.heappop(self._looks)[2]
            lock.look_ms = FOREVER
            self._look_at(lock, now_ms)

    def _look_at(self, lock: RoamLock, now_ms: int) -> None:
        """A lock that is over stays lost, and is given back.
        Protocol 9.20: Lease by message."""
        if lock.state is State.HELD and now_ms >= self.until(lock):
            self._tell(lock, News.LOST)
            self.give_back(lock, now_ms)
        elif lock.has_to_be_said and now_ms - lock.sent_ms >= _REPEAT_MS:
            self._say(lock, now_ms)
        else:
            self._look_later(lock)

    #   -------------------------------------------------------- saying

    def _say(self, lock: RoamLock, now_ms: int) -> None:
        place = self.places.find(lock.number)
        lock.sent_ms = now_ms
        self._look_later(lock)
        if place is None or not place.ready or place.over \
                or not lock.has_to_be_said:
            return
        if lock.state is State.GIVES:
            self.places.send(place, Letter(
                Kind.UNLOCK, serial=lock.serial, lock=lock))
        elif lock.state is State.WAITS or lock.doubtful:
            self._say_lock(lock, place, now_ms)
            lock.said = True
        else:
            self.places.send(place, Letter(
                Kind.LOCK, serial=lock.serial, lock=lock, turn=lock.turn))

    def _say_lock(self, lock: RoamLock, place: Place, now_ms: int) -> None:
        letter = Letter(Kind.LOCK, serial=lock.serial, lock=lock, sent=now_ms,
                        asked_before=lock.claimed_ms != NEVER)
        if lock.state is State.HELD:
            letter.token = lock.token
            letter.left_ms = lock.floor_ms - now_ms
            if letter.left_ms <= 0:
                return
        self.places.send(place, letter)

    #   -------------------------------------------------------- wishes

    def register(self, server: int, now_ms: int) -> None:
        """Registers with that server, maybe once more: from when that is ready
        on, all is asked of it."""
        given_up = self.places.register(server, now_ms, self._needs)
        for lock in self.locks.values():
            if given_up and lock.told_by == given_up:
                self._look_later(lock)

    def ask(self, serial: int, user: Any, now_ms: int, *,
            is_static: bool = False, is_set: bool = False) -> RoamLock:
        """Asks for a lock."""
        lock = RoamLock(serial, user, self.places.current_number,
                        is_static, is_set)
        self.locks[serial] = lock
        self._say(lock, now_ms)
        return lock

    def may_turn(self, lock: RoamLock) -> bool:
        """Whether a held lock can be of another type: its server alone knows
        what is static. Protocol 9.20: Not moved."""
        return not lock.is_kept or lock.number == self.places.current_number

    def turn(self, lock: RoamLock, turn: int, now_ms: int) -> bool:
        """A held lock is to be of another type: LOCK says so, from when it is
        not claimed any more until it is told. A later turn takes the place of
        one that is under way. False: the server that has a static lock is
        left."""
        if not self.may_turn(lock):
            return False
        if turn > max(lock.turn, lock.turned):
            lock.turn = turn
            self._say(lock, now_ms)
        return True

    def give_back(self, lock: RoamLock, now_ms: int) -> None:
        """UNLOCK is said from now on; a static lock is given back to any
        server."""
        if lock.state is State.GIVES:
            return
        if lock.is_kept:
            lock.number = self.places.current_number
        lock.state = State.GIVES
        lock.doubtful = False
        lock.turn = 0
        self._say(lock, now_ms)

    def leave(self, now_ms: int) -> None:
        """Its user ends. Nothing is believed in then."""
        self.places.leave(now_ms, self._needs)

    def wants_server(self, now_ms: int) -> bool:
        """Whether another server is to be tried now."""
        return self.places.wants_server(now_ms)

    #   -------------------------------------------------------- claims

    def _end_turn(self, lock: RoamLock, news: News) -> None:
        lock.turned, lock.turn = lock.turn, 0
        self._look_later(lock)
        self._tell(lock, news)

    def _begin_anew(self, lock: RoamLock, now_ms: int) -> None:
        """A set that waits holds some of its names at the former server, which
        does not pass them on. Protocol 9.20: Sets."""
        former = RoamLock(lock.serial, lock.user, self.places.current_number,
                          lock.is_static, lock.is_set, State.GIVES,
                          later=lock)
        self.locks[former.serial] = former
        lock.earlier += 1
        lock.serial = self._next_serial()
        self.locks[lock.serial] = lock
        lock.number = self.places.current_number
        lock.said = False
        self._say(former, now_ms)
        self._tell(lock, News.ANEW)
        self._say(lock, now_ms)

    def _claim(self, lock: RoamLock, now_ms: int) -> None:
        """From now on nobody else's answer counts for it.
        Protocol 9.20: Claims."""
        if lock.state is State.WAITS and lock.said and lock.is_set:
            self._begin_anew(lock, now_ms)
            return
        if lock.state is State.HELD:
            lock.floor_ms = self.until(lock)
            lock.doubtful = True
        if lock.said:
            if not self._is_moving(lock, now_ms):
                lock.moved_from = lock.number
            lock.claimed_ms = now_ms
        lock.number = self.places.current_number
        self._say(lock, now_ms)

    def _claim_all(self, now_ms: int) -> None:
        """The present registration is a later one: all is claimed there."""
        for lock in list(self.locks.values()):
            if lock.number >= self.places.current_number:
                continue
            if not lock.is_kept:
                self._claim(lock, now_ms)
            elif lock.turn != 0:
                self._end_turn(lock, News.NOT_TURNED)

    #   -------------------------------------------------------- hearing

    def hear(self, letter: Letter, now_ms: int) -> None:
        """A server has said something."""
        self._look_at_due(now_ms)
        place = self.places.of(letter)
        if place is None:
            return
        if letter.kind is Kind.READY:
            if self.places.ready(place, letter, now_ms):
                self._claim_all(now_ms)
        elif letter.kind is Kind.LEASE:
            self.places.leased(place, letter, now_ms)
        elif letter.kind is Kind.UNKNOWN:
            place.over = True
        elif letter.kind is Kind.MOVE:
            self.places.move_on(place, now_ms)
        else:
            self._hear_of_lock(place, letter, now_ms)

    def _hear_of_lock(self, place: Place, letter: Letter,
                      now_ms: int) -> None:
        lock = self.locks.get(letter.serial)
        #   Protocol 9.20: Claims.
        if lock is None or lock.number != place.number:
            return
        if letter.kind is Kind.LOCKED:
            self._hear_locked(lock, place, letter, now_ms)
        elif lock.state is State.GIVES:
            if letter.kind is Kind.UNLOCKED:
                self._hear_unlocked(lock)
        elif letter.kind is Kind.FAILED:
            self._hear_failed(lock, letter, now_ms)

    def _hear_locked(self, lock: RoamLock, place: Place, letter: Letter,
                     now_ms: int) -> None:
        """Not without a lease of that very registration."""
        if place.over or place.until_ms <= now_ms:
            return
        if lock.state is State.GIVES:
            self._say(lock, now_ms)
        elif lock.state is State.WAITS:
            self._note_grant(lock, place, letter)
            self._look_later(lock)
            self._tell(lock, News.GRANTED)
        elif not self._is_its_grant(lock, letter):
            return
        elif lock.doubtful:
            self._note_grant(lock, place, letter)
            self._say(lock, now_ms)
            self._tell(lock, News.GOES_ON)
        elif lock.turn != 0 and letter.turn == lock.turn:
            lock.token = letter.token
            self._end_turn(lock, News.TURNED)

    @staticmethod
    def _note_grant(lock: RoamLock, place: Place, letter: Letter) -> None:
        lock.state = State.HELD
        lock.doubtful = False
        lock.token = letter.token
        lock.told_by = place.number
        lock.claimed_ms = NEVER

    @staticmethod
    def _is_its_grant(lock: RoamLock, letter: Letter) -> bool:
        """A change of type may have been made, though nobody heard of it."""
        changed = lock.turn != 0 or lock.turned != 0
        return letter.token == lock.token \
            or (changed and letter.token > lock.token)

    def _forget(self, lock: RoamLock) -> None:
        lock.look_ms = FOREVER
        del self.locks[lock.serial]

    def _hear_unlocked(self, lock: RoamLock) -> None:
        """The lock is no more when all that it was before is given back,
        too."""
        if lock.later is not None:
            self._forget(lock)
            lock = lock.later
            lock.earlier -= 1
        else:
            lock.over = True
            lock.look_ms = FOREVER
        if lock.over and lock.earlier == 0:
            self._tell(lock, News.DONE)
            self._forget(lock)

    def _hear_failed(self, lock: RoamLock, letter: Letter,
                     now_ms: int) -> None:
        if letter.turn == 0:
            self._tell(lock, News.LOST if lock.state is State.HELD
                       else News.REFUSED)
            self.give_back(lock, now_ms)
        elif lock.state is State.HELD and not lock.doubtful \
                and letter.turn == lock.turn:
            self._end_turn(lock, News.NOT_TURNED)

    #   -------------------------------------------------------- time

    def tick(self, now_ms: int) -> None:
        """Time passes."""
        self._look_at_due(now_ms)
        self.places.tick(now_ms, self._needs, not self.locks)

    def deadline(self, now_ms: int) -> int:
        """When tick is due at the latest."""
        due_ms = self.places.deadline(
            min(now_ms + _IDLE_MS, self._next_look()), not self.locks)
        return max(due_ms, now_ms + 1)
