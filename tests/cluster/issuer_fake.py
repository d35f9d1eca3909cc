#   issuer_fake.py - an issuer, an LDAP server, and who is no server
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""For issuer_ldap.py and issuer_passwords.py. Each thing has ports and files of
its own in one folder, and ends with the test."""

import atexit
import os
import queue
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

BUILD = os.environ.get("BUILD", "build")
DESK = os.path.join(BUILD, "tests/cluster/issuer_desk")
HANG_S = 60  # what takes longer hangs
WORK = tempfile.mkdtemp(prefix="issuer.", dir=os.environ.get("TMPDIR", "/tmp"))
KEY = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
PASSWORD_FILE = os.path.join(WORK, "passwords")
CASES = [0, 0]
ENDS = []


def path(*names):
    """In the folder of the test."""
    return os.path.join(WORK, *names)


def finish():
    """Ends what was begun, the last first."""
    for end in reversed(ENDS):
        end()
    shutil.rmtree(WORK, ignore_errors=True)


atexit.register(finish)


def check(title, good, more=""):
    """A case, as TAP."""
    CASES[0] += 1
    CASES[1] += not good
    print(f"{'ok' if good else 'not ok'} {CASES[0]} - {title}", flush=True)
    if not good:
        print(f"# {more}", flush=True)
        with open(path("log"), encoding="utf-8") as log:
            print("# " + "# ".join(log.readlines()[-20:]), flush=True)


def done():
    """The plan, and the exit code."""
    print(f"1..{CASES[0]}", flush=True)
    sys.exit(1 if CASES[1] else 0)


def write(name, text, mode=0o600):
    """A file of the test; its path."""
    os.makedirs(os.path.dirname(path(name)), exist_ok=True)
    with open(path(name), "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path(name), mode)
    return path(name)


def run(*words, **more):
    """A program that has to succeed; its output."""
    return subprocess.run(words, check=True, text=True, timeout=HANG_S,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **more).stdout


def await_(what, seconds=HANG_S):
    """Until it is so."""
    until = time.monotonic() + seconds
    while not what():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def free_port():
    """One that nobody has just now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Desk:
    """An issuer; its bus is a pipe."""

    def __init__(self, zones):
        self.zones = zones  # name: authority, or None
        self.keys = {}
        self.serial = 0
        self.answers = queue.Queue()
        self.kept = {}
        os.makedirs(path("keys"), exist_ok=True)
        os.makedirs(path("authorities"), exist_ok=True)
        self.log = open(path("log"), "w+", encoding="utf-8")
        self.process = None

    def settings(self, without=()):
        """Of the cluster: zones, and who may issue for them."""
        lines = ["zones"]
        for zone, rest in self.zones.items():
            lines.append(f"    zone = \"{zone} {rest}\"")
        for zone, key in self.keys.items():
            if zone not in without:
                lines.append(f"    issuer = \"{zone} {key}\"")
        write("settings", "\n".join(lines) + "\n")

    def key(self, zone):
        """Makes the key of a zone."""
        self.keys[zone] = run(DESK, "key", path("keys", zone + ".key")).strip()

    def start(self):
        """It runs."""
        self.process = subprocess.Popen(
            [DESK, "serve", path("keys"), path("authorities"),
             path("settings")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.log, text=True)
        threading.Thread(target=self.hear, daemon=True).start()
        ENDS.append(self.stop)

    def hear(self):
        """Its messages."""
        for line in self.process.stdout:
            self.answers.put(line.rstrip("\n").split("\t"))

    def stop(self):
        """It ends at the end of its input."""
        try:
            self.process.stdin.close()
            return self.process.wait(HANG_S)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            self.process.kill()
            return self.process.wait()

    def tell(self, line):
        """Something that is no message."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def say(self, command="LOGIN", sender="router@h1", **fields):
        """A message; its serial."""
        self.serial += 1
        words = [command, sender, str(self.serial)]
        fields = {"zone": "acme", "user": "ann", "key": KEY,
                  "address": f"10.0.{self.serial // 250}.{self.serial % 250}",
                  **fields}
        words += [f"{name}={value}" for name, value in fields.items()
                  if value is not None]
        self.tell("\t".join(words))
        return self.serial

    def answer(self, serial, seconds=HANG_S):
        """The one with that serial: its command, and its fields."""
        until = time.monotonic() + seconds
        while str(serial) not in self.kept:
            try:
                words = self.answers.get(
                    timeout=max(0.01, until - time.monotonic()))
            except queue.Empty:
                return "NOTHING", {}
            self.kept[words[2]] = words
        words = self.kept[str(serial)]
        return words[0], dict(word.split("=", 1) for word in words[3:])

    def has(self, serial):
        """Whether it is there already."""
        return self.answer(serial, 0)[0] != "NOTHING"

    def login(self, user, password, **fields):
        """LOGIN, and what comes of it."""
        return self.answer(self.say(user=user, password=password, **fields))

    def logged(self):
        """Its log."""
        with open(path("log"), encoding="utf-8") as file:
            return file.read()

    def logs(self, text):
        """Whether that is in its log by and by."""
        return await_(lambda: text in self.logged())


def is_role(answer, role):
    """Whether that is a credential of that role, whose signature is good."""
    return answer[0] == "LOGIN" and answer[1].get("role") == role


def is_refused(answer, error="denied"):
    """Whether that is a refusal."""
    return answer[0] == "LOGINFAILED" and answer[1].get("error") == error
