#   zones_world.py - clusters, credentials and clients of zones
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Shared by zones_table.py, zones_same.py and zones_many.py, which zones.sh
runs. $LOCKKEEPER_SANDBOX is the cluster of three hosts, and $ALONE another one
of one host, with the zone red alone. They have one key of an issuer."""

import os
import re
import subprocess
import time

import zmq

import far_client
from far_client import Client

WORK, LOCKKEEPER = os.environ["WORK"], os.environ["LOCKKEEPER"]
CASES = {"count": int(os.environ["CASES"]), "bad": 0}
HANG_S = far_client.HANG_S = float(os.environ.get("HANG_S", "30"))
NOT_YOURS = "that is not yours to say"
ANOTHER_ZONE = "that is another zone"


def check(title, holds, told=""):
    """A case; what is not so tells what was there."""
    CASES["count"] += 1
    CASES["bad"] += not holds
    print(f"{'ok' if holds else 'not ok'} {CASES['count']} - {title}",
          flush=True)
    if not holds:
        print("# " + str(told).replace("\n", "\n# "), flush=True)


def await_(holds):
    """Whether it becomes so."""
    until = time.monotonic() + HANG_S
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def pair():
    """Of a machine. One that begins with '-' would be an option."""
    public = b"-"
    while public.startswith(b"-"):
        public, secret = zmq.curve_keypair()
    return public.decode(), secret.decode()


def issue(zone, user, role, public):
    """The line of a credential: no daemon is asked for it."""
    return subprocess.run(
        [LOCKKEEPER, "credential", "issue", "--issuer", f"{WORK}/issuer",
         "--zone", zone, "--user", user, "--role", role, "--ttl", "1h",
         "--key", public], env=dict(os.environ, LOCKKEEPER_ENDPOINT="none"),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        check=True).stdout.strip()


class Cluster:
    """One whose hosts have ports for other machines."""

    def __init__(self, folder):
        self.folder = folder
        said = self.run("h1", "clients", "list").stdout
        self.address = dict(re.findall(r"^server +(\S+) +tcp://(\S+)", said,
                                       re.M))

    def run(self, host, *arguments):
        """lockkeeper as on that host."""
        return subprocess.run(
            [LOCKKEEPER, *arguments], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False, env=dict(
                os.environ,
                LOCKKEEPER_ENDPOINT=f"ipc://{self.folder}/{host}/router"))

    def client(self, keys, name="one", host="h1", source=""):
        """A connection, from the address `source`."""
        with open(f"{self.folder}/{host}/clients-keys",
                  encoding="utf-8") as text:
            key = re.search(r'public-key = "(.*)"', text.read()).group(1)
        return Client(f"tcp://{source}{self.address[host]}", key, keys, name)

    def enter(self, line, keys, name="one", host="h1"):
        """One with that credential, which is there."""
        one = self.client(keys, name, host)
        one.ready = one.enter(credential=line) if line else one.enter()
        return one

    def come(self, zone, user="alice", role="user", host="h1", name="one"):
        """The same, with keys of its own."""
        keys = pair()
        one = self.enter(issue(zone, user, role, keys[0]), keys, name, host)
        if one.ready is None or one.ready.command != "READY":
            raise RuntimeError(f"{zone} {user} {role}: {one.ready}")
        return one

    def local(self, name="local", admin=False):
        """A process of h1, that is root's or the router's user's."""
        path = f"{self.folder}/h1/router{'-admin' if admin else ''}"
        one = Client(f"ipc://{path}", name=f"{name}-{os.getpid()}")
        one.ready = one.enter(pid=os.getpid())
        return one


def hear_one(one, serial, wait_s=HANG_S):
    """The answer to that serial, whatever it is."""
    until = time.monotonic() + wait_s
    while time.monotonic() < until:
        message = one.hear(max(0, until - time.monotonic()))
        if message and message.serial == serial:
            return message
    return None


def reason_of(message):
    """Its text for people."""
    return (message.text("reason") or message.text("text")) if message else ""
