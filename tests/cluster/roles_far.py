#   roles_far.py - credentials of applications on other machines
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Run by roles.sh in its sandbox: h1 has a port for them. Tells its cases as
TAP."""

import ctypes
import ctypes.util
import os
import re
import secrets
import subprocess
import sys
import time

import zmq

from far_client import HANG_S, Client

WORK, LOG = os.environ["WORK"], os.environ["LOG"]
SANDBOX = os.environ["LOCKKEEPER_SANDBOX"]
CASES = {"count": int(os.environ["CASES"]), "bad": 0}
SODIUM = ctypes.CDLL(ctypes.util.find_library("sodium"))


def check(title, holds, told=""):
    """A case; what is not so tells what was there."""
    CASES["count"] += 1
    CASES["bad"] += not holds
    print(f"{'ok' if holds else 'not ok'} {CASES['count']} - {title}",
          flush=True)
    if not holds:
        print(f"# {told}", flush=True)


def await_(holds):
    """Whether it becomes so."""
    until = time.monotonic() + HANG_S
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def logged(text):
    """Whether the router says so."""
    with open(LOG, encoding="utf-8") as log:
        return text in log.read()


class Issuer:
    """One who signs."""

    def __init__(self):
        self.public = ctypes.create_string_buffer(32)
        self.secret = ctypes.create_string_buffer(64)
        SODIUM.crypto_sign_keypair(self.public, self.secret)
        self.key = self.public.raw.hex()

    def sign(self, pair, zone="red", user="alice", role="user",
             begins=-10, ends=600, serial=None):
        """A credential: seconds from now."""
        # pylint: disable=too-many-arguments
        now = int(time.time())
        line = " ".join([
            "lockkeeper-credential-1", zone, user, role, pair[0],
            str(now + begins), str(now + ends), "0",
            serial or secrets.token_hex(8), self.key]) + " "
        mark = ctypes.create_string_buffer(64)
        SODIUM.crypto_sign_detached(mark, None, line.encode(),
                                    ctypes.c_ulonglong(len(line)), self.secret)
        return line + mark.raw.hex()


def settings(text):
    """Puts these into force on all hosts."""
    path = f"{WORK}/settings"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return subprocess.run(
        [os.environ["LOCKKEEPER"], "settings", "edit", path],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False)


def find_server():
    """Where h1 is found, and by which key."""
    with open(f"{SANDBOX}/h1/clients-keys", encoding="utf-8") as keys:
        key = re.search(r'public-key = "(.*)"', keys.read()).group(1)
    said = subprocess.run(
        [os.environ["LOCKKEEPER"], "clients", "list"], stdout=subprocess.PIPE,
        text=True, check=True).stdout
    address = re.search(r"^server +h1 +tcp://(\S+)", said, re.M)
    return "tcp://" + (address.group(1) if address else ""), key, said


def pair():
    """Of a machine."""
    public, secret = zmq.curve_keypair()
    return public.decode(), secret.decode()


def main():
    """All of it."""
    issuer, stranger = Issuer(), Issuer()
    mine, other = pair(), pair()
    zones = f'zones\n    zone = red\n    zone = blue\n' \
            f'    issuer = "red {issuer.key}"\n'
    done = settings(zones)
    check("the settings have zones", done.returncode == 0, done.stdout)
    endpoint, key, said = find_server()
    check("h1 has a port", endpoint != "tcp://", said)

    def comes(line=None, keys=mine, name="one"):
        """The answer to one who shows that, once it is let in."""
        until = time.monotonic() + HANG_S
        while time.monotonic() < until:
            one = Client(endpoint, key, keys, name)
            answer = one.enter(wait_s=2, **({"credential": line} if line
                                            else {}))
            if answer:
                return one, answer
            one.close()
        return None, None

    def refused(title, line, reason, keys=mine):
        """Not that one."""
        _, answer = comes(line, keys)
        check(title, answer is not None and answer.command == "REFUSE"
              and answer.text("reason") == reason, answer)

    refused("without a credential", None, "log in first")
    one, answer = comes(issuer.sign(mine))
    check("with one it is taken in", answer.command == "READY"
          and answer.text("zone") == "red" and answer.text("user") == "alice"
          and answer.text("role") == "user"
          and 0 < answer.number("credential_left") <= 600, answer)
    check("that is logged", await_(lambda: logged(
        "audit: session begun who=alice zone=red from=127.0.0.1 role=user")))
    one.say("ROUTERSTATUS", None, "router@.")
    answer = one.await_("INVALID", "ROUTERSTATUS")
    check("it hears nothing of hosts", answer.command == "INVALID", answer)
    one.say("LOCKSTATUS", {}, "lock@h2")
    answer = one.await_("INVALID", "LOCKREADY", "NOLOCK")
    check("nor asks others", answer.command == "INVALID", answer)
    refused("a copy, by another key", issuer.sign(mine),
            "the credential is of another key", other)
    refused("one that has ended", issuer.sign(mine, ends=-1),
            "the credential has ended")
    refused("one that is to begin", issuer.sign(mine, begins=300),
            "the credential does not count yet")
    refused("one of another zone's issuer", issuer.sign(mine, zone="blue"),
            "the issuer of the credential does not speak for that zone")
    refused("one of nobody's", stranger.sign(mine),
            "the issuer of the credential does not speak for that zone")
    line = issuer.sign(mine)
    refused("a changed one", line.replace(" user ", " operator "),
            "the credential was changed since it was issued")
    serial = secrets.token_hex(8)
    answer = one.enter(credential=issuer.sign(mine, ends=9000, serial=serial))
    check("it is renewed", answer.command == "READY"
          and answer.number("credential_left") > 600, answer)
    answer = one.enter(credential=issuer.sign(mine, user="bob"))
    check("but not to be another", answer.command == "REFUSE", answer)
    done = settings(zones + f'    revoked = "{serial} '
                    f'{int(time.time()) + 9000}"\n')
    check("it is revoked", done.returncode == 0, done.stdout)
    check("and cut off", await_(lambda: logged(
        "audit: session cut off who=alice zone=red from=127.0.0.1 ")))
    refused("nor taken again", issuer.sign(mine, serial=serial),
            "the credential was revoked")
    return CASES["bad"] > 0


if __name__ == "__main__":
    sys.exit(main())
