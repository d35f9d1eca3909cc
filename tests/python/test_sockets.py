#   test_sockets.py - pyzmq speaks with each of our sockets
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   The router's two ROUTERs by a DEALER; the DEALERs of a router that dials,
#   of the library and of the lock service by a ROUTER.

import os
import re
import subprocess
import tempfile
import time

import zmq

from lockkeeper._frame import Message, decode, encode
from world import SANDBOX, Case, cli, endpoint, within

HOSTS = 1

HANG_S = 60


class Sockets(Case):
    """Messages as lockkeeper-protocol(7) has them."""

    def setUp(self):
        super().setUp()
        self.context = zmq.Context()
        self.context.linger = 0  # of those, too, that Python collects
        self.addCleanup(self.context.destroy)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def dealer(self, address, **keys):
        """Is connected there."""
        socket = self.context.socket(zmq.DEALER)
        for name, value in keys.items():
            setattr(socket, name, value)
        socket.connect(address)
        return socket

    def router(self, address):
        """Is bound there."""
        socket = self.context.socket(zmq.ROUTER)
        socket.bind(address)
        return socket

    def hear(self, socket, command):
        """The next message of that command, and whose it is."""
        end = time.monotonic() + HANG_S
        while True:
            left = max(0, end - time.monotonic())
            self.assertTrue(socket.poll(int(1000 * left)), command)
            *sender, frame = socket.recv_multipart()
            for message in decode(frame):
                if message.command == command:
                    return sender, message

    def start(self, program, *options):
        """A daemon or the command, ended with the test."""
        child = subprocess.Popen(
            [os.path.join(os.environ["BUILD"], program), *options],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        return child

    def party(self, name):
        """A host, as CONNECT tells of it."""
        return {"host": name, "address": "127.0.0.1:1", "version": "1",
                "incarnation": "00000000000000aa"}

    def keys(self):
        """Those of the router of h1: so it finds itself."""
        with open(f"{SANDBOX}/h1/keys", encoding="ascii") as file:
            public, secret = re.search(
                r'public-key = "(.{40})"\n *secret-key = "(.{40})"',
                file.read()).groups()
        return {"curve_publickey": public.encode(),
                "curve_secretkey": secret.encode(),
                "curve_serverkey": public.encode()}

    def registered(self):
        """A DEALER that is, and where h1 listens for other hosts."""
        socket = self.dealer(endpoint("h1"))
        socket.send(encode(Message("router@.", "raw@.", "REGISTER", 1, {
            "service": "raw", "version": "1", "pid": os.getpid(),
            "application": True, "subscribe": []})))
        ready = self.hear(socket, "READY")[1]
        self.assertEqual(ready.text("host"), "h1")
        return socket, f"tcp://{ready.text('address')}"

    def test_processes(self):
        """the router's, for processes of the host"""
        socket, _address = self.registered()
        socket.send(encode(Message("lock@.", "raw@h1", "LOCK", 2,
                                   {"object": self.name})))
        self.assertEqual(self.hear(socket, "LOCKED")[1].serial, 2)

    def test_hosts(self):
        """the router's, for other hosts; not without a key, nor as another"""
        hello = encode(Message("router@.", "router@h9", "CONNECT", 1,
                               self.party("h9")))
        _socket, address = self.registered()
        stranger = self.dealer(address)
        stranger.send(hello)
        friend = self.dealer(address, **self.keys())
        friend.send(hello)
        refusal = self.hear(friend, "REFUSE")[1]
        self.assertEqual(refusal.text("reason"),
                         "its key is that of another host")
        self.assertFalse(stranger.poll(200))

    def test_dialling(self):
        """a router's that dials"""
        socket = self.router("tcp://127.0.0.1:*")
        address = f"ipc://{self.folder.name}/router"
        port = socket.last_endpoint.rpartition(b":")[2].rstrip(b"\0").decode()
        self.start("lockkeeper-router", "--host=h8", "--config=/dev/null",
                   "--listen=tcp://127.0.0.1:*",
                   f"--endpoint={address}", f"--neighbour=127.0.0.1:{port}")
        sender, message = self.hear(socket, "CONNECT")
        self.assertEqual(message.text("host"), "h8")
        socket.send_multipart([*sender, encode(Message(
            "router@h8", "router@h7", "REFUSE", message.serial,
            {"reason": "not today", **self.party("h7")}))])
        self.assertTrue(within(HANG_S, lambda: "not today" in cli(
            "status", "--endpoint", address)[1]))

    def test_library(self):
        """the library's"""
        address = f"ipc://{self.folder.name}/router"
        socket = self.router(address)
        child = self.start("lockkeeper", "list", "--endpoint", address)
        sender, message = self.hear(socket, "REGISTER")
        self.assertEqual(message.number("pid"), child.pid)
        socket.send_multipart([*sender, encode(Message(
            message.sender, "router@h6", "REFUSE", message.serial,
            {"reason": "not today"}))])
        self.assertIn("not today", child.communicate(timeout=60)[0])

    def test_lock_service(self):
        """the lock service's"""
        address = f"ipc://{self.folder.name}/router"
        socket = self.router(address)
        self.start("lockkeeper-lockd", "--config=/dev/null",
                   f"--endpoint={address}", f"--state={self.folder.name}",
                   f"--run={self.folder.name}")
        _sender, message = self.hear(socket, "REGISTER")
        self.assertEqual(message.text("service"), "lock")
