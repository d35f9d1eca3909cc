#   test_lost.py - the first call after a loss tells it
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   An operator takes a lock away, another process has it, and whoever had it
#   does something with what it believes to have.

import asyncio
import subprocess

from lockkeeper import LockLost, aio

from world import Case, endpoint, start, within

HOSTS = 3
ROUNDS = 20  # of each way, by force and by key in turn

OTHER = """
import lockkeeper, sys
session = lockkeeper.Session(sys.argv[1])
for line in sys.stdin:
    name, _, key = line.strip().partition(" ")
    if key == "get":
        with session.lock(name, timeout=60) as lock:
            print(lock.token, flush=True)
            sys.stdin.readline()
    elif key:
        session.unlock(name, key, now=True)
    else:
        session.force(name, reason="by me", now=True)
"""


class Lost(Case):
    def setUp(self):
        super().setUp()
        self.taker = self.other("h2")
        self.operator = self.other("h3")

    def other(self, host):
        process = start(OTHER, endpoint(host), stdin=subprocess.PIPE)
        self.addCleanup(process.communicate)
        return process

    @staticmethod
    def say(process, *words):
        process.stdin.write(" ".join(words) + "\n")
        process.stdin.flush()

    def lose(self, lock, how, unheard=False):
        """Somebody else has it now."""
        self.say(self.taker, lock.name, "get")
        self.waiting(lock.name, 1)
        token = lock.token
        if unheard:
            self.session._listener._post(self.be_deaf)
        self.say(self.operator, lock.name, *how)
        self.assertGreater(int(self.taker.stdout.readline()), token)

    def be_deaf(self):
        """In the thread of the session: it reads nothing before somebody has
        another call for it."""
        inbox = self.session._listener._inbox
        within(60, lambda: not inbox.empty())

    def hear(self, lock):
        """What a question finds as soon as ZeroMQ has it."""
        self.assertTrue(within(30, lambda: not lock.held))
        self.assertEqual(lock.remaining, 0)

    def rounds(self):
        for number in range(ROUNDS):
            yield f"{self.name}{number}", number % 2
            self.say(self.taker)

    @staticmethod
    def way(lock, by_key):
        return [lock.key] if by_key else []

    def expect(self, by_key, deed):
        """That raises LockLost, and says why."""
        with self.assertRaises(LockLost) as caught:
            deed()
        self.check(by_key, caught.exception)

    def check(self, by_key, lost):
        self.assertEqual((lost.reason, lost.comment),
                         ("released", "") if by_key else ("forced", "by me"))

    #   ------------------------------------------------------------ threads

    def test_release(self):
        """release() of a lock that another process has says so, each time"""
        for name, by_key in self.rounds():
            lock = self.session.lock(name)
            lock.acquire()
            self.lose(lock, self.way(lock, by_key))
            self.expect(by_key, lock.release)

    def test_with(self):
        """so does the end of a block"""
        for name, by_key in self.rounds():
            def work():
                with self.session.lock(name) as lock:
                    self.lose(lock, self.way(lock, by_key))
            self.expect(by_key, work)

    def test_unheard(self):
        """so do they if the loss is there and was not read yet"""
        for name, by_key in self.rounds():
            def work():
                with self.session.lock(name) as lock:
                    self.lose(lock, self.way(lock, by_key), unheard=True)
            self.expect(by_key, work)
            lock = self.session.lock(name + "b")
            lock.acquire()
            self.say(self.taker)
            self.lose(lock, self.way(lock, by_key), unheard=True)
            self.expect(by_key, lock.release)

    def test_ensure(self):
        """a lock that another process has is not held; ensure() says why"""
        for name, by_key in self.rounds():
            lock = self.session.lock(name)
            lock.acquire()
            self.lose(lock, self.way(lock, by_key))
            self.hear(lock)
            self.expect(by_key, lock.ensure)
            self.expect(by_key, lock.release)

    def test_reentrant(self):
        """so does the release of what was entered again, and to enter it"""
        for name, by_key in self.rounds():
            outer = self.session.lock(name, reentrant=True)
            inner = self.session.lock(name, reentrant=True)
            outer.acquire()
            outer.acquire()
            inner.acquire()
            self.lose(outer, self.way(outer, by_key))
            self.hear(outer)
            for deed in (outer.acquire, inner.acquire, outer.release,
                         inner.release, outer.release):
                self.expect(by_key, deed)

    def test_change(self):
        """so does a change of its type, and to leave it"""
        for name, by_key in self.rounds():
            lock = self.session.lock(name, linger=60)
            lock.acquire()
            self.lose(lock, self.way(lock, by_key))
            self.expect(by_key, lock.downgrade)
            self.expect(by_key, lock.leave)
            self.expect(by_key, lock.release)

    #   ------------------------------------------------------------ asyncio

    def play(self, deed):
        """That, with a lock of a session for asyncio. The loop does not run
        while the lock is lost."""
        async def main():
            async with aio.Session(endpoint("h1")) as session:
                for name, by_key in self.rounds():
                    lock = session.lock(name, linger=60)
                    await lock.acquire()
                    self.lose(lock, self.way(lock, by_key))
                    with self.assertRaises(LockLost) as caught:
                        await deed(lock)
                    self.check(by_key, caught.exception)
        asyncio.run(main())

    def test_aio_release(self):
        """asyncio: release() says so, though the loop stood still"""
        self.play(lambda lock: lock.release())

    def test_aio_held(self):
        """asyncio: a lock is not held, though the loop stands still"""
        async def deed(lock):
            self.hear(lock)
            await lock.release()
        self.play(deed)

    def test_aio_change(self):
        """asyncio: a change, or to leave it, says so"""
        async def deed(lock):
            with self.assertRaises(LockLost):
                await lock.downgrade()
            with self.assertRaises(LockLost):
                await lock.leave()
            lock.ensure()
        self.play(deed)
