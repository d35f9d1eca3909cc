#   _servers.py - the hosts of a cluster that a machine without a router uses
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Connects with those that are wanted, two at a time, and hangs up on those
that are not needed any more: what src/client/servers.c does. It knows no lock;
_far.py says when another server is wanted, and what is said to which."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from typing import Any, Callable, Iterator, List, Optional, Tuple

import zmq

from . import _link
from ._attach import READY, REFUSED, Attach
from ._client_file import ClientFile, ClientServer
from ._frame import Message
from ._lease import FOREVER
from ._link import Keys, Link
from ._places import NEVER

_TRIED_MAX = 2  # at a time
_TRY_MS = 1000  # until the next one is tried, too
_AGAIN_MS = 1000  # until the same one is tried again
_LOOK_MS = 50  # while one is tried
_SILENT_MS = 2000  # what does not answer for so long is dialled anew
_IDLE_MS = 5000  # nothing was said to it for so long: hang up
_SEEK_MS = 500  # one that ended the connection is sought that often
_LINGER_MS = 500

_UNKNOWN = "it does not know our key"
_DENIED = "it has another key than we know, or is no server of clients"


class Connection(Attach):
    """With one server, as long as it is wanted."""

    def __init__(self, name: str, endpoint: str, link: Link,
                 now_ms: int) -> None:
        super().__init__(name, [endpoint], now_ms, seek_ms=_SEEK_MS)
        self.link = link
        self.rounds = 0  # it was dialled in vain so often
        self.why = "it does not answer"
        self._heard: List[Message] = []

    def on_message(self, message: Message, now_ms: int) -> None:
        self._heard.append(message)

    def on_refused(self, now_ms: int) -> None:
        self.why = f"the router refused: {self.refusal}"

    @property
    def is_up(self) -> bool:
        """Whether it can be spoken with."""
        return self.state == READY

    def _note_end(self) -> None:
        if self.link.was_up:
            self.why = "it does not answer"
        elif self.link.ended_by == zmq.EVENT_HANDSHAKE_FAILED_AUTH:
            self.why = _UNKNOWN
        elif self.link.ended_by == zmq.EVENT_CLOSED:
            self.why = "connection refused"
        else:
            self.why = _DENIED

    def work(self, now_ms: int) -> List[Message]:
        """Reads all that is there."""
        for word, frame in self.link.read():
            if word == _link.UP:
                self.connected(now_ms)
            elif word == _link.DOWN:
                if not self.is_up:
                    self._note_end()
                    self.rounds += 1
                self.disconnected(now_ms)
            else:
                self.receive(frame, now_ms)
        self.tick(now_ms)
        heard, self._heard = self._heard, []
        return heard

    def flush(self, now_ms: int) -> None:
        """What is to be sent leaves now. A name may have addresses of two
        kinds, which are tried in turn."""
        if self.reopen:
            self.reopen = False
            ipv6 = "[" in self.endpoint or self.rounds % 2 == 1
            if not self.link.open(self.endpoint, ipv6):
                self.disconnected(now_ms)
        for frame in self.take_frames():
            self.link.send(frame)


@dataclass
class Server:
    """One of the file."""

    place: int
    about: ClientServer
    connection: Optional[Connection] = None
    rounds: int = 0  # that were in vain when it was tried
    is_tried: bool = False
    begun_ms: int = NEVER  # it was tried last
    said_ms: int = NEVER  # something was said to it last, ...
    asked_ms: int = NEVER  # ... or first since it was heard; NEVER
    why: str = ""  # it was no use

    @property
    def is_up(self) -> bool:
        """Whether it can be spoken with."""
        return self.connection is not None and self.connection.is_up

    def is_in_vain(self, now_ms: int) -> bool:
        """Whether to try it is no use."""
        return self.connection is None or self.connection.state == REFUSED \
            or self.connection.rounds != self.rounds \
            or now_ms - self.begun_ms >= _TRIED_MAX * _TRY_MS


class Servers:
    """All of them. ``name``: that all of them know us by."""

    def __init__(self, file: ClientFile, name: str) -> None:
        self._pid = os.getpid()
        self._context: "zmq.Context[Any]" = zmq.Context(io_threads=1)
        self._file = file
        self._name = name
        self._before_close: Optional[Callable[[], None]] = None
        self._all = [Server(place, about)
                     for place, about in enumerate(file.servers)]
        first = random.randrange(len(self._all)) if file.is_random else 0
        self._last = (first - 1) % len(self._all)  # that was tried
        self._begun_ms = NEVER
        self._is_wanted = False  # one is, as was said last

    #   -------------------------------------------------------- connections

    def _new_link(self, server: Server) -> Link:
        return Link(self._context, Keys(
            self._file.public_key, self._file.secret_key, server.about.key))

    def _connections(self) -> List[Connection]:
        return [server.connection for server in self._all
                if server.connection is not None]

    def _hang_up(self, server: Server, now_ms: int) -> None:
        connection, server.connection = server.connection, None
        server.is_tried = False
        if connection is not None:
            linger_ms = _LINGER_MS if connection.is_up else 0
            connection.leave()
            connection.reopen = False
            connection.flush(now_ms)
            connection.link.close_socket(linger_ms)

    def _dial(self, server: Server, now_ms: int) -> None:
        connection = Connection(self._name, server.about.endpoint,
                                self._new_link(server), now_ms)
        if self._before_close is not None:
            connection.link.before_close = self._before_close
        connection.flush(now_ms)
        server.connection, server.asked_ms = connection, NEVER

    #   -------------------------------------------------------- choosing

    def _try(self, server: Server, now_ms: int) -> None:
        """A connection that nobody answers on may be one that only we believe
        in. One that is not there yet goes on to be tried."""
        if server.is_up and server.asked_ms != NEVER \
                and now_ms - server.asked_ms >= _SILENT_MS:
            self._hang_up(server, now_ms)
        server.begun_ms = server.said_ms = now_ms
        if server.connection is None:
            self._dial(server, now_ms)
        assert server.connection is not None
        server.is_tried = True
        server.rounds = server.connection.rounds

    def _pick(self, now_ms: int) -> Optional[Server]:
        """Behind the one that was tried last; none if all were tried just
        now."""
        count = len(self._all)
        for at in range(1, count + 1):
            server = self._all[(self._last + at) % count]
            if not server.is_tried \
                    and now_ms - server.begun_ms >= _AGAIN_MS:
                self._last = server.place
                return server
        return None

    def _count_tried(self, now_ms: int) -> int:
        """How many are tried; those that are in vain are no more. Our key may
        be known the next time where we were refused."""
        for server in self._all:
            connection = server.connection
            if server.is_tried and connection is not None \
                    and not server.is_up and server.is_in_vain(now_ms):
                server.why = connection.why
                server.is_tried = False
                if connection.state == REFUSED:
                    self._hang_up(server, now_ms)
        return sum(server.is_tried for server in self._all)

    def _hang_up_idle(self, latest: int, now_ms: int) -> None:
        for server in self._all:
            if server.connection is not None and not server.is_tried \
                    and server.place != latest \
                    and now_ms - server.said_ms >= _IDLE_MS:
                self._hang_up(server, now_ms)

    def choose(self, is_wanted: bool, latest: int, now_ms: int) -> int:
        """Connects with another one if one is wanted, behind that which was
        tried last, and returns one that is to be registered with now, or -1.
        ``latest`` is used, or -1."""
        self._is_wanted = is_wanted
        self._hang_up_idle(latest, now_ms)
        if not is_wanted:
            for server in self._all:
                server.is_tried = False
            return -1
        tried = self._count_tried(now_ms)
        if tried == 0 or (tried < _TRIED_MAX
                          and now_ms - self._begun_ms >= _TRY_MS):
            chosen = self._pick(now_ms)
            if chosen is not None:
                self._begun_ms = now_ms
                self._try(chosen, now_ms)
        for server in self._all:
            if server.is_tried and server.is_up:
                server.is_tried = False
                server.said_ms = now_ms
                return server.place
        return -1

    def note(self, place: int, why: str) -> None:
        """It is no use for that reason; empty: it is."""
        self._all[place].why = why

    def problem(self) -> str:
        """Why none of them can be had, each by name."""
        whys = []
        for server in self._all:
            why = server.why
            if server.connection is not None and not server.is_up:
                why = server.connection.why
            elif server.connection is not None:
                why = why or "its lock service does not answer"
            if why:
                whys.append(f"'{server.about.endpoint}': {why}")
        return "no server serves us: " + "; ".join(whys)

    #   -------------------------------------------------------- to and fro

    def host(self, place: int) -> str:
        """The name of that host; empty: not known yet."""
        connection = self._all[place].connection
        return connection.host if connection is not None else ""

    def is_up(self, place: int) -> bool:
        """Whether it is connected."""
        return self._all[place].is_up

    def send(self, place: int, message: Message, now_ms: int) -> None:
        """Says that to it, or not: what matters is repeated."""
        server = self._all[place]
        if server.connection is not None and server.is_up:
            server.said_ms = now_ms
            if server.asked_ms == NEVER:
                server.asked_ms = now_ms
            server.connection.say(message)

    def work(self, now_ms: int) -> Iterator[Tuple[int, Message]]:
        """Reads all that is there: which of them said it, and what."""
        for server in self._all:
            if server.connection is not None:
                for message in server.connection.work(now_ms):
                    server.asked_ms = NEVER
                    yield server.place, message

    def flush(self, now_ms: int) -> None:
        """What is to be sent leaves now."""
        for connection in self._connections():
            connection.flush(now_ms)

    def descriptors(self) -> List[int]:
        """To sleep on, as those of a link."""
        return [number for connection in self._connections()
                for number in connection.link.descriptors()]

    def is_idle(self) -> bool:
        """Whether nothing more can be read now."""
        return all(connection.link.is_idle()
                   for connection in self._connections())

    def watch(self, before_close: Callable[[], None]) -> None:
        """That is to be called ahead of closing any descriptor."""
        self._before_close = before_close
        for connection in self._connections():
            connection.link.before_close = before_close

    def deadline(self, now_ms: int) -> int:
        """When there is something to be done at the latest."""
        due_ms = now_ms + _LOOK_MS if self._is_wanted else FOREVER
        return min([due_ms] + [connection.deadline()
                               for connection in self._connections()])

    def close(self, now_ms: int) -> None:
        """Takes leave of all; in a child of their process it does nothing."""
        if os.getpid() != self._pid:
            return
        for server in self._all:
            self._hang_up(server, now_ms)
        self._before_close = None
        self._file.secret_key = ""
        self._context.term()
