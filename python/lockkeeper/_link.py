#   _link.py - the connection with a router
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""A DEALER socket, and its monitor, which says when it is up and when it is
over; to that of another host encrypted. It connects once: a new try is a new
socket, so that nothing that was meant for one router reaches the next. Belongs
to one process; whoever shares it among threads has a mutex."""

from __future__ import annotations

import errno
import os
import socket
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, List, Optional, Tuple

import zmq

from .errors import Invalid

UP, DOWN = "up", "down"
_UP = zmq.EVENT_HANDSHAKE_SUCCEEDED
_DOWN = (zmq.EVENT_DISCONNECTED | zmq.EVENT_CLOSED
         | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
         | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
         | zmq.EVENT_HANDSHAKE_FAILED_AUTH)
_IPC = "ipc://"
_LINGER_MS = 500
_PATH_MAX = 107


def check_endpoint(endpoint: str) -> str:
    """An endpoint of this host: the clock and the lease page of another one
    mean nothing here."""
    if not endpoint.startswith(_IPC) or endpoint == _IPC:
        raise Invalid(f"'{endpoint}' is no endpoint of the kind ipc://PATH")
    if len(os.fsencode(endpoint)) - len(_IPC) > _PATH_MAX:
        raise Invalid(f"cannot connect to '{endpoint}': file name too long")
    return endpoint


def probe(endpoint: str) -> int:
    """0, or the errno of why nobody can connect there."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as knock:
        knock.settimeout(0)
        try:
            knock.connect(endpoint[len(_IPC):])
        except OSError as error:
            return 0 if error.errno == errno.EAGAIN else error.errno or 0
    return 0


def _do_nothing() -> None:
    pass


@dataclass(frozen=True)
class Keys:
    """By which another host is connected with: CURVE, in Z85."""

    public: str
    secret: str = field(repr=False)
    server: str


class Link:
    """At most one connection at a time, by ``context`` or by one of its
    own."""

    def __init__(self, context: "Optional[zmq.Context[Any]]" = None,
                 keys: Optional[Keys] = None) -> None:
        self._pid = os.getpid()
        self._owns = context is None
        self._context = context or zmq.Context(io_threads=1)
        self._keys = keys
        #: Whether the connection was up; and the event that ended it before.
        self.was_up = False
        self.ended_by = 0
        self._socket: Any = None
        self._monitor: Any = None
        #: Called ahead of closing what ``descriptors`` are of.
        self.before_close: Callable[[], None] = _do_nothing

    def open(self, endpoint: str, connect_ms: int = 0,
             ipv6: bool = False) -> bool:
        """Begins to connect; UP or DOWN follows, DOWN if it takes longer than
        ``connect_ms`` (0: as long as the kernel tries). False if that cannot
        be now, since there are no descriptors for example."""
        self.close_socket(0)
        self.was_up, self.ended_by = False, 0
        try:
            self._open(endpoint, connect_ms, ipv6)
        except zmq.ZMQError:
            self.close_socket(0)
            return False
        return True

    def _open(self, endpoint: str, connect_ms: int, ipv6: bool) -> None:
        dealer = self._context.socket(zmq.DEALER)
        self._socket = dealer
        if self._keys is not None:
            dealer.setsockopt(zmq.CURVE_PUBLICKEY, self._keys.public.encode())
            dealer.setsockopt(zmq.CURVE_SECRETKEY, self._keys.secret.encode())
            dealer.setsockopt(zmq.CURVE_SERVERKEY, self._keys.server.encode())
            dealer.setsockopt(zmq.IPV6, int(ipv6))
        dealer.setsockopt(zmq.CONNECT_TIMEOUT, connect_ms)
        dealer.setsockopt(zmq.LINGER, _LINGER_MS)
        dealer.setsockopt(zmq.RECONNECT_IVL, -1)
        dealer.setsockopt(zmq.SNDHWM, 0)
        dealer.setsockopt(zmq.RCVHWM, 0)
        self._monitor = dealer.get_monitor_socket(_UP | _DOWN)
        dealer.connect(endpoint)

    def descriptors(self) -> List[int]:
        """To sleep on. They wake by edges: after each look at it all has to
        be read."""
        return [part.getsockopt(zmq.FD)
                for part in (self._socket, self._monitor) if part is not None]

    def read(self) -> Iterator[Tuple[str, bytes]]:
        """All that has come: frames (with an empty word), UP and DOWN. What
        was received comes ahead of an end."""
        words = self._read_monitor()
        if UP in words:
            yield UP, b""
        while self._socket is not None:
            try:
                parts = self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                break
            if len(parts) == 1:
                yield "", parts[0]
        if DOWN in words:
            self.close_socket(0)
            yield DOWN, b""

    def _read_monitor(self) -> List[str]:
        words = []
        while self._monitor is not None:
            try:
                parts = self._monitor.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                break
            number = int.from_bytes(parts[0][:2], "little")
            self.was_up |= bool(number & _UP)
            if number & _DOWN and not self.was_up:
                self.ended_by = self.ended_by or number
            words.append(UP if number & _UP else DOWN)
        return words

    def is_idle(self) -> bool:
        """Whether nothing more can be read now."""
        return not any(part.getsockopt(zmq.EVENTS) & zmq.POLLIN
                       for part in (self._socket, self._monitor)
                       if part is not None)

    def send(self, frame: bytes) -> None:
        """Sends it, or not: what matters is repeated."""
        if self._socket is not None:
            try:
                self._socket.send(frame, zmq.NOBLOCK)
            except zmq.ZMQError:
                pass

    def close_socket(self, linger_ms: int) -> None:
        """Ends the connection; what was sent has so long to leave."""
        if self._socket is not None:
            self.before_close()
            if self._monitor is not None:
                self._socket.disable_monitor()
                self._monitor.close(0)
            self._socket.close(linger_ms)
        self._socket = self._monitor = None

    def close(self) -> None:
        """Ends all, within the linger; in a child it ends nothing."""
        if os.getpid() != self._pid:
            self._socket = self._monitor = None
            return
        self.close_socket(_LINGER_MS)
        self.before_close = _do_nothing  # else it would keep who is called
        if self._owns:
            self._context.term()
