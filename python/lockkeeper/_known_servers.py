#   _known_servers.py - servers that a session may use, and which comes first
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Those of the client file, and those that a server tells of: what
src/client/known_servers.c does. Time comes with the calls; _servers.py
connects. The order: what was tried least since one is sought; what stops or
left the cluster's list last; then by location domain, from the own one up;
then by how soon it answers, or as the file says."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from typing import List, Optional, Tuple

from . import _domain
from ._client_file import LISTED, NEAREST, ClientFile, ClientServer
from ._lease import NEVER

KNOWN_MAX = 128
TOLD_MAX = 64  # servers of one list

_AGAIN_MS = 1000  # until the same one is tried again
_QUICK_MS = 100  # ... of several behind one address, at first
_QUICK_TRIES = 8  # ... so often
_NEARER_MS = 10_000  # ... for being nearer alone
_MOVED_MS = 30_000  # who stops comes last for so long
_FORGET_MS = 600_000  # what left the list is kept so long


@dataclass(eq=False)
class KnownServer:
    """One of them. Whoever connects writes what is about trying, and
    ``why``."""

    number: int  # never another one's
    endpoint: str
    key: str
    domain: str  # empty: not known
    lot: float  # drawn, for a random order
    is_of_file: bool
    other: str = ""  # of the same server, tried in turn with it
    is_gone: bool = False  # the last list lacks it, ...
    gone_ms: int = NEVER  # ... since then
    moved_ms: int = NEVER  # it said last that it stops
    answer_ms: int = -1  # how soon it answers; -1: not known
    tries: int = 0  # since a server is sought
    begun_ms: int = NEVER  # it was tried last
    is_tried: bool = False  # it is being
    is_used: bool = False  # connected with: is not forgotten
    why: str = ""  # it was no use, ...
    is_denied: bool = False  # ... for our credential does not count

    def answered(self, took_ms: int) -> None:
        """It took so long to answer."""
        self.is_gone = False
        self.answer_ms = took_ms if self.answer_ms < 0 \
            else (self.answer_ms + took_ms) // 2

    def moved(self, now_ms: int) -> None:
        """It stops, or has no room."""
        self.moved_ms = now_ms

    def turn(self) -> None:
        """Goes over to its other endpoint, if it has one."""
        if self.other:
            self.endpoint, self.other = self.other, self.endpoint

    def is_last(self, now_ms: int) -> bool:
        """Whether it stops, or left the list."""
        return self.is_gone or now_ms - self.moved_ms < _MOVED_MS

    def update(self, row: ClientServer) -> None:
        """Where it is now."""
        if row.endpoint not in (self.endpoint, self.other):
            if self.is_of_file:
                self.other = row.endpoint
            else:
                self.endpoint = row.endpoint
        if row.domain or not self.is_of_file:
            self.domain = row.domain
        if self.is_gone:
            self.is_gone = False
            self.begun_ms = self.moved_ms = NEVER


class KnownServers:
    """All of them."""

    def __init__(self, file: ClientFile,
                 chance: Optional[random.Random] = None) -> None:
        self.all: List[KnownServer] = []
        self._chance = chance or random.Random()
        self._next_number = 0
        self._order, self._domain = file.order, file.domain
        self._limit = file.limit
        for server in file.servers:
            self._add(server, True)

    def _add(self, row: ClientServer,
             is_of_file: bool) -> Optional[KnownServer]:
        if len(self.all) == KNOWN_MAX:
            return None
        server = KnownServer(self._next_number, row.endpoint, row.key,
                             row.domain, self._chance.random(), is_of_file)
        self._next_number += 1
        self.all.append(server)
        return server

    def find(self, number: int) -> Optional[KnownServer]:
        """That one, unless it is forgotten."""
        for server in self.all:
            if server.number == number:
                return server
        return None

    def settle(self, vain: int = -1) -> None:
        """All begin anew, but for the one of that number, which was tried in
        vain."""
        for server in self.all:
            server.tries = int(server.number == vain)

    #   -------------------------------------------------------- a list

    def _forget(self, now_ms: int) -> None:
        """Room for one more: without the one that has been gone longest."""
        gone = [server for server in self.all
                if server.is_gone and not server.is_of_file
                and not server.is_used and not server.is_tried]
        if gone:
            oldest = min(gone, key=lambda server: server.gone_ms)
            if len(self.all) == KNOWN_MAX \
                    or now_ms - oldest.gone_ms >= _FORGET_MS:
                self.all.remove(oldest)

    def _known_as(self, row: ClientServer,
                  is_single: bool) -> Optional[KnownServer]:
        same = [server for server in self.all if server.key == row.key]
        for server in same:
            if row.endpoint in (server.endpoint, server.other):
                return server
        return same[0] if is_single and len(same) == 1 else None

    def told(self, rows: List[ClientServer], now_ms: int) -> None:
        """The list of those that are there now. A server is known by its key,
        unless several have that: then by key and address."""
        rows = rows[:TOLD_MAX]
        keys = Counter(row.key for row in rows)
        there = []
        for row in rows:
            server = self._known_as(row, keys[row.key] == 1)
            if server is not None:
                server.update(row)
            else:
                self._forget(now_ms)
                server = self._add(row, False)
            there.append(server)
        for server in self.all:
            if server not in there and not server.is_gone:
                server.is_gone, server.gone_ms = True, now_ms

    #   -------------------------------------------------------- the order

    def step(self, server: KnownServer) -> int:
        """At which step by domain it comes."""
        return _domain.step(self._domain, server.domain)

    @property
    def race(self) -> bool:
        """Whether the first of those that are as near is the one that answers
        soonest."""
        return self._order == NEAREST

    def rank(self, server: KnownServer) -> Tuple[int, float, int]:
        """Less: it comes earlier."""
        turn = 0.0 if self._order == LISTED else server.lot
        if self._order == NEAREST:
            turn = server.answer_ms if server.answer_ms >= 0 \
                else float("inf")
        return self.step(server), turn, server.number

    def _best(self, among: List[KnownServer],
              now_ms: int) -> Optional[KnownServer]:
        def rank(server: KnownServer) -> Tuple[object, ...]:
            return (server.tries, server.is_last(now_ms),
                    *self.rank(server))
        return min(among, key=rank) if among else None

    #   -------------------------------------------------------- choosing

    def objection(self, server: KnownServer) -> str:
        """Why the limit does not allow to use it; empty: it does."""
        if _domain.is_within(self._limit, server.domain):
            return ""
        if server.domain:
            return f"it is in {server.domain}, outside of " \
                f"'client/domain-limit' {self._limit}"
        return "its location domain is not known, and " \
            f"'client/domain-limit' is {self._limit}"

    def share(self, server: KnownServer) -> bool:
        """Whether there are others behind the same address."""
        return sum(other.endpoint == server.endpoint
                   for other in self.all) > 1

    def _is_ripe(self, server: KnownServer, now_ms: int) -> bool:
        """What is not known to be outside may be asked where it is."""
        is_quick = server.tries < _QUICK_TRIES and self.share(server)
        again_ms = _QUICK_MS if is_quick else _AGAIN_MS
        return not server.is_tried and now_ms - server.begun_ms >= again_ms \
            and not (server.domain and self.objection(server))

    def next(self, now_ms: int) -> Optional[KnownServer]:
        """Which one to try now; none: those left were tried just now, or are
        outside of the limit. Any of those behind its address: what shares
        connections out goes round as we would, and might never meet the key
        that is tried."""
        ripe = [server for server in self.all
                if self._is_ripe(server, now_ms)]
        best = self._best(ripe, now_ms)
        if best is None:
            return None
        return self._chance.choice([server for server in ripe
                                    if server.endpoint == best.endpoint])

    def nearer(self, than: KnownServer,
               now_ms: int) -> Optional[KnownServer]:
        """One that is nearer than that by its domain, and may well be had."""
        step = self.step(than)
        if step == 0:
            return None
        return self._best(
            [server for server in self.all
             if self.step(server) < step
             and not server.is_last(now_ms)
             and now_ms - server.begun_ms >= _NEARER_MS
             and self._is_ripe(server, now_ms)], now_ms)
