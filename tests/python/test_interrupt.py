#   test_interrupt.py - what breaks into a program that waits leaves nothing
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Python breaks into the main thread between any two steps of it.

import random
import signal
import time

import lockkeeper
from lockkeeper import Misuse

from world import Case, within

HOSTS = 1
ROUNDS = 1500


class Interrupt(Case):
    def setUp(self):
        super().setUp()
        self.armed = False
        self.hits = 0
        old = signal.signal(signal.SIGALRM, self.hit)
        self.addCleanup(signal.signal, signal.SIGALRM, old)
        self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0)

    def hit(self, _number, _frame):
        if self.armed:
            self.armed = False
            self.hits += 1
            raise KeyboardInterrupt

    def soon(self, most=0.0008):
        signal.setitimer(signal.ITIMER_REAL, random.random() * most + 1e-6)

    def nothing_left(self):
        """Nobody holds or waits for anything, and the session knows that."""
        driver = self.session._driver
        self.assertTrue(within(60, lambda: not self.watcher.list()))
        self.assertTrue(within(60, lambda: not driver.way.book.open_count))
        self.assertEqual((driver.mine, self.session._listener._jobs), ({}, []))

    def play(self, work):
        """Breaks into that again and again, anywhere."""
        self.watcher = self.open("h1")
        for count in range(ROUNDS):
            lock = self.session.lock(f"{self.name}{count % 7}", timeout=20)
            work(lock)
            signal.setitimer(signal.ITIMER_REAL, 0)
            if count % 50 == 0:
                self.nothing_left()
        self.nothing_left()
        self.assertGreater(self.hits, ROUNDS // 20)

    def test_acquire(self):
        """a lock that was asked for when Ctrl-C came is nobody's"""
        def work(lock):
            self.soon()
            try:
                self.armed = True
                with lock:
                    self.armed = False
            except KeyboardInterrupt:
                pass
        self.play(work)

    def test_release(self):
        """a release is finished, although nobody waits for that any more"""
        def work(lock):
            lock.acquire()
            self.soon()
            try:
                self.armed = True
                lock.release()
                self.armed = False
            except KeyboardInterrupt:
                self.release_again(lock)
        self.play(work)

    @staticmethod
    def release_again(lock):
        """It may have come ahead of the release."""
        try:
            lock.release()
        except Misuse:
            pass

    def test_reentrant(self):
        """a lock that is entered again is left as often as it was entered"""
        outer = lockkeeper.Lock(self.name, reentrant=True,
                                session=self.session)
        for _ in range(ROUNDS // 3):
            with outer:
                for inner in (outer, self.session.lock(self.name,
                                                       reentrant=True)):
                    self.soon(0.0002)
                    try:
                        self.armed = True
                        with inner:
                            self.armed = False
                    except KeyboardInterrupt:
                        pass
                self.assertEqual(outer.ensure(), outer.token)
            self.assertFalse(outer.held)
        self.watcher = self.session
        self.nothing_left()
        self.assertGreater(self.hits, 5)

    def test_waiting(self):
        """who waits behind others is not in their way when he gives up"""
        other = self.open("h1").lock(self.name)
        other.acquire()
        self.armed = True
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with self.assertRaises(KeyboardInterrupt):
            with self.session.lock(self.name):
                self.fail("it was the other's")
        self.waiting(self.name, 0)
        other.release()
        self.assertTrue(self.session.lock(self.name).try_acquire())

    def test_in_a_handler(self):
        """a signal handler may use the session that it breaks into"""
        seen = []
        name = self.name + "2"

        def handler(_number, _frame):
            with self.session.lock(name, timeout=60) as lock:
                seen.append(lock.held)
        signal.signal(signal.SIGALRM, handler)
        for _ in range(200):
            self.soon()
            with self.session.lock(self.name, timeout=60):
                pass
            time.sleep(0.0008)
        self.assertGreater(len(seen), 100)
        self.assertTrue(all(seen))
