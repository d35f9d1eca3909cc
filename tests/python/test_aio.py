#   test_aio.py - lockkeeper.aio, on one host
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

import asyncio
import os
import signal
import time
import unittest

from lockkeeper import (Disconnected, LockLost, Misuse, TimedOut, aio)
from lockkeeper._lease import now_ms

from world import SANDBOX, cli, daemon

HOSTS = 1


class Aio(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.session = await aio.Session().open()
        self.addAsyncCleanup(self.session.close)
        self.name = self.id().rpartition(".")[2]

    async def within(self, seconds, condition):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end)
            await asyncio.sleep(0.02)

    async def waiting(self, count):
        for _ in range(3000):
            tickets = await self.session.list()
            if sum(ticket.name == self.name and ticket.state == "waiting"
                   for ticket in tickets) == count:
                return
            await asyncio.sleep(0.02)
        self.fail("nobody came, or went")

    async def test_lock(self):
        """async with holds a lock"""
        async with self.session.lock(self.name) as lock:
            self.assertTrue(lock.held)
            self.assertTrue(await self.session.check(self.name, lock.token))
            self.assertFalse(
                await self.session.lock(self.name).try_acquire())
        self.assertFalse(lock.held)
        self.assertTrue((await self.session.status()).ready)

    async def test_looking(self):
        """list, owners, history and members"""
        async with self.session.lock(self.name):
            (ticket,) = await self.session.owners(self.name)
            self.assertEqual((ticket.state, ticket.uid, ticket.pid),
                             ("held", os.getuid(), os.getpid()))
            self.assertEqual(
                [one.name for one in await self.session.list(self.name)],
                [self.name])
        told = await self.session.history(self.name)
        self.assertEqual([one.event for one in told],
                         ["granted", "released"])
        (member,) = await self.session.members()
        self.assertEqual((member.host, member.role, member.seen),
                         ("h1", "first leader", True))

    async def test_kinds(self):
        """semaphores, sets, readers, static locks"""
        units = [self.session.semaphore(self.name, 2) for _ in range(3)]
        self.assertEqual([await unit.try_acquire() for unit in units],
                         [True, True, False])
        async with self.session.lock_all(["a", "b"]) as locks:
            self.assertEqual(sorted(locks.tokens), ["a", "b"])
        lock = self.session.rwlock(self.name + "rw")
        async with lock.read() as one:
            await one.upgrade(5)
            self.assertFalse(await lock.read().try_acquire())
            await one.downgrade()
            async with lock.read():
                with self.assertRaises(TimedOut):
                    await one.upgrade(0.1)
        static = self.session.lock(self.name + "s", static=True)
        await static.acquire()
        await self.session.unlock(self.name + "s", await static.leave())

    async def test_many(self):
        """many tasks, one at a time"""
        count = 0

        async def work():
            nonlocal count
            async with self.session.lock(self.name):
                seen = count
                await asyncio.sleep(0)
                count = seen + 1
        await asyncio.gather(*[work() for _ in range(100)])
        self.assertEqual(count, 100)

    async def test_cancel_wait(self):
        """cancellation takes a request back"""
        async with self.session.lock(self.name):
            task = asyncio.create_task(
                self.session.lock(self.name).acquire())
            await self.waiting(1)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            await self.waiting(0)

    async def test_cancel_hold(self):
        """cancellation gives a lock back"""
        async def work():
            async with self.session.lock(self.name):
                await asyncio.sleep(60)
        task = asyncio.create_task(work())
        lock = self.session.lock(self.name)
        await asyncio.sleep(0.2)
        self.assertFalse(await lock.try_acquire())
        task.cancel()
        await lock.acquire(60)
        with self.assertRaises(asyncio.CancelledError):
            await task

    async def test_cancel_granted(self):
        """cancellation at the moment of the grant leaves nothing behind"""
        for delay in range(40):
            task = asyncio.create_task(
                self.session.lock(self.name).acquire())
            await asyncio.sleep(delay / 10000)
            if task.cancel():
                with self.assertRaises(asyncio.CancelledError):
                    await task
            else:
                await task
                await self.session.force(self.name, now=True)
            async with self.session.lock(self.name, timeout=60):
                pass

    async def test_wait_for(self):
        """asyncio's own timeouts do, too"""
        async with self.session.lock(self.name):
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(
                    self.session.lock(self.name).acquire(), 0.2)
            await self.waiting(0)

    async def test_lost(self):
        """a loss is told by callback, events and exception"""
        told, events = [], []

        async def on_lost(lock, reason):
            await asyncio.sleep(0)
            told.append((lock, reason))

        source = self.session.events()

        async def listen():
            async for event in source:
                events.append((event.kind, event.lock, event.reason))
        listener = asyncio.create_task(listen())
        lock = self.session.lock(self.name, on_lost=on_lost)
        with self.assertRaises(LockLost):
            async with lock:
                await self.session.force(self.name)
                await self.within(60, lambda: told)
                with self.assertRaises(LockLost):
                    lock.ensure()
        self.assertEqual(told, [(lock, "forced")])
        self.assertEqual(events, [("lost", lock, "forced")])
        await self.session.close()
        await asyncio.wait_for(listener, 60)

    async def test_jeopardy(self):
        """the end of a credential is told, to who listens later as well"""
        book, early = self.session._driver.way.book, self.session.events()
        async with self.session.lock(self.name) as lock:
            book.set_credential(True, now_ms())
            self.session._turn()
            late = self.session.events()
            book.set_credential(False, now_ms())
            self.session._turn()
            for source in (early, late):
                for kind, reason in (("jeopardy", "credential"), ("safe", "")):
                    event = await asyncio.wait_for(source.__anext__(), 60)
                    self.assertEqual((event.kind, event.lock, event.reason),
                                     (kind, lock, reason))

    async def test_blocked_loop(self):
        """held is honest although the loop does not run"""
        lock = self.session.lock(self.name)
        await lock.acquire()
        pid = daemon("h1", "lockd")
        os.kill(pid, signal.SIGSTOP)
        try:
            end = time.monotonic() + 60
            while lock.held:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.05)
        finally:
            os.kill(pid, signal.SIGCONT)
        with self.assertRaises(LockLost):
            await lock.release()
        #   Ready again when the lock service has found its leaders.
        async with self.session.lock(self.name, timeout=60):
            pass

    async def test_misuse(self):
        """what makes no sense is said at once"""
        with self.assertRaises(Misuse):
            aio.Lock(self.name)
        with self.assertRaises(Misuse):
            aio.Session().lock(self.name)
        lock = self.session.lock(self.name)
        async with lock:
            with self.assertRaises(Misuse):
                await lock.acquire()
        with self.assertRaises(Disconnected):
            await aio.Session("ipc:///nobody", connect_timeout=0.1).open()

    async def test_close(self):
        """who waits learns that the session was closed"""
        other = await aio.Session().open()
        async with self.session.lock(self.name):
            task = asyncio.create_task(other.lock(self.name).acquire())
            await self.waiting(1)
            await other.close()
            with self.assertRaises(Disconnected):
                await task
            await self.waiting(0)

    async def test_router(self):
        """behind a restart of the router all goes on"""
        lock = self.session.lock(self.name)
        await lock.acquire()
        os.kill(daemon("h1", "router"), signal.SIGKILL)
        await self.within(60, lambda: self.session._driver.way.state
                          != "ready")
        code, said = await asyncio.to_thread(
            cli, "sandbox", "restart", "h1", "router", "--dir", SANDBOX)
        self.assertEqual(code, 0, said)
        async with self.session.lock(self.name + "2", timeout=30):
            self.assertTrue(lock.held)
        await lock.release()
