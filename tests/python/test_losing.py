#   test_losing.py - each way to lose a lock is told, by each interface
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

import asyncio
import os
import signal
import time

from lockkeeper import LockLost, aio

from world import SANDBOX, Case, cli, daemon, endpoint

HOSTS = 3


class Losing(Case):
    """A lock of each interface on h2, and what its callbacks are told."""

    async def lose(self, deed, *reasons, jeopardy=False, **options):
        """Does that, and awaits that both are lost for one of the reasons."""
        self.told = {}
        blocking = await asyncio.to_thread(self.open, "h2")
        async with aio.Session(endpoint("h2")) as session:
            locks = [blocking.lock(self.name + "b", on_lost=self.on_lost,
                                   on_jeopardy=self.on_jeopardy, **options),
                     session.lock(self.name + "a", on_lost=self.on_lost,
                                  on_jeopardy=self.on_jeopardy, **options)]
            await asyncio.to_thread(locks[0].acquire, 60)
            await locks[1].acquire(60)
            for lock in locks:
                await asyncio.to_thread(deed, lock)
            await self.until_told(2)
            for lock in locks:
                self.assertIn(self.told[lock][-1], reasons)
                self.assertIs(True in self.told[lock], jeopardy)
                self.check_lost(lock, reasons)
            with self.assertRaises(LockLost):
                await asyncio.to_thread(locks[0].release)
            with self.assertRaises(LockLost):
                await locks[1].release()
            self.assertFalse(any(lock.held for lock in locks))
            return locks

    def on_lost(self, lock, reason):
        self.told.setdefault(lock, []).append(reason)

    def on_jeopardy(self, lock, danger):
        self.told.setdefault(lock, []).append(danger)

    async def until_told(self, count):
        end = time.monotonic() + 60
        while sum(isinstance(told[-1], str)
                  for told in self.told.values()) < count:
            self.assertLess(time.monotonic(), end, self.told)
            await asyncio.sleep(0.02)

    def check_lost(self, lock, reasons):
        self.assertFalse(lock.held)
        self.assertEqual(lock.remaining, 0)
        with self.assertRaises(LockLost) as caught:
            lock.ensure()
        self.assertIn(caught.exception.reason, reasons)

    def restart_later(self, host, name):
        def restart():
            code, said = cli("sandbox", "restart", host, name,
                             "--dir", SANDBOX)
            self.assertEqual(code, 0, said)
            self.session.lock(self.name + "c").acquire(60)
        self.addCleanup(restart)

    def test_forced(self):
        """forced"""
        self.await_calm()
        def deed(lock):
            self.session.force(lock.name, reason="by me")
        asyncio.run(self.lose(deed, "forced"))

    def test_released(self):
        """released by somebody else"""
        self.await_calm()
        asyncio.run(self.lose(lambda lock: self.session.unlock(
            lock.name, lock.key), "released"))

    def test_timedout(self):
        """timedout"""
        asyncio.run(self.lose(lambda lock: None, "timedout", duration=2))

    def test_shutdown(self):
        """shutdown: the lock service stops for good"""
        pid = daemon("h2", "lockd")
        self.restart_later("h2", "lockd")
        asyncio.run(self.lose(lambda lock: os.kill(pid, signal.SIGINT),
                              "shutdown"))

    def test_disconnected(self):
        """disconnected"""
        self.restart_later("h2", "lockd")
        pids = [daemon("h2", "lockd")]

        def deed(lock):
            while pids:
                os.kill(pids.pop(), signal.SIGKILL)
        asyncio.run(self.lose(deed, "disconnected", jeopardy=True))

    def test_isolated(self):
        """isolated: the lock service hangs"""
        pid = daemon("h2", "lockd")
        self.addCleanup(os.kill, pid, signal.SIGCONT)
        asyncio.run(self.lose(lambda lock: os.kill(pid, signal.SIGSTOP),
                              "isolated", jeopardy=True))

    def test_quorum(self):
        """isolated or quorum: the other hosts hang"""
        pids = [daemon("h1", "lockd"), daemon("h3", "lockd")]
        for pid in pids:
            self.addCleanup(os.kill, pid, signal.SIGCONT)

        def deed(lock):
            for pid in pids:
                os.kill(pid, signal.SIGSTOP)
        asyncio.run(self.lose(deed, "isolated", "quorum", jeopardy=True))
