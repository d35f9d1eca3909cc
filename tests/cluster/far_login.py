#   far_login.py - who logs in from another machine, and who issues
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Run by far_login.sh, whose host h1 serves. Tells its cases as TAP. The issuers
are services that issue nonsense."""

import os
import re
import sys
import threading
import time

import zmq

from far_client import HANG_S, Client

WORK, NET = os.environ["WORK"], os.environ["NET"]
CASES = {"count": int(os.environ["CASES"]), "bad": 0}
PASSWORD = "correct horse"


def check(title, holds, told=""):
    """A case; what is not so tells what was there."""
    CASES["count"] += 1
    if holds:
        print(f"ok {CASES['count']} - {title}", flush=True)
        return
    CASES["bad"] += 1
    print(f"not ok {CASES['count']} - {title}\n# {told}", flush=True)


class Issuer:
    """A service of a host that knows one zone."""

    def __init__(self, host, zone):
        self.zone = zone
        self.asked = []
        self.is_over = False
        self.bus = Client(f"ipc://{WORK}/{host}/router", name="issuer")
        self.answer = self.bus.enter(pid=os.getpid(), application=False)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        """Answers."""
        while not self.is_over:
            message = self.bus.hear(0.1)
            if not message or message.command not in ("LOGIN", "RENEW"):
                continue
            body = message.body
            self.asked.append(body)
            answer = "LOGINFAILED", {"error": "unknown", "reason": "not here"}
            if body["zone"] == self.zone:
                answer = "LOGINFAILED", {"error": "denied", "reason": "wrong"}
                if body.get("password") == PASSWORD:
                    answer = "LOGIN", {"credential": "by " + self.zone}
            self.bus.say(answer[0], answer[1], message.sender, message.serial)

    def close(self):
        """It has ended."""
        self.is_over = True
        self.thread.join()
        self.bus.say("UNREGISTER", None, "router@.")
        self.bus.socket.linger = 1000
        self.bus.close()


def server_key():
    """h1's."""
    with open(f"{WORK}/h1/state/clients-keys", encoding="utf-8") as keys:
        return re.search(r'public-key = "(.*)"', keys.read()).group(1)


KEYS = tuple(key.decode() for key in zmq.curve_keypair())


def log_in(one, zone="lab", password=PASSWORD):
    """LOGIN, and what is answered; not too many a second."""
    time.sleep(0.2)
    serial = one.say("LOGIN", {"zone": zone, "user": "ann",
                               "password": password}, "router@.")
    return one.await_("LOGIN", "LOGINFAILED", "INVALID", serial=serial)


def is_answered(one, command, zone="lab", **fields):
    """Until it is: a host hears a moment later of others' services."""
    until = time.monotonic() + HANG_S
    while True:
        answer = log_in(one, zone)
        if answer and answer.command == command and all(
                answer.body.get(name) == value
                for name, value in fields.items()):
            return True
        if time.monotonic() > until:
            print("#", answer)
            return False


def main():
    """All of it."""
    one = Client(f"tcp://{NET}.1:7412", server_key(), KEYS, "one")
    check("nobody issues", is_answered(one, "LOGINFAILED", error="unknown"))
    there = Issuer("h2", "lab")
    check("a service of h2 does", there.answer.command == "READY")
    check("which is asked", is_answered(one, "LOGIN", credential="by lab"))
    asked = there.asked[-1]
    check("with key and address of the connection", asked == {
        "zone": "lab", "user": "ann", "password": PASSWORD, "key": KEYS[0],
        "address": "127.0.0.1"}, asked)
    answer = log_in(one, password="wrong")
    check("it refuses", answer.command == "LOGINFAILED"
          and answer.body == {"error": "denied", "reason": "wrong"}, answer)
    here = Issuer("h1", "office")
    check("one of this host is asked first",
          is_answered(one, "LOGIN", "office", credential="by office"))
    count = len(there.asked)
    check("and the other one not then",
          is_answered(one, "LOGIN", "office", credential="by office")
          and len(there.asked) == count, there.asked)
    check("but for another zone",
          is_answered(one, "LOGIN", "lab", credential="by lab"))
    answer = log_in(one, "nowhere")
    check("one that none issues for", answer.command == "LOGINFAILED"
          and answer.text("error") == "unknown", answer)
    answer = log_in(one, "lab", "x" * 1024)
    check("a password that is too long", answer.command == "LOGINFAILED"
          and answer.text("error") == "invalid", answer)
    false = Client(f"ipc://{WORK}/h2/router", name="issuer")
    there.close()
    answer = false.enter(pid=os.getpid(), application=True)
    check("no application is called so", answer.command == "REFUSE", answer)
    check("one that has left is not asked",
          is_answered(one, "LOGINFAILED", "lab", error="unknown"))
    serial = one.say("RENEW", {}, "router@.")
    answer = one.await_("LOGINFAILED", "INVALID", serial=serial)
    check("who has no session renews nothing",
          answer.command == "INVALID", answer)
    here.close()
    for each in (one, false):
        each.close()
    return CASES["bad"] > 0


sys.exit(main())
