#   _servers.py - the hosts of a cluster that a machine without a router uses
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Connects with those that are wanted, and hangs up on those that are not
needed any more: what src/client/servers.c does. It knows no lock; _far.py says
when another server is wanted, and what is said to which."""

from __future__ import annotations

import os
from typing import Any, Callable, Iterator, List, Optional, Tuple

import zmq

from . import _client_file, _domain, _link
from ._attach import READY, REFUSED, SEEKING, Attach
from ._client_file import ClientFile, ClientServer
from ._credential import CredentialFile
from ._frame import Message
from ._known_servers import KnownServer, KnownServers
from ._lease import FOREVER, NEVER
from ._link import Keys, Link

_LIST = "SERVERS"  # message

_TRIED_MAX = 2  # at a time
_SHARED_MAX = 4  # ... if there are several behind the address
_TRY_MS = 1000  # until the next one is tried, too
_RACE_MS = 100  # ... if it may answer sooner, and is as near
_LIST_MS = 100  # for a list that may tell of a nearer one
_LOOK_MS = 50  # while one is tried
_SILENT_MS = 2000  # what does not answer for so long is dialled anew
_IDLE_MS = 5000  # nothing was said to it for so long: hang up
_SEEK_MS = 500  # one that ended the connection is sought that often
_CONNECT_MS = 2000  # with one of its addresses
_LATE_MS = 1800  # the same, by a clock that may be another one
_AGREE_MS = 1000  # from then on until keys are agreed on
_LINGER_MS = 500

_MUTE = "it does not answer"
_UNKNOWN = "it does not know our key"
_DENIED = "it has another key than we know, or is no server of clients"


def _is_denied(refusal: str) -> bool:
    """Whether it is because of a credential, or for want of one."""
    return "credential" in refusal or refusal.startswith("log in first")


def read_list(message: Message) -> Optional[List[ClientServer]]:
    """Those that SERVERS tells of; none if it tells of none to us."""
    rows = (message.body or {}).get("servers")
    if not isinstance(rows, list):
        return None
    servers = []
    for row in rows:
        told = Message("", "", "", 0, row if isinstance(row, dict) else {})
        endpoint = f"tcp://{told.text('address')}"
        domain = told.text("domain")
        if _client_file.is_endpoint(endpoint) \
                and _client_file.is_key(told.text("key")):
            servers.append(ClientServer(
                endpoint, told.text("key"),
                domain if _domain.is_valid(domain) else ""))
    return servers


class Server(Attach):
    """A connection with one of them."""

    def __init__(self, name: str, about: KnownServer, link: Link,
                 now_ms: int, subscribe: List[str],
                 credential: Optional[CredentialFile] = None) -> None:
        super().__init__(name, [about.endpoint], now_ms, seek_ms=_SEEK_MS,
                         subscribe=subscribe, credential=credential)
        self.about = about
        self.link = link
        self.why = _MUTE
        self.dials = 0  # in vain
        self.dials_before = 0  # ... when it was tried
        self._opened = 0  # since it was up, ...
        self._opened_ms = NEVER  # ... the last time
        self.said_ms = NEVER  # something was said to it last, ...
        self.asked_ms = NEVER  # ... or first since it was heard; NEVER
        self.ready_ms = NEVER  # it was up first
        self.has_told = False  # ... and has told its list
        self.is_new = False  # ... just now
        self.is_double = False  # a later connection leads to the same host
        self._heard: List[Message] = []

    def on_ready(self, now_ms: int) -> None:
        self.ready_ms, self.has_told, self.is_new = now_ms, False, True
        self._opened = 0

    def on_message(self, message: Message, now_ms: int) -> None:
        self.asked_ms = NEVER
        self._heard.append(message)

    def on_refused(self, now_ms: int) -> None:
        self.why = f"the router refused: {self.refusal}"

    @property
    def is_up(self) -> bool:
        """Whether it can be spoken with."""
        return self.state == READY

    def _has_others(self) -> bool:
        return True

    def _note_end(self, now_ms: int) -> None:
        """libzmq ends a handshake that takes too long as it does one that is
        wrong."""
        is_late = now_ms - self._opened_ms >= _LATE_MS
        if self.link.was_up:
            self.why = _MUTE
        elif self.link.ended_by == zmq.EVENT_HANDSHAKE_FAILED_AUTH:
            self.why = _UNKNOWN
        elif self.link.ended_by == zmq.EVENT_CLOSED:
            self.why = "connection timed out" if is_late \
                else "connection refused"
        else:
            self.why = _MUTE if is_late else _DENIED

    def work(self, now_ms: int) -> List[Message]:
        """Reads all that is there."""
        for word, frame in self.link.read():
            if word == _link.UP:
                self.why = _MUTE
                self.connected(now_ms)
            elif word == _link.DOWN:
                if not self.is_up:
                    self._note_end(now_ms)
                    self.dials += 1
                self.disconnected(now_ms)
            else:
                self.receive(frame, now_ms)
        self.tick(now_ms)
        heard, self._heard = self._heard, []
        return heard

    @property
    def _is_name(self) -> bool:
        return not _client_file.is_numeric(self.endpoint)

    def redial(self, now_ms: int) -> None:
        """A name may have addresses of two kinds, which are tried in turn; one
        that has none is not told by an event."""
        if self.state == SEEKING and self._is_name \
                and now_ms - self._opened_ms >= _CONNECT_MS:
            self.reopen = True

    def _open(self, now_ms: int) -> None:
        ipv6 = "[" in self.endpoint \
            or (self._is_name and self._opened % 2 == 1)
        self._opened_ms = now_ms
        self._opened += 1
        if self.link.open(self.endpoint, _CONNECT_MS, ipv6):
            self._retry_ms = now_ms + _CONNECT_MS + _AGREE_MS
        else:
            self.disconnected(now_ms)

    def flush(self, now_ms: int) -> None:
        """What is to be sent leaves now."""
        if self.reopen:
            self.reopen = False
            self._open(now_ms)
        for frame in self.take_frames():
            self.link.send(frame)

    def close(self, now_ms: int) -> None:
        """Takes leave."""
        linger_ms = _LINGER_MS if self.is_up else 0
        self.leave()
        self.reopen = False
        self.flush(now_ms)
        self.link.close_socket(linger_ms)


class Servers:
    """All of them, by their numbers. ``name``: that all of them know us by."""

    def __init__(self, file: ClientFile, name: str) -> None:
        self._pid = os.getpid()
        self._context: "zmq.Context[Any]" = zmq.Context(io_threads=1)
        self._file = file
        self._name = name
        self._before_close: Optional[Callable[[], None]] = None
        self.known = KnownServers(file)
        self.credential = CredentialFile(file.credential)
        self._servers: List[Server] = []  # that are connected with
        self._shown_ms = NEVER  # another credential was shown last
        self._begun_ms = NEVER  # one was tried last, ...
        self._begun_step = 0  # ... which is so near
        self._is_wanted = False  # one is, as was said last, ...
        self._is_first = False  # ... and none was used before

    def _find(self, number: int) -> Optional[Server]:
        for server in self._servers:
            if server.about.number == number:
                return server
        return None

    #   -------------------------------------------------------- connections

    def _new_link(self, about: KnownServer) -> Link:
        return Link(self._context, Keys(
            self._file.public_key, self._file.secret_key, about.key))

    def _hang_up(self, server: Server, now_ms: int) -> None:
        server.about.is_tried = server.about.is_used = False
        self._servers.remove(server)
        server.close(now_ms)

    def _dial(self, about: KnownServer, now_ms: int) -> Server:
        link = self._new_link(about)
        if self._before_close is not None:
            link.before_close = self._before_close
        server = Server(self._name, about, link, now_ms,
                        [] if self._file.is_closed else [_LIST],
                        self.credential)
        about.is_used = True
        self._servers.append(server)
        return server

    def _come_up(self, server: Server) -> None:
        """A host knows one connection of that name, the last one."""
        server.is_new = False
        server.about.answered(server.answer_ms)
        for other in self._servers:
            if other is not server and other.is_up \
                    and other.host == server.host:
                other.is_double = True

    #   -------------------------------------------------------- trying

    def _try(self, about: KnownServer, now_ms: int) -> None:
        """A connection that nobody answers on may be one that only we believe
        in. One that is not there yet goes on to be tried."""
        server = self._find(about.number)
        if server is not None and server.is_up \
                and server.asked_ms != NEVER \
                and now_ms - server.asked_ms >= _SILENT_MS:
            self._hang_up(server, now_ms)
            server = None
        server = server or self._dial(about, now_ms)
        about.begun_ms = self._begun_ms = server.said_ms = now_ms
        self._begun_step = self.known.step(about)
        about.tries += 1
        about.is_tried = True
        server.dials_before = server.dials

    def _is_in_vain(self, server: Server, now_ms: int) -> bool:
        """Whether to try it is no use. Another connection with the same
        address may lead to a server that is better."""
        patience_ms = _TRY_MS if self.known.share(server.about) \
            else _TRIED_MAX * _TRY_MS
        return server.state == REFUSED \
            or server.dials != server.dials_before \
            or now_ms - server.about.begun_ms >= patience_ms

    def _end_trial(self, server: Server, now_ms: int) -> None:
        """It is dialled anew the next time if our key may be known there then,
        or another server be behind the address, or if it has another one. Its
        words may be of a former credential."""
        about = server.about
        if about.begun_ms >= self._shown_ms:
            about.why = server.why
            about.is_denied = _is_denied(server.refusal)
        about.is_tried = False
        if self.known.share(about) or about.other \
                or server.state == REFUSED:
            self._hang_up(server, now_ms)
        elif server.dials == server.dials_before:
            server.redial(now_ms)
        about.turn()

    def _count_tried(self, now_ms: int) -> int:
        """How many are tried; those that are in vain are no more."""
        tried = [server for server in self._servers
                 if server.about.is_tried and not server.is_up]
        vain = [server for server in tried
                if self._is_in_vain(server, now_ms)]
        for server in vain:
            self._end_trial(server, now_ms)
        return len(tried) - len(vain)

    def _hang_up_idle(self, latest: int, now_ms: int) -> None:
        for server in list(self._servers):
            is_idle = not server.about.is_tried \
                and server.about.number != latest \
                and now_ms - server.said_ms >= _IDLE_MS
            if server.is_double or is_idle:
                self._hang_up(server, now_ms)

    #   -------------------------------------------------------- choosing

    def _is_telling(self, server: Server, now_ms: int) -> bool:
        """Whether it may tell of one that is nearer any moment now: its list
        comes right behind READY."""
        return not server.has_told and not self._file.is_closed \
            and self.known.step(server.about) > 0 \
            and now_ms - server.ready_ms < _LIST_MS

    def _best_there(self, now_ms: int) -> Optional[Server]:
        best = None
        for server in self._servers:
            about = server.about
            if not about.is_tried or not server.is_up \
                    or self._is_telling(server, now_ms):
                continue
            objection = self.known.objection(about)
            if objection:
                about.why, about.is_tried = objection, False
            elif best is None or self.known.rank(about) \
                    < self.known.rank(best.about):
                best = server
        return best

    def _is_nearer(self, about: KnownServer, than: Server) -> bool:
        return self.known.step(about) < self.known.step(than.about)

    def _has_hope(self, best: Server, now_ms: int) -> bool:
        """Whether one that is nearer is being tried, and for the first
        time."""
        return any(
            server.about.is_tried and server.about.tries == 1
            and (not server.is_up or self._is_telling(server, now_ms))
            and self._is_nearer(server.about, best)
            and now_ms - server.about.begun_ms < _TRY_MS
            for server in self._servers)

    def _patience_ms(self, about: KnownServer) -> int:
        """How long that which is tried has before that one is, too. What has
        locks moves with many others, which had the same server, and has more
        time; but behind one address most tries are in vain."""
        is_race = (self._is_first or self.known.share(about)) \
            and self.known.race \
            and self.known.step(about) <= self._begun_step
        return _RACE_MS if is_race else _TRY_MS

    def _try_next(self, best: Optional[Server], now_ms: int) -> None:
        """Another one is wanted; ``best`` is there: then only one that is
        nearer."""
        tried = self._count_tried(now_ms)
        about = self.known.next(now_ms)
        if about is None or (best is not None and (
                about.tries > 0 or not self._is_nearer(about, best))):
            return
        tried_max = _SHARED_MAX if self.known.share(about) else _TRIED_MAX
        if tried == 0 or (tried < tried_max and now_ms - self._begun_ms
                          >= self._patience_ms(about)):
            self._try(about, now_ms)

    def _try_nearer(self, latest: int, now_ms: int) -> None:
        """One that is used is well: a nearer one may have come."""
        used = self.known.find(latest)
        if used is not None and self._count_tried(now_ms) == 0:
            nearer = self.known.nearer(used, now_ms)
            if nearer is not None:
                self._try(nearer, now_ms)

    def _turn(self, is_wanted: bool, latest: int) -> None:
        """What was tried is not needed any more, or is tried anew; the one
        that is used was, in vain."""
        self._is_wanted = is_wanted
        self._is_first = latest < 0
        self.known.settle(latest if is_wanted else -1)
        for about in self.known.all:
            about.is_tried = False

    def choose(self, is_wanted: bool, latest: int, now_ms: int) -> int:
        """Connects with another one if one is wanted, or there is a nearer
        one, and returns one that is to be registered with now, or -1.
        ``latest`` is used, or -1."""
        if is_wanted != self._is_wanted:
            self._turn(is_wanted, latest)
        self._hang_up_idle(latest, now_ms)
        if is_wanted:
            self._try_next(self._best_there(now_ms), now_ms)
        else:
            self._try_nearer(latest, now_ms)
        best = self._best_there(now_ms)
        if best is None or self._has_hope(best, now_ms):
            return -1
        best.about.is_tried = False
        best.said_ms = now_ms
        return best.about.number

    def note(self, number: int, why: str) -> None:
        """It is no use for that reason; empty: it is."""
        about = self.known.find(number)
        if about is not None:
            about.why, about.is_denied = why, False

    def note_move(self, number: int, now_ms: int) -> None:
        """It stops, or has no room."""
        about = self.known.find(number)
        if about is not None:
            about.why = "it stops, or serves as many as it can"
            about.is_denied = False
            about.moved(now_ms)

    def _why_not(self, about: KnownServer) -> str:
        server = self._find(about.number)
        objection = self.known.objection(about)
        if objection:
            return objection
        if server is not None and not server.is_up:
            return server.why
        if server is not None and not about.why:
            return "its lock service does not answer"
        return about.why

    def problem(self) -> str:
        """Why none of them can be had, each by name."""
        whys = [(about.endpoint, self._why_not(about))
                for about in self.known.all]
        return "no server serves us: " + "; ".join(
            f"'{endpoint}': {why}" for endpoint, why in whys if why)

    @property
    def deny_credential(self) -> bool:
        """Whether each of those of the client file has said that our
        credential does not count, or that one is needed: it is of no use to
        wait."""
        ours = [about for about in self.known.all if about.is_of_file]
        return bool(ours) and all(about.is_denied for about in ours)

    #   -------------------------------------------------------- credential

    def credential_ends_ms(self, number: int) -> int:
        """When that which the server knows ends."""
        server = self._find(number)
        return server.credential_ends_ms if server is not None else FOREVER

    def show_credential(self, now_ms: int) -> None:
        """Registers once more with all that are connected, by what the file
        has; what they all said of the former one counts no more."""
        self._shown_ms = now_ms
        for about in self.known.all:
            if about.is_denied:
                about.why, about.is_denied = "", False
        for server in self._servers:
            server.show_credential(now_ms)

    #   -------------------------------------------------------- to and fro

    def host(self, number: int) -> str:
        """The name of that host; empty: not known yet."""
        server = self._find(number)
        return server.host if server is not None else ""

    def is_up(self, number: int) -> bool:
        """Whether it is connected."""
        server = self._find(number)
        return server is not None and server.is_up

    def send(self, number: int, message: Message, now_ms: int) -> None:
        """Says that to it, or not: what matters is repeated."""
        server = self._find(number)
        if server is not None and server.is_up:
            server.said_ms = now_ms
            if server.asked_ms == NEVER:
                server.asked_ms = now_ms
            server.say(message)

    def _take_list(self, server: Server, message: Message,
                   now_ms: int) -> bool:
        """Whether it is the list of servers of the router there."""
        if self._file.is_closed or message.command != _LIST \
                or message.sender != f"router@{server.host}":
            return False
        server.has_told = True
        servers = read_list(message)
        if servers is not None:
            self.known.told(servers, now_ms)
        return True

    def work(self, now_ms: int) -> Iterator[Tuple[int, Message]]:
        """Reads all that is there: which of them said it, and what."""
        for server in list(self._servers):
            heard = server.work(now_ms)
            if server.is_new:
                self._come_up(server)
            for message in heard:
                if not self._take_list(server, message, now_ms):
                    yield server.about.number, message

    def flush(self, now_ms: int) -> None:
        """What is to be sent leaves now."""
        for server in self._servers:
            server.flush(now_ms)

    def descriptors(self) -> List[int]:
        """To sleep on, as those of a link."""
        return [number for server in self._servers
                for number in server.link.descriptors()]

    def is_idle(self) -> bool:
        """Whether nothing more can be read now."""
        return all(server.link.is_idle() for server in self._servers)

    def watch(self, before_close: Callable[[], None]) -> None:
        """That is to be called ahead of closing any descriptor."""
        self._before_close = before_close
        for server in self._servers:
            server.link.before_close = before_close

    def deadline(self, now_ms: int) -> int:
        """When there is something to be done at the latest."""
        is_tried = self._is_wanted or any(server.about.is_tried
                                          for server in self._servers)
        return min([now_ms + _LOOK_MS if is_tried else FOREVER]
                   + [server.deadline() for server in self._servers])

    def close(self, now_ms: int) -> None:
        """Takes leave of all; in a child of their process it does nothing."""
        if os.getpid() != self._pid:
            return
        for server in list(self._servers):
            self._hang_up(server, now_ms)
        self._before_close = None
        self._file.secret_key = ""
        self._context.term()
