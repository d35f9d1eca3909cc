#   test_ruby.py - what the client in Ruby says to a server that is silent
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   The server is the test; tests/clients/ruby/remote.rb has the client.

import collections
import os
import pathlib
import subprocess
import tempfile
import unittest

import zmq

from lockkeeper._frame import Message, decode, encode

CLIENT = pathlib.Path(__file__).parent.parent / "clients/ruby"
HANG_S = 60


def has_ruby():
    try:
        return subprocess.run(["ruby", "-e", "require 'ffi-rzmq'"],
                              stderr=subprocess.DEVNULL,
                              check=False).returncode == 0
    except OSError:
        return False


@unittest.skipUnless(has_ruby(), "there is no ruby-ffi-rzmq")
class Registering(unittest.TestCase):
    """Its router answers, its lock service does not."""

    def setUp(self):
        context = zmq.Context()
        context.linger = 0
        self.addCleanup(context.destroy)
        self.router = context.socket(zmq.ROUTER)
        public, self.router.curve_secretkey = zmq.curve_keypair()
        self.router.curve_server = True
        port = self.router.bind_to_random_port("tcp://127.0.0.1")
        with tempfile.NamedTemporaryFile("w", delete=False) as file:
            own = [key.decode() for key in zmq.curve_keypair()]
            file.write(f"client\n    public-key = \"{own[0]}\"\n"
                       f"    secret-key = \"{own[1]}\"\n    server = "
                       f"\"tcp://127.0.0.1:{port} {public.decode()}\"\n")
        self.addCleanup(os.unlink, file.name)
        child = subprocess.Popen(
            [CLIENT / "driver"], stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(os.environ, LOCKKEEPER_CLIENT=file.name))
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)

    def hear(self):
        """What it says next; READY answers REGISTER."""
        self.assertTrue(self.router.poll(1000 * HANG_S), "it says no more")
        sender, frame = self.router.recv_multipart()
        for message in decode(frame):
            if message.command == "REGISTER":
                self.router.send_multipart([sender, encode(Message(
                    message.sender, "router@h", "READY", message.serial,
                    {"host": "h"}))])
            yield message

    def test_repeats(self):
        """LOCKREGISTER is said again ahead of the next registration"""
        said = collections.Counter()
        while 3 not in said.values():
            said.update(message.body["registration"] for message in self.hear()
                        if message.command == "LOCKREGISTER")
            self.assertLess(len(said), 5)
