#   login_router.py - a router that other machines log in to, and no more
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""For tests/cluster/cli_login.sh: login_router.py LOG. Prints its endpoint and
key, and writes what it hears, without passwords, to LOG. User and password
`right` of the zone `corp` get a credential; the user `slow` is to come again,
`late` finds an authority that is silent, all others are denied. The line of
LOG.refusal, if there is one, is what REFUSE says."""

import ctypes
import ctypes.util
import os
import secrets
import sys
import time

import zmq
import zmq.auth.thread

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../python"))
from lockkeeper import _frame  # noqa: E402
from lockkeeper._frame import Message  # noqa: E402

SODIUM = ctypes.CDLL(ctypes.util.find_library("sodium"))
FAILURES = {
    "slow": {"error": "overloaded", "reason": "too many wrong passwords",
             "wait": 30},
    "late": {"error": "timedout", "reason": "the authority does not answer"},
    "lost": {"error": "unknown", "reason": "nobody issues for that zone"}}
DENIED = {"error": "denied", "reason": "zone, user or password is wrong"}


class Issuer:
    """A pair that signs."""

    def __init__(self):
        self.public = ctypes.create_string_buffer(32)
        self.secret = ctypes.create_string_buffer(64)
        SODIUM.crypto_sign_keypair(self.public, self.secret)

    def issue(self, user, key, left_s):
        """A line of that client."""
        now = int(time.time())
        line = " ".join(map(str, [
            "lockkeeper-credential-1", "corp", user, "operator", key, now,
            now + left_s, now, secrets.token_hex(8),
            self.public.raw.hex()])) + " "
        signature = ctypes.create_string_buffer(64)
        SODIUM.crypto_sign_detached(
            signature, None, line.encode(),
            ctypes.c_ulonglong(len(line)), self.secret)
        return line + signature.raw.hex()


def answer(issuer, message, key, refusal):
    """The answer to that."""
    body = message.body or {}
    if message.command == "REGISTER":
        if refusal or "credential" not in body:
            return "REFUSE", {"reason": refusal or "log in first"}
        return "READY", {"host": "h1", "zone": "corp", "user": "right",
                         "role": "operator", "credential_left": 3600}
    if message.command == "LOCKLIST":
        #   As a session of a zone of its own is told.
        return "LOCKLIST", {"tickets": [
            {"object": "one", "state": "held", "since_ms": 5000,
             "type": "exclusive", "user": "right", "own": True},
            {"object": "two", "state": "held", "since_ms": 5000,
             "type": "shared", "owner": "far-1-backup"}]}
    if message.command == "RENEW":
        return "LOGIN", {"credential": issuer.issue("right", key, 7200)}
    if message.command != "LOGIN":
        return None, None
    if body["zone"] == "corp" and body["user"] == body["password"] == "right":
        return "LOGIN", {"credential": issuer.issue("right", key, 3600)}
    if body["user"] == "stolen":
        return "LOGIN", {"credential": issuer.issue(
            "right", zmq.curve_keypair()[0].decode(), 3600)}
    return "LOGINFAILED", FAILURES.get(body["user"], DENIED)


def refusal_of(log):
    """The answer that it is told to give, if any."""
    try:
        with open(log + ".refusal", encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


def main(log):
    """Serves until it is ended."""
    issuer, context = Issuer(), zmq.Context()
    auth = zmq.auth.thread.ThreadAuthenticator(context)
    auth.start()
    auth.configure_curve(domain="*", location=zmq.auth.CURVE_ALLOW_ANY)
    public, secret = zmq.curve_keypair()
    socket = context.socket(zmq.ROUTER)
    socket.linger = 0
    socket.curve_server = True
    socket.curve_publickey, socket.curve_secretkey = public, secret
    port = socket.bind_to_random_port("tcp://127.0.0.1")
    print(f"tcp://127.0.0.1:{port} {public.decode()}", flush=True)
    while True:
        identity, frame = socket.recv_multipart(copy=False)
        #   The user of CURVE_ALLOW_ANY is the client's key.
        key = frame.get("User-Id")
        for message in _frame.decode(frame.bytes):
            command, body = answer(issuer, message, key, refusal_of(log))
            with open(log, "a", encoding="utf-8") as file:
                told = sorted(set(message.body or {}) - {"password"})
                print(message.command, *told, file=file)
            if command:
                service = message.to.partition("@")[0]
                socket.send_multipart([identity.bytes, _frame.encode(Message(
                    message.sender, service + "@h1", command, message.serial,
                    body))])


main(sys.argv[1])
