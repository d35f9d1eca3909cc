#   test_taken.py - what is taken away waits for its holder; sets go on after a
#   restart
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

import asyncio
import threading
import time

from lockkeeper import LockLost, aio
from lockkeeper._entry import Life

from book import NOW, BookCase
from world import Case, endpoint, within

HOSTS = 3


class Books(BookCase):
    def test_taken(self):
        """what was taken away is the service's when UNLOCK is answered"""
        for error in ("released", "forced"):
            entry = self.held()
            self.say("UNLOCKED", entry.serial, error=error)
            self.assertEqual(self.told(), [("lost", error)])
            self.assertEqual((entry.life, entry.until()), (Life.ENDED, 0))
            self.assertEqual(self.sent(), [])
            self.book.release(entry, NOW)
            self.book.tick(NOW + 1100)
            for unlock in self.sent():
                self.assertEqual((unlock.command, unlock.body["request"]),
                                 ("UNLOCK", entry.serial))
            self.assertIs(entry.life, Life.GIVING)
            self.say("UNLOCKED", entry.serial + 1)
            self.assertEqual((entry.life, entry.loss), (Life.CLOSED, error))

    def test_now(self):
        """by key or force, at once if that is wanted"""
        wish = self.ask().wish
        for now in (False, True):
            self.sent()
            self.book.unlock_by_key(wish, 7, now, NOW)
            self.book.force(wish, 0, "", now, NOW)
            self.assertEqual([one.body.get("now", False)
                              for one in self.sent()], [now, now])

    def test_answered_twice(self):
        """UNLOCK that was repeated just before its answer came is done"""
        deed = self.book.unlock_by_key(self.ask().wish, 7, False, NOW)
        self.say("UNLOCKED", deed.serial + 1)
        self.say("LOCKFAILED", deed.serial + 1, error="unknown")
        self.assertEqual((deed.life, deed.error), (Life.CLOSED, ""))

    def test_stopping(self):
        """whoever takes a lock away hears of its holder"""
        deed = self.book.force(self.ask().wish, 0, "", False, NOW)
        for left_ms, said in ((1500, "h2 .*1.5 s left"), (-1, "h2 .*nobody")):
            self.say("LOCKSTOPPING", deed.serial + 1, object="x", host="h2",
                     left=left_ms)
            self.assertRegex(deed.remark, said)
            self.assertIs(deed.life, Life.GIVING)

    def test_quorum(self):
        """the reason of a danger is that of the loss"""
        for error in ("isolated", "quorum"):
            entry = self.held()
            self.say("LOCKJEOPARDY", entry.serial, danger=True, error=error)
            self.book.tick(NOW + 8050)
            self.assertEqual(self.told(), [("jeopardy", ""), ("lost", error)])
            self.assertIs(entry.life, Life.CLOSED)

    def resumed(self, entry, at=NOW):
        """What is said of it to the next lock service."""
        self.book.orphan(at)
        self.book.repeat(at)
        (letter,) = self.sent()
        self.assertEqual((letter.command, letter.serial),
                         ("LOCK", entry.serial))
        return letter.body

    def test_resumed(self):
        """a lock goes on; as which it came: taken over by its key, or not"""
        for key in (0, 7):
            self.setUp()
            entry = self.held(key=key, duration_ms=5000)
            body = self.resumed(entry, NOW + 1000)
            self.assertEqual(body.get("heir", False), key == 7)
            self.assertEqual(
                [body[name] for name in ("object", "token", "key",
                                         "lease_until", "duration")],
                ["x", f"{9:016x}", f"{7:016x}", NOW + 8000, 5000])

    def test_set_resumed(self):
        """a set goes on with the token and key of each"""
        rows = [{"object": "a", "token": f"{1:016x}", "key": f"{5:016x}"},
                {"object": "b", "token": f"{2:016x}", "key": f"{6:016x}"}]
        for duration_ms, until, left in ((0, -1, 0), (9000, NOW + 9000, 8000),
                                         (900, NOW + 900, 1)):
            self.setUp()
            entry = self.ask(names=(b"a", b"b"), duration_ms=duration_ms)
            self.grant(entry, locks=rows, until=until)
            self.sent()
            body = self.resumed(entry, NOW + 1000)
            self.assertEqual((body["locks"], body["duration"]), (rows, left))
            self.assertEqual(body["lease_until"], NOW + 8000)
            self.assertNotIn("object", body)
            self.assertNotIn("token", body)
        self.setUp()
        entry = self.ask(names=(b"a", b"b"))
        self.grant(entry, locks=rows)
        self.sent()
        self.resumed(entry)
        self.grant(entry, locks=rows)
        self.assertIs(entry.life, Life.HELD)
        self.assertFalse(entry.danger.told)
        self.book.tick(NOW + 1100)
        self.assertEqual(self.sent(), [])


class Taken(Case):
    def setUp(self):
        super().setUp()
        self.lock = self.session.lock(self.name)
        self.lock.acquire(60)

    def take(self, by_key):
        """Somebody else takes it away, and waits for its holder."""
        other = self.open("h2")
        thread = threading.Thread(
            target=(lambda: other.unlock(self.name, self.lock.key))
            if by_key else (lambda: other.force(self.name)))
        thread.start()
        self.addCleanup(thread.join)
        self.assertTrue(within(60, lambda: not self.lock.held))
        return thread

    def give_back(self, reason):
        with self.assertRaises(LockLost) as caught:
            self.lock.release()
        self.assertEqual(caught.exception.reason, reason)

    def test_given_back(self):
        """who takes a lock away waits until it is released"""
        for by_key in (False, True):
            thread = self.take(by_key)
            self.give_back("released" if by_key else "forced")
            thread.join()
            self.lock.acquire(0)

    def test_kept(self):
        """... or its time to stop is over: nobody else has it before"""
        began = time.monotonic()
        self.take(False)
        states = [ticket.state for ticket in self.session.list(self.name)]
        if time.monotonic() - began < 1.5:  # else its time may be over
            self.assertEqual(states, ["held"])
        self.open("h3").lock(self.name).acquire(60)
        self.give_back("forced")

    def test_now(self):
        """... but for who wants it at once"""
        for number in range(2):
            lock = self.session.lock(f"{self.name}{number}")
            lock.acquire(60)
            other = self.open("h2")
            if number:
                other.unlock(lock.name, lock.key, now=True)
            else:
                other.force(lock.name, now=True)
            other.lock(lock.name).acquire(0)
            self.assertTrue(within(60, lambda: not lock.held))

    def test_aio(self):
        """asyncio: likewise"""
        async def main():
            async with aio.Session(endpoint("h2")) as other:
                taking = asyncio.create_task(other.force(self.name))
                while self.lock.held:
                    await asyncio.sleep(0.01)
                await asyncio.to_thread(self.give_back, "forced")
                await taking
                await asyncio.to_thread(self.lock.acquire, 0)
                await other.unlock(self.name, self.lock.key, now=True)
                await other.lock(self.name).acquire(0)
        asyncio.run(main())
