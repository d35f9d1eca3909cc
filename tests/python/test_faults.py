#   test_faults.py - locks that are lost, or not, when daemons end or hang
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

import os
import signal
import threading
import time

from lockkeeper import Disconnected, LockLost

from world import Case, daemon, endpoint, is_alive, within
import lockkeeper

HOSTS = 3


class Faults(Case):
    def setUp(self):
        super().setUp()
        self.told = []

    def lock(self, session, **options):
        lock = session.lock(
            self.name, on_lost=lambda lock, reason: self.told.append(reason),
            on_jeopardy=lambda lock, danger: self.told.append(danger),
            **options)
        lock.acquire()
        return lock

    def watch_end(self, lock):
        """Looks at a lock that will be lost until it is; what the lease page
        said last."""
        until = 0
        end = time.monotonic() + 60
        while lock.held and time.monotonic() < end:
            until = max(until, lock._until())
            time.sleep(0.01)
        return until

    def test_hung_lockd(self):
        """a lock is not held when its lock service has hung for a lease"""
        session = self.open("h2")
        lock = self.lock(session)
        self.stop(daemon("h2", "lockd"))
        until = self.watch_end(lock)
        self.assertFalse(lock.held)
        now = time.clock_gettime(time.CLOCK_BOOTTIME) * 1000
        self.assertGreaterEqual(now, until)
        self.assertLess(now, until + 30000)
        self.assertTrue(within(60, lambda: self.told[-1:] == ["isolated"]))
        self.assertIn(True, self.told)  # jeopardy came first
        with self.assertRaises(LockLost) as caught:
            lock.ensure()
        self.assertEqual(caught.exception.reason, "isolated")
        #   And it is somebody else's only then.
        with self.open("h1").lock(self.name, timeout=30) as other:
            self.assertGreater(other.token, lock.token)

    def test_hung_listener(self):
        """held is honest although nobody tells the program anything"""
        session = self.open("h3")
        lock = self.lock(session)
        self.stop(daemon("h3", "lockd"))
        go_on = threading.Event()
        self.addCleanup(go_on.set)
        session._listener._post(go_on.wait)  # it cannot work from here on
        self.watch_end(lock)
        self.assertFalse(lock.held)
        self.assertEqual(lock.remaining, 0)
        self.assertNotIn("isolated", self.told)

    def test_killed_lockd(self):
        """a lock survives a restart of its lock service in time, or is lost
        as 'disconnected' or 'isolated'; never is it two's"""
        session = self.open("h1")
        lock = self.lock(session)
        self.restart("h1", "lockd")
        other = self.open("h2").lock(self.name, timeout=60)
        thread = threading.Thread(target=other.acquire)
        thread.start()
        end = time.monotonic() + 15
        while time.monotonic() < end and not self.told[-1:] == ["isolated"]:
            mine, others = lock.held, other.held
            self.assertFalse(mine and others and lock.held)
            time.sleep(0.005)
        try:
            lock.release()
        except LockLost as error:
            self.assertIn(error.reason, ("isolated", "disconnected", "lost"))
        thread.join()
        other.release()

    def test_restarted_lockd(self):
        """a lock goes on when its lock service is restarted in time"""
        for number in (signal.SIGKILL, signal.SIGTERM):
            session, self.told = self.open("h1"), []
            lock = self.lock(session)
            shared = session.lock(self.name + "s", shared=True)
            shared.acquire()
            pair = session.lock_all([self.name + "p", self.name + "q"])
            pair.acquire()
            heir = self.taken_over(session)
            locks = lock, shared, pair, heir
            had = [(one.tokens, one.keys) for one in locks]
            pid = daemon("h1", "lockd")
            os.kill(pid, number)
            self.assertTrue(within(60, lambda: not is_alive(pid)))
            self.assertTrue(within(60, lambda: self.told == [True]))
            self.restart_only("h1", "lockd")
            self.assertTrue(within(60, lambda: self.told == [True, False]))
            end = time.monotonic() + 10  # longer than the lease of before
            while time.monotonic() < end:
                self.assertTrue(all(one.held for one in locks))
                time.sleep(0.01)
            self.assertEqual([(one.tokens, one.keys) for one in locks], had)
            names = [name for one in locks for name in one.names]
            others = [self.open("h2").lock(name) for name in names]
            self.assertFalse(any(other.try_acquire() for other in others))
            self.assertTrue(all(one.release() for one in locks))
            for other in others:
                other.acquire(60)
                other.release()

    def taken_over(self, session):
        """A lock that another session left, by its key."""
        with self.open("h1") as former:
            left = former.lock(self.name + "k", linger=60)
            left.acquire()
            key = left.leave()
        heir = session.lock(self.name + "k", key=key, linger=60)
        heir.acquire()
        self.assertEqual(heir.key, key)
        return heir

    def test_killed_router(self):
        """behind a restart of the router all goes on"""
        session = self.open("h3")
        lock = self.lock(session)
        self.restart("h3", "router")
        waiter = session.lock(self.name + "2")
        waiter.acquire(60)
        self.assertTrue(lock.held)
        self.await_calm()
        self.session.force(self.name)
        self.assertTrue(within(60, lambda: self.told[-1:] == ["forced"]))
        waiter.release()

    def test_asked_meanwhile(self):
        """who asks while there is no lock service is served when it comes"""
        session = self.open("h2")
        self.kill("h2", "lockd")
        got = []
        lock = session.lock(self.name, timeout=60)
        thread = threading.Thread(
            target=lambda: (lock.acquire(), got.append(lock.token)))
        thread.start()
        time.sleep(1.5)
        self.assertEqual(got, [])
        self.restart_only("h2", "lockd")
        thread.join(60)
        self.assertEqual(len(got), 1)
        lock.release()

    def restart_only(self, host, name):
        from world import SANDBOX, cli
        code, said = cli("sandbox", "restart", host, name, "--dir", SANDBOX)
        self.assertEqual(code, 0, said)

    def test_hung_router(self):
        """a router that does not answer is said so"""
        pid = daemon("h2", "router")
        os.kill(pid, signal.SIGSTOP)
        try:
            with self.assertRaisesRegex(Disconnected, "does not answer"):
                lockkeeper.Session(endpoint("h2"), connect_timeout=0.5)
            with lockkeeper.Session(f"{endpoint('h2')},{endpoint('h1')}",
                                    connect_timeout=20) as session:
                self.assertEqual(session.host, "h1")
        finally:
            os.kill(pid, signal.SIGCONT)
