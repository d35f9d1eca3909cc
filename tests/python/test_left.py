#   test_left.py - what nobody has any more is not kept, and threads that ended
#   are nobody
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

import _thread
import asyncio
import gc
import os
import subprocess
import sys
import threading
import weakref

import lockkeeper
from lockkeeper import Misuse, aio

from world import Case, endpoint, within

HOSTS = 1
MANY = 5


def used():
    """How many threads and descriptors there are."""
    return threading.active_count(), len(os.listdir("/proc/self/fd"))


def no_more_than(before):
    """Whether there are so many at most."""
    return all(now <= then for now, then in zip(used(), before))


def is_gone(reference):
    """Whether that is collected. A listener may have had it for a moment."""
    gc.collect()
    return reference() is None


class Dropped(Case):
    def setUp(self):
        super().setUp()
        gc.collect()

    def test_sessions(self):
        """sessions that nobody has are ended, and their locks free"""
        before = used()
        for number in range(MANY):
            session = lockkeeper.Session(endpoint("h1"))
            lock = session.lock(f"{self.name}{number}", on_lost=print)
            lock.acquire()
            self.assertTrue(lock.held)
            reference = weakref.ref(session)
            del lock, session
            self.assertTrue(within(60, lambda: is_gone(reference)))
        self.assertTrue(within(60, lambda: no_more_than(before)))
        for number in range(MANY):
            self.session.lock(f"{self.name}{number}").acquire(60)

    def test_lock_keeps_session(self):
        """a lock that somebody has keeps its session; one that is held stays
        so while the session does"""
        lock = lockkeeper.Session(endpoint("h1")).lock(self.name)
        gc.collect()
        lock.acquire(60)
        session = lock._session
        del lock
        gc.collect()
        self.assertFalse(self.session.lock(self.name).try_acquire())
        lost = threading.Event()
        other = session.lock(self.name + "2", on_lost=lambda *_: lost.set())
        other.acquire()
        del other
        gc.collect()
        self.session.force(self.name + "2")
        self.assertTrue(lost.wait(60))
        session.close()

    def test_asyncio(self):
        """asyncio: likewise, while the loop runs"""
        async def work(number):
            session = await aio.Session(endpoint("h1")).open()
            await session.lock(f"{self.name}{number}").acquire()
            return weakref.ref(session)

        async def main():
            before = used()
            references = [await work(number) for number in range(MANY)]
            gc.collect()
            self.assertFalse([one for one in references if one()])
            while not no_more_than(before):
                await asyncio.sleep(0.02)
        asyncio.run(main())
        for number in range(MANY):
            self.session.lock(f"{self.name}{number}").acquire(60)

    def test_events(self):
        """asyncio: events that nobody takes are not kept"""
        async def main():
            async with aio.Session(endpoint("h1")) as session:
                for _ in range(MANY):
                    session.events()
                gc.collect()
                self.assertEqual(len(session._queues), 0)
        asyncio.run(main())

    def test_warnings(self):
        """whoever closes what he opened is warned of nothing, but of time"""
        done = subprocess.run(
            [sys.executable, "-X", "dev", "-c", """
import asyncio, gc, sys, lockkeeper
from lockkeeper import aio
async def main():
    asyncio.get_running_loop().slow_callback_duration = 60
    async with aio.Session() as session, session.lock(sys.argv[1]):
        pass
for _ in range(2):
    with lockkeeper.Session() as session, session.lock(sys.argv[1]):
        pass
    asyncio.run(main())
with lockkeeper.Lock(sys.argv[1]):
    pass
try:
    lockkeeper.Session("ipc:///nobody", connect_timeout=0)
except lockkeeper.Disconnected:
    pass
gc.collect()
""", self.name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Threads(Case):
    def in_thread(self, work):
        """That, in a thread that threading does not know; its number."""
        done, number = _thread.allocate_lock(), []
        done.acquire()

        def run():
            number.append(_thread.get_ident())
            try:
                work()
            finally:
                done.release()
        _thread.start_new_thread(run, ())
        self.assertTrue(done.acquire(timeout=60))
        return number[0]

    def lock(self):
        return self.session.lock(self.name, reentrant=True)

    def test_same_number(self):
        """a thread does not have what one of the same number had"""
        first = self.lock()
        number = self.in_thread(first.acquire)
        had = []
        lock = self.lock()
        for _ in range(1000):
            if self.in_thread(lambda: had.append(lock.try_acquire())) \
                    == number:
                break
        else:
            self.skipTest("numbers of threads do not come again")
        self.assertNotIn(True, had)
        self.assertTrue(first.held)

    def test_not_kept(self):
        """a thread that ended with a lock is not kept for that"""
        for lock in (self.lock(), self.session.lock(self.name + "2")):
            thread = threading.Thread(target=lock.acquire)
            thread.start()
            thread.join()
            reference = weakref.ref(thread)
            del thread
            gc.collect()
            self.assertIsNone(reference())
            self.assertTrue(lock.held)

    def test_not_counted(self):
        """threads that threading does not know are not made known to it"""
        before = len(threading.enumerate())
        for _ in range(MANY):
            lock = self.lock()
            self.in_thread(lambda: (lock.acquire(), lock.release()))
        self.assertEqual(len(threading.enumerate()), before)

    def test_stranger(self):
        """a reentrant lock is released by the thread that has it"""
        lock = self.lock()
        lock.acquire()
        lock.acquire()
        caught = []

        def release():
            try:
                lock.release()
            except Misuse as error:
                caught.append(error)
        self.in_thread(release)
        self.assertEqual(len(caught), 1)
        lock.release()
        self.assertTrue(lock.held)
        lock.release()
        self.assertFalse(lock.held)

    def test_heir(self):
        """... or by anybody, if that one has ended"""
        lock = self.lock()
        self.in_thread(lock.acquire)
        self.assertTrue(lock.held)
        lock.release()
        self.assertTrue(self.session.lock(self.name).try_acquire())

    def test_stranger_plain(self):
        """another lock may be released by any thread"""
        lock = self.session.lock(self.name)
        lock.acquire()
        self.in_thread(lock.release)
        self.assertFalse(lock.held)

    def test_stranger_task(self):
        """asyncio: a reentrant lock is released by the task that has it"""
        async def main():
            async with aio.Session(endpoint("h1")) as session:
                lock = session.lock(self.name, reentrant=True)
                await asyncio.create_task(lock.acquire())
                gc.collect()
                await lock.release()  # that task has ended
                await lock.acquire()
                with self.assertRaises(Misuse):
                    await asyncio.create_task(lock.release())
                await lock.release()
        asyncio.run(main())
