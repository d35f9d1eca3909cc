#   test_newcomers.py - a connection that does not get on is closed
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

import contextlib
import socket

from world import Case, endpoint

HOSTS = 1

#   ZMTP 3.0 without keys: the greeting, READY of a DEALER, and the begin of a
#   frame of a megabyte.
GREETING = (b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0")
            + bytes(32))
READY = b"\x04\x1c\x05READY\x0bSocket-Type\0\0\0\x06DEALER"
HALF = b"\x02" + (1 << 20).to_bytes(8, "big") + b"LK"


def meet(more=b""):
    """A connection that has shaken hands, and says that."""
    end = socket.socket(socket.AF_UNIX)
    end.settimeout(90)
    end.connect(endpoint("h1")[len("ipc://"):])
    end.sendall(GREETING + READY + more)
    return end


class Newcomers(Case):
    """Beside a session that says nothing, either."""

    def test_closed(self):
        """one that says nothing, and one that says half a message"""
        lock = self.session.lock(self.name)
        lock.acquire()
        token = lock.token
        ends = [meet(), meet(HALF)]
        for end in ends:
            self.assertIn(b"READY", self.read_all(end))
        self.assertTrue(lock.held)
        self.assertEqual(lock.token, token)
        lock.release()

    def read_all(self, end):
        """All that the router says before it hangs up."""
        said = b""
        with end, contextlib.suppress(ConnectionResetError):
            while part := end.recv(4096):
                said += part
        return said
