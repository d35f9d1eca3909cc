#   far_client.py - an application on another machine, by bare messages
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""For tests/cluster/far.sh: one that says what it is told to, honest or not,
over a port of applications on other machines. lockkeeper-protocol(7), 9.20."""

import os
import secrets
import sys
import time

import zmq
import zmq.utils.z85

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../python"))
from lockkeeper import _frame  # noqa: E402
from lockkeeper._frame import Message  # noqa: E402

HANG_S = 30  # what takes longer hangs


def clock_ms():
    """A clock that goes on while the machine sleeps."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000000


class Client:
    """A connection, and who it says it is."""

    def __init__(self, endpoint, server_key=None, pair=None, name="one"):
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.linger = 0
        self.socket.reconnect_ivl = 50
        if server_key:
            self.socket.curve_serverkey = server_key.encode()
            self.socket.curve_publickey = pair[0].encode()
            self.socket.curve_secretkey = pair[1].encode()
        self.pair = pair
        self.name = self.name_of(name)
        self.address = self.name + "@."
        self.serial = 0
        self.clocks = []
        self.secret = secrets.randbits(64), secrets.randbits(64)
        self.registered = {}
        self.kept = []
        self.socket.connect(endpoint)

    def name_of(self, name):
        """By the rule: what its key makes of that."""
        if not self.pair:
            return name
        raw = zmq.utils.z85.decode(self.pair[0].encode())
        return f"far-{raw[:8].hex()}-{name}"

    def close(self):
        """Its connection, and nothing else."""
        self.socket.close()

    def say(self, command, body=None, to="lock@.", serial=None, sender=None):
        """One message; the serial."""
        if serial is None:
            self.serial += 10
            serial = self.serial
        try:
            self.socket.send(_frame.encode(Message(
                to, sender or self.address, command, serial, body)),
                zmq.DONTWAIT)
        except zmq.Again:
            pass  # it was refused: libzmq does not connect again
        return serial

    def hear(self, wait_s=HANG_S):
        """The next message; None: none in that time."""
        if not self.kept and self.socket.poll(wait_s * 1000):
            self.kept = list(_frame.decode(self.socket.recv()))
        return self.kept.pop(0) if self.kept else None

    def await_(self, *commands, wait_s=HANG_S, serial=None):
        """The next of these; others are skipped."""
        until = time.monotonic() + wait_s
        while time.monotonic() < until:
            message = self.hear(max(0, until - time.monotonic()))
            if message and message.command in commands \
                    and serial in (None, message.serial):
                return message
        return None

    def is_mute(self, wait_s):
        """Nothing comes of what it says."""
        return self.hear(wait_s) is None

    #   ------------------------------------------------ the router

    def enter(self, name=None, wait_s=HANG_S, **more):
        """REGISTER: what is answered; None: nothing."""
        name = name or self.name
        self.say("REGISTER", dict(
            {"service": name, "version": "9", "pid": 4711,
             "application": True}, **more), "router@.", sender=name + "@.")
        answer = self.await_("READY", "REFUSE", "INVALID", wait_s=wait_s)
        if answer and answer.command == "READY":
            self.name = name
            self.address = f"{name}@{answer.text('host')}"
        return answer

    #   ------------------------------------------------ the lock service

    def register(self, number=1, lease=5000, wait_s=1.0):
        """LOCKREGISTER, until it is taken."""
        until = time.monotonic() + HANG_S
        while time.monotonic() < until:
            self.say("LOCKREGISTER", {
                "registration": number, "lease": lease, "sent": self.clock(),
                "secret": _frame.write_hex(self.secret[0]),
                "secret2": _frame.write_hex(self.secret[1])})
            answer = self.await_("LOCKREGISTER", "LOCKMOVE", "LOCKFAILED",
                                 wait_s=wait_s)
            if answer and answer.number("registration") == number:
                break
        if answer and answer.command == "LOCKREGISTER":
            self.registered = {"registration": number,
                               "drawn": answer.text("drawn")}
        return answer

    def ask(self, command, **fields):
        """Of the registration that it has."""
        serial = fields.pop("serial", None)
        return self.say(command, dict(self.registered, **fields),
                        serial=serial)

    def clock(self):
        """The time, as it is said."""
        self.clocks.append(clock_ms())
        return self.clocks[-1]

    def lease(self, wait_s=HANG_S):
        """LOCKLEASE, and its answer."""
        self.ask("LOCKLEASE", sent=self.clock())
        return self.await_("LOCKLEASE", "LOCKUNREGISTERED", "LOCKMOVE",
                           wait_s=wait_s)

    def lock(self, name, **fields):
        """LOCK, and its answer."""
        wait_s = fields.pop("wait_s", HANG_S)
        serial = self.ask("LOCK", **dict(
            {"object": name, "type": "exclusive", "wait": -1, "pid": 4711},
            **fields))
        return self.await_("LOCKED", "LOCKFAILED", "LOCKUNREGISTERED",
                           serial=serial, wait_s=wait_s)

    def unlock(self, request):
        """UNLOCK of what was asked by that serial."""
        serial = self.ask("UNLOCK", request=request)
        return self.await_("UNLOCKED", "LOCKFAILED", "LOCKUNREGISTERED",
                           serial=serial)
