#   test_far.py - sessions on a machine without a router
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

from lockkeeper import Disconnected, Invalid, LockLost, aio
import lockkeeper

from world import SANDBOX, Case, cli, daemon, is_alive, within

HOSTS = 3
SETTINGS = ("router/listen-clients=tcp://127.0.0.1:*", "lock/dead-after=500",
            "lock/leader-lease=1000", "lock/host-lease=4000")
LEASE_S = 4
FILE = f"{SANDBOX}/machine.conf"
FORWARD = os.path.join(os.path.dirname(__file__), "../cluster/far_forward.py")
servers = []  # those of the file: (HOST:PORT, KEY)


def write_file(name, *lines):
    """Another client file of that machine, with these lines; its path."""
    path = f"{SANDBOX}/{name}.conf"
    with open(FILE, encoding="ascii") as file:
        pair = [line for line in file if "server" not in line]
    with open(os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600),
              "w", encoding="ascii") as file:
        file.writelines(pair + [f"    {line}\n" for line in lines])
    return path


def server_line(number, domain=""):
    """Of that server."""
    address, key = servers[number]
    return f'server = "tcp://{address} {key} {domain}"'


def setUpModule():
    """A client file; servers keep their ports when they are restarted."""
    key = cli("client", "new", FILE)[1].split()[-1]
    said = cli("clients", "add", "machine", key)[1]
    servers[:] = re.findall(r'server = "tcp://(\S+) (\S+)"', said)
    with open(FILE, "a", encoding="ascii") as file:
        file.writelines(f"    {server_line(number)}\n"
                        for number in range(HOSTS))
        file.write("    order = listed\n")
    for number, (address, _) in enumerate(servers, 1):
        path = f"{SANDBOX}/h{number}/lockkeeper.conf"
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(re.sub("listen-clients = .*",
                              f"listen-clients = tcp://{address}", text))


class FarCase(Case):
    """A session on the machine, by way of h1 if all are there; another one on
    the host h3."""

    def setUp(self):
        self.far = self.open_far()
        self.session = self.open("h3")
        self.name = self.id().rpartition(".")[2]
        self.told = []

    def open_far(self, endpoint=None, client=FILE):
        session = lockkeeper.Session(endpoint, client=client,
                                     connect_timeout=60)
        self.addCleanup(session.close)
        return session

    def hear(self, lock, reason):
        self.told.append((lock.name, reason))

    def hold(self, kind, name, *more, **options):
        """A lock that is held on the machine."""
        lock = getattr(self.far, kind)(name, *more, on_lost=self.hear,
                                       **options)
        lock.acquire(60)
        return lock

    def in_thread(self, work, *arguments):
        """That, under way; it ends with the sessions at the latest."""
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        thread.start()
        return thread

    def kill_host(self, host):
        """Both daemons of a host at once; they come back with the test's
        end."""
        self.addCleanup(cli, "wait-ready", "--timeout", "60", host=host)
        self.addCleanup(cli, "sandbox", "restart", host, "--dir", SANDBOX)
        pids = [daemon(host, name) for name in ("router", "lockd")]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        self.assertTrue(within(60, lambda: not any(map(is_alive, pids))))


class Queue:
    """Who got what in which order."""

    def __init__(self, case):
        self.case = case
        self.got = []

    def wait(self, lock, word):
        """In a thread, behind all that wait already; keeps it for a moment."""
        def work():
            with lock:
                self.got.append((lock.name, word, lock.held))
        thread = self.case.in_thread(work)
        for name in lock.names[:1]:
            self.case.assertTrue(within(60, lambda: any(
                ticket.name == name and ticket.state == "waiting"
                and word in ticket.owner for ticket in self.case.tickets())))
        return thread


class Moves(FarCase):
    def hold_all(self):
        """A lock of each kind."""
        return [
            self.hold("lock", self.name),
            self.hold("lock", self.name + "s", shared=True),
            self.hold("lock", self.name + "c", context="a b"),
            self.hold("lock", self.name + "d", duration=600),
            self.hold("lock", self.name + "l", linger=60),
            self.hold("lock", self.name + "r", reentrant=True),
            self.hold("lock", b"\xff" + self.name.encode()),
            self.hold("semaphore", self.name + "n", 2),
            self.hold("lock_all", [self.name + "p", self.name + "q"]),
            self.hold("lock", self.name + "t", static=True)]

    def watch(self, locks, seconds):
        """All of them are held all the time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for lock in locks:
                self.assertTrue(lock.held, lock)
            time.sleep(0.01)
        self.assertEqual(self.told, [])

    def is_free(self, lock):
        """Whether the other session gets what nobody may share."""
        other = self.session.lock_all(lock.names, context=lock.context)
        if not other.try_acquire():
            return False
        return other.release()

    def test_killed(self):
        """what is held and what waits goes on when its server is killed"""
        self.assertEqual(self.far.host, "h1")
        locks = self.hold_all()
        changed = self.hold("lock", self.name + "u", shared=True)
        changed.upgrade(60)
        locks.append(changed)
        had = [(lock.tokens, lock.keys) for lock in locks]
        left = locks[3].left
        with self.waiters() as queue, self.upgrade(locks):
            self.kill_host("h1")
            self.watch(locks, LEASE_S + 1.5)
        self.assertNotEqual(self.far.host, "h1")
        self.assertEqual([(lock.tokens, lock.keys) for lock in locks[:-1]],
                         had)
        self.assertLess(locks[3].left, left)
        self.assertFalse(any(map(self.is_free, locks)))
        queue.check()
        self.assertTrue(within(60, lambda: locks[-1].type == "exclusive"))
        for lock in locks:
            self.assertTrue(lock.release())
            self.assertTrue(self.is_free(lock))
        self.assertEqual(self.told, [])

    def upgrade(self, locks):
        """One that waits to be exclusive, beside another holder."""
        case = self

        class Upgrade:
            def __enter__(self):
                self.other = case.session.lock(case.name + "x", shared=True)
                self.other.acquire(60)
                lock = case.hold("lock", case.name + "x", shared=True)
                locks.append(lock)
                case.in_thread(lock.upgrade, 60)
                case.assertTrue(within(60, lambda: "upgrade" in cli(
                    "list", case.name + "x", host="h3")[1]))

            def __exit__(self, *_):
                case.assertEqual(locks[-1].type, "shared")
                self.other.release()
        return Upgrade()

    def waiters(self):
        """Of each kind one that waits, behind a holder on h3 and ahead of one
        there; a set waits from its beginning."""
        case = self

        class Waiters(Queue):
            def __enter__(self):
                makes = [
                    lambda session, name, **more: session.lock(name, **more),
                    lambda session, name, **more: session.lock(
                        name, static=True, **more),
                    lambda session, name, **more: session.semaphore(
                        name, 1, **more)]
                self.held, self.threads, self.names = [], [], []
                for number, make in enumerate(makes):
                    name = f"{case.name}{number}"
                    self.names.append(name)
                    self.held.append(make(case.session, name))
                    self.held[-1].acquire(60)
                    for session, word in ((case.far, "far-"),
                                          (case.session, "tap.py")):
                        self.threads.append(self.wait(
                            make(session, name), word))
                #   It holds one of its names, and waits for the other.
                pair = case.far.lock_all([case.name + "0", case.name + "+"])
                self.threads.append(case.in_thread(self.take, pair))
                case.assertTrue(within(60, lambda: any(
                    ticket.name == case.name + "+" and ticket.state == "held"
                    for ticket in case.tickets())))
                return self

            def take(self, pair):
                with pair:
                    self.got.append((case.name + "+", "far-", pair.held))

            def __exit__(self, *_):
                pass

            def check(self):
                case.assertEqual(self.got, [])
                for lock in self.held:
                    lock.release()
                for thread in self.threads:
                    thread.join(60)
                for name in self.names:
                    case.assertEqual(
                        [one for one in self.got if one[0] == name],
                        [(name, "far-", True), (name, "tap.py", True)])
                case.assertIn((case.name + "+", "far-", True), self.got)
        return Waiters(self)

    def test_drained(self):
        """... and when it stops in good order, in asyncio as well; it has told
        which others there are"""
        one = write_file("one", server_line(0))
        self.assertNotEqual(self.far.host, "")
        locks = [self.hold("lock", self.name),
                 self.hold("lock_all", [self.name + "p", self.name + "q"])]
        events = []

        async def watch(session):
            async for event in session.events():
                events.append(event)

        async def main():
            async with aio.Session(client=one, connect_timeout=60) as session:
                task = asyncio.create_task(watch(session))
                async with session.lock(self.name + "a", timeout=60) as lock:
                    waiter = session.lock(self.name, timeout=60)
                    wait = asyncio.create_task(waiter.acquire())
                    await asyncio.sleep(0.1)
                    host = session.host
                    os.kill(daemon(host, "lockd"), signal.SIGTERM)
                    while session.host == host:
                        self.assertTrue(lock.held)
                        await asyncio.sleep(0.01)
                    await asyncio.sleep(0.5)
                    self.assertTrue(lock.held and locks[0].release())
                    await wait
                    await waiter.release()
                task.cancel()
                return host
        host = asyncio.run(main())
        self.addCleanup(cli, "wait-ready", "--timeout", "60", host=host)
        self.addCleanup(cli, "sandbox", "restart", host, "lockd", "--dir",
                        SANDBOX)
        self.assertEqual([event for event in events if event.kind == "lost"],
                         [])
        self.assertTrue(locks[1].held and locks[1].release())
        self.assertEqual(self.told, [])


class Network:
    """Between the machine and the servers."""

    def __init__(self, case):
        self.pids = []
        addresses = []
        for address, _ in servers:
            with socket.socket() as taken:
                taken.bind(("127.0.0.1", 0))
                port = taken.getsockname()[1]
            child = subprocess.Popen([sys.executable, FORWARD,
                                      f"127.0.0.1:{port}", address])
            case.addCleanup(child.wait)
            case.addCleanup(child.kill)
            self.pids.append(child.pid)
            addresses.append(f"tcp://127.0.0.1:{port}")
        self.endpoint = ",".join(addresses)

    def signal(self, number):
        """To all of it."""
        for pid in self.pids:
            os.kill(pid, number)


class Losses(FarCase):
    def test_cut_off(self):
        """who is cut off from all servers has lost what it held before
        another one has it, whether anything tells it or not"""
        network = Network(self)  # there is no way past it
        alone = write_file("alone", "discovery = no",
                           *map(server_line, range(HOSTS)))
        self.far = self.open_far(network.endpoint, alone)
        lock = self.hold("lock", self.name)
        deaf = self.open_far(network.endpoint, alone)
        unheard = deaf.lock(self.name + "2")
        unheard.acquire(60)
        others = [self.session.lock(one.name) for one in (lock, unheard)]
        go_on = threading.Event()
        self.addCleanup(go_on.set)
        for other in others:
            self.in_thread(other.acquire, 60)
            self.waiting(other.name, 1)
        deaf._listener._post(go_on.wait)  # it hears nothing from here on
        network.signal(signal.SIGSTOP)
        self.addCleanup(network.signal, signal.SIGCONT)
        end, had = time.monotonic() + 60, [False]
        while not all(had):
            self.assertLess(time.monotonic(), end)
            had = [other.held for other in others]
            for mine, is_others in zip((lock, unheard), had):
                self.assertFalse(is_others and mine.held, mine)
            time.sleep(0.002)
        self.assertTrue(within(60, lambda: self.told == [
            (self.name, "disconnected")]))
        network.signal(signal.SIGCONT)
        go_on.set()
        with self.assertRaisesRegex(LockLost, "no server answered"):
            lock.ensure()
        with self.assertRaises(LockLost):
            unheard.release()
        for mine, other in zip((lock, unheard), others):
            self.assertFalse(mine.held)
            other.release()
        with self.assertRaises(LockLost):
            lock.release()
        lock.acquire(60)
        self.assertGreater(lock.token, others[0].token)
        self.assertTrue(lock.release())

    def test_told(self):
        """what an operator takes away is told, and kept until it is given
        back"""
        lock = self.hold("lock", self.name)
        other = self.session.lock(self.name)
        with self.assertRaises(lockkeeper.TimedOut):
            self.session.force(self.name, reason="by me", timeout=0.2)
        self.assertTrue(within(60, lambda: self.told == [
            (self.name, "forced")]))
        self.assertFalse(lock.held or other.try_acquire())
        with self.assertRaises(LockLost) as caught:
            lock.release()
        self.assertEqual(caught.exception.comment, "by me")
        other.acquire(60)
        other.release()

    def test_left(self):
        """what was left is given back when somebody ends it"""
        for options in {"static": True}, {"linger": 60}:
            key = self.hold("lock", self.name, **options).leave()
            self.assertFalse(self.session.lock(self.name).try_acquire())
            self.session.unlock(self.name, key, timeout=60)
            self.assertTrue(self.session.lock(self.name).try_acquire())
            self.session.force(self.name)
        key = self.hold("lock", self.name, static=True).leave()
        self.far.close()
        self.assertFalse(self.session.lock(self.name).try_acquire())
        self.session.unlock(self.name, key, timeout=60)

    def test_killed_process(self):
        """what a process had that was killed is free when its lease is over,
        and not before"""
        child = subprocess.Popen([sys.executable, "-c", """
import lockkeeper, sys, time
session = lockkeeper.Session(client=sys.argv[1], connect_timeout=60)
lock = session.lock(sys.argv[2])
lock.acquire()
print(flush=True)
time.sleep(600)
""", FILE, self.name], stdout=subprocess.PIPE)
        self.addCleanup(child.communicate)
        child.stdout.readline()
        child.kill()
        killed = time.monotonic()
        with self.session.lock(self.name, timeout=60):
            self.assertGreater(time.monotonic() - killed, LEASE_S * 5 / 8)


class Sessions(FarCase):
    maxDiff = None

    def test_same_calls(self):
        """questions, locks of others, and what cannot be had"""
        lock = self.hold("lock", self.name, duration=60)
        self.assertEqual([one.name for one in self.far.list(self.name)],
                         [self.name])
        self.assertTrue(self.far.status().ready)
        self.assertEqual(len(self.far.members()), HOSTS)
        self.assertTrue(self.far.check(self.name, lock.token))
        self.assertFalse(self.far.check(self.name, lock.token + 1))
        self.assertEqual(len(self.far.owners(self.name)), 1)
        self.assertFalse(self.far.history().silent)
        self.assertLessEqual(lock.left, 60)
        self.assertGreater(lock.left, 50)
        lock.release()
        with self.session.lock(self.name) as held:
            self.assertFalse(self.far.lock(self.name).try_acquire())
            with self.assertRaises(lockkeeper.TimedOut):
                self.far.lock(self.name).acquire(0.2)
            self.far.unlock(self.name, held.key, now=True)
            self.assertTrue(within(60, lambda: not held.held))
            with self.assertRaises(LockLost):
                held.release()
        with self.assertRaisesRegex(Invalid, "on a host alone"):
            self.far.lock(self.name, key="1" * 16)

    def test_default(self):
        """$LOCKKEEPER_CLIENT counts for what says nothing else; whoever closes
        what he opened is warned of nothing, and leaves nothing"""
        done = subprocess.run(
            [sys.executable, "-X", "dev", "-W", "error", "-c", """
import asyncio, gc, os, sys, threading, lockkeeper
from lockkeeper import aio
from lockkeeper.clusterlock import Lock
def used():
    return threading.active_count(), len(os.listdir("/proc/self/fd"))
async def main(before):
    asyncio.get_running_loop().slow_callback_duration = 60
    async with aio.Session() as session, session.lock(sys.argv[1]):
        assert session.host
    session = await aio.Session().open()
    await session.lock(sys.argv[1]).acquire()
    del session
    gc.collect()
    while len(os.listdir("/proc/self/fd")) > before:
        await asyncio.sleep(0.02)
async def count():
    return len(os.listdir("/proc/self/fd"))
before = used()
with lockkeeper.Session() as session, session.lock(sys.argv[1]):
    assert session._driver.way.name.startswith("far-"), session
for number in range(2):
    lockkeeper.Session().lock(f"{sys.argv[1]}{number}").acquire()
    gc.collect()
asyncio.run(main(asyncio.run(count())))
with Lock(sys.argv[1]):
    pass
gc.collect()
lockkeeper.default_session().close()
try:
    lockkeeper.Session("tcp://127.0.0.1:1,tcp://127.0.0.1:2, "
                       "tcp://127.0.0.1:3", connect_timeout=1)
except lockkeeper.Disconnected as error:
    assert "'tcp://127.0.0.1:2': connection refused" in str(error), error
for _ in range(1000):
    if used() == before:
        break
    threading.Event().wait(0.02)
assert used() == before, (used(), before)
""", self.name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, LOCKKEEPER_CLIENT=FILE,
                     LOCKKEEPER_ENDPOINT=",".join(
                         f"tcp://{address}" for address, _ in servers)),
            timeout=60)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 0)

    def test_nearest(self):
        """the nearest server is used, which another one has told of, and none
        outside of the limit"""
        cli("settings", "set", "hosts/domain", "h1 au.sydney", "h2 nz",
            "h3 au.perth.dh4")
        self.addCleanup(cli, "settings", "set", "hosts/domain")

        def host_by(line):
            return self.open_far(client=write_file(
                "nearest", server_line(0), server_line(1), line)).host
        self.assertTrue(within(60, lambda: host_by("domain = nz") == "h2"))
        for line, host in (("domain = au.perth.dh4.rack3", "h3"),
                           ("domain = au", "h1"), ("domain = nz.x", "h2"),
                           ("domain-limit = nz", "h2")):
            self.assertEqual(host_by(line), host)
        self.assertTrue(within(60, lambda: {
            one.host: one.domain for one in self.far.members()} == {
                "h1": "au.sydney", "h2": "nz", "h3": "au.perth.dh4"}))
        with self.assertRaisesRegex(
                Disconnected, "it is in au.sydney, outside of 'client/domain"):
            lockkeeper.Session(connect_timeout=1, client=write_file(
                "nearest", server_line(0), "domain-limit = fr"))

    def test_unknown_key(self):
        """a key that nobody knows is said so, and so is one that we do not
        know"""
        path = f"{SANDBOX}/stranger.conf"
        cli("client", "new", path)
        with open(path, "a", encoding="ascii") as file:
            for (address, _), (_, key) in zip(servers, servers[:1] * 2):
                file.write(f'    server = "tcp://{address} {key}"\n')
        with self.assertRaisesRegex(
                Disconnected, "does not know our key.*it has another key"):
            lockkeeper.Session(client=path, connect_timeout=1)

    def test_many(self):
        """many threads have a session of a machine together"""
        def work(number):
            for turn in range(20):
                with self.far.lock(f"{self.name}{(number + turn) % 5}"):
                    done.append(number)
        done = []
        threads = [self.in_thread(work, number) for number in range(10)]
        for thread in threads:
            thread.join(60)
        self.assertEqual(len(done), 200)
