#   world.py - what the tests of the Python module in a sandbox share
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

import os
import signal
import subprocess
import sys
import time
import unittest

import lockkeeper

SANDBOX = os.environ.get("LOCKKEEPER_SANDBOX", "")
PROGRAM = os.path.join(os.environ["BUILD"], "lockkeeper")


def endpoint(host):
    """Where the router of a host is."""
    return f"ipc://{SANDBOX}/{host}/router"


def cli(*arguments, host="h1"):
    """lockkeeper(1) on a host: exit code and what it printed."""
    env = dict(os.environ, LOCKKEEPER_ENDPOINT=endpoint(host))
    done = subprocess.run([PROGRAM, *arguments], env=env, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    return done.returncode, done.stdout


def within(seconds, condition):
    """Whether that becomes true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def is_calm():
    """Whether none of three hosts warns of anything: no election is due."""
    return all("warning" not in cli("status", host=host)[1]
               for host in ("h1", "h2", "h3"))


def daemon(host, name):
    """The process of a router or lockd."""
    with open(f"{SANDBOX}/{host}/{name}.pid", encoding="utf-8") as file:
        return int(file.read())


def is_alive(pid):
    """Whether it is a process, and no zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return " Z " not in file.read()
    except (FileNotFoundError, ProcessLookupError):
        return False


def start(code, *arguments, **options):
    """Another Python with the module; its standard output is a pipe."""
    return subprocess.Popen([sys.executable, "-c", code, *arguments],
                            stdout=subprocess.PIPE, text=True, **options)


class Case(unittest.TestCase):
    """A session on h1; each test has names of its own."""

    def setUp(self):
        self.session = self.open("h1")
        self.name = self.id().rpartition(".")[2]

    def open(self, host):
        session = lockkeeper.Session(endpoint(host))
        self.addCleanup(session.close)
        return session

    def stop(self, pid):
        """Stops a process until the end of the test."""
        os.kill(pid, signal.SIGSTOP)
        self.addCleanup(os.kill, pid, signal.SIGCONT)

    def restart(self, host, name):
        """Kills a daemon and starts it again."""
        self.kill(host, name)
        code, said = cli("sandbox", "restart", host, name, "--dir", SANDBOX)
        self.assertEqual(code, 0, said)

    def kill(self, host, name):
        """Kills a daemon and waits for its end."""
        pid = daemon(host, name)
        os.kill(pid, signal.SIGKILL)
        self.assertTrue(within(60, lambda: not is_alive(pid)))

    def await_calm(self):
        """Taking a lock while its home changes may be told `unknown`."""
        self.assertTrue(within(90, is_calm))

    def tickets(self):
        """All of the cluster, as soon as somebody tells: while an election is
        due nobody does."""
        found = []

        def is_told():
            try:
                found[:] = self.session.list()
            except lockkeeper.LockkeeperError:
                return False
            return True
        self.assertTrue(within(60, is_told))
        return found

    def waiting(self, name, count):
        """Waits until so many requests wait for that name."""
        self.assertTrue(within(60, lambda: sum(
            ticket.name == name and ticket.state == "waiting"
            for ticket in self.tickets()) == count))
