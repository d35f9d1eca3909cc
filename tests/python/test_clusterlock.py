#   test_clusterlock.py - the examples of clusterlock's README, and its rules
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   What is quoted from its README is as it is there, but for the import.

import os
import threading
import time

from lockkeeper import clusterlock
from lockkeeper.clusterlock import (ClusterCleanUpError, ClusterLockError,
                                    ClusterLockReleaseError, Lock, Semaphore,
                                    acquire_all)

from world import Case, cli, start, within

HOSTS = 2
engine, session = object(), object()


def run(work):
    thread = threading.Thread(target=work)
    thread.start()
    return thread


class Readme(Case):
    def other(self, what, context, **options):
        """The same lock for somebody else, on the other host."""
        if not hasattr(self, "far"):
            self.far = self.open("h2")
        return Semaphore(what, context, lockkeeper_session=self.far,
                         **options)

    def test_create(self):
        """to create a lock we first need to initialize the module"""
        clusterlock.init_db(engine, session)
        lock = Lock("device", "snmp-query")
        lock.acquire()
        with self.assertRaises(ClusterLockError):
            self.other("device", "snmp-query").acquire(0.2)
        lock.release()
        with lock:
            with self.assertRaises(ClusterLockError):
                self.other("device", "snmp-query").acquire(0.2)
        #   The lock is auto-magically released.
        self.other("device", "snmp-query").acquire(60)

    def test_max_wait(self):
        """the maximum time you want to wait, in seconds"""
        lock = Lock("device", "max-wait")
        with self.other("device", "max-wait"):
            for acquire in (lambda: lock.acquire(max_wait=0.5),
                            lambda: lock.acquire(0.5)):
                began = time.monotonic()
                with self.assertRaises(ClusterLockError):
                    acquire()
                self.assertLess(abs(time.monotonic() - began - 0.5), 30)
        lock.acquire(max_wait=60)
        lock.release()
        lock.acquire(60)
        lock.release()

    def test_forever(self):
        """without max_wait, or with 0, it waits for as long as it takes"""
        for arguments in ((), (0,)):
            other = self.other("device", "forever")
            other.acquire()
            lock = Lock("device", "forever")
            thread = run(lambda: lock.acquire(*arguments))
            time.sleep(0.5)
            self.assertFalse(lock.held)
            other.release()
            thread.join(60)
            self.assertTrue(lock.held)
            lock.release()

    def test_fine_tuning(self):
        """the example of fine tuning, and what it is for"""
        lock = Semaphore(engine, session, "device", "get-config",
                         value=5, max_bound=5, duration=2, sleep_interval=0.1,
                         cleanup_every=3)
        lock.acquire()
        lock.release()
        units = [Semaphore("device", "get-config", max_bound=5)
                 for _ in range(5)]
        for unit in units:
            unit.acquire(60)
        with self.assertRaises(ClusterLockError):
            self.other("device", "get-config", max_bound=5).acquire(0.3)
        for unit in units:
            unit.release()

    def test_three_queries(self):
        """ensure that maximum three SNMP queries happen against a device"""
        running, most, mutex = [0], [0], threading.Lock()
        three = threading.Barrier(3)

        def query():
            with Semaphore("device", "three", max_bound=3):
                with mutex:
                    running[0] += 1
                    most[0] = max(most[0], running[0])
                three.wait(60)
                with mutex:
                    running[0] -= 1
        for thread in [run(query) for _ in range(9)]:
            thread.join()
        self.assertEqual(most, [3])

    def test_wrong_types(self):
        """what is no time is refused for that"""
        for lock, wait in ((self.other("device", "types"), "x"),
                           (Lock("device", "types", "x"), 1)):
            with self.assertRaisesRegex(Exception, "number of seconds"):
                lock.acquire(wait)

    def test_contexts(self):
        """different functions on the same device do not conflict"""
        with Lock("device", "get-config-2"), \
                Semaphore("device", "snmp-query-2", max_bound=3):
            pass
        with Lock("device"), Lock("device", "other"):
            with self.assertRaises(ClusterLockError):
                self.other("device", "-").acquire(0.2)

    def test_lock_is_semaphore(self):
        """a Lock is a short-cut for a Semaphore of one"""
        self.assertTrue(issubclass(Lock, Semaphore))
        with Lock("device", "short-cut"):
            with self.assertRaises(ClusterLockError):
                Semaphore("device", "short-cut", max_bound=1).acquire(0.2)
        for options in (dict(max_bound=2), dict(value=2)):
            with self.assertRaises(TypeError):
                Lock("device", "short-cut", **options)
        #   What comes third is the duration, and no bound.
        with Lock("device", "short-cut", 9), \
                Lock(engine, session, "device", "short-cut-2", 9):
            for context in ("short-cut", "short-cut-2"):
                with self.assertRaises(ClusterLockError):
                    self.other("device", context).acquire(0.2)
                (ticket,) = [one for one in self.tickets()
                             if one.context == context]
                self.assertEqual(ticket.fields["duration"], 9000)

    def test_value(self):
        """value is how many there are when the semaphore is created"""
        small = Semaphore("device", "value", max_bound=5, value=2)
        small.acquire()
        large = Semaphore("device", "value", max_bound=5)
        large.acquire(60)
        with self.assertRaises(ClusterLockError):
            large.acquire(0.2)
        small.release()
        large.release()
        with self.assertRaises(ValueError):
            Semaphore("device", "value", max_bound=0)

    def test_acquire_all(self):
        """acquire_all, with the parameters of the README"""
        locks = [Lock("device", "all-b"), Lock("device", "all-a"),
                 Semaphore("device", "all-c", max_bound=2)]
        acquire_all(locks, max_wait_per_lock=1, sleep_time=.5,
                    total_wait=None)
        self.assertTrue(all(lock.held for lock in locks))
        for lock in locks:
            lock.release()

    def test_acquire_all_or_none(self):
        """if any of the locks fails nothing is held, until total_wait"""
        locks = [Lock("device", "none-a"), Lock("device", "none-b")]
        with self.other("device", "none-b"):
            with self.assertRaises(ClusterLockError):
                acquire_all(locks, max_wait_per_lock=0.2, sleep_time=.1,
                            total_wait=1)
            self.assertFalse(any(lock.held for lock in locks))
            self.other("device", "none-a").acquire(60)

    def lose_in_all(self, last, lost, ready):
        """acquire_all of two and the last one; when that is ``ready`` one of
        the two is taken away. What comes of it."""
        context = self.id().rpartition(".")[2]
        locks = [Lock("all-a", context), Lock("all-b", context), last]
        found = []

        def work():
            try:
                acquire_all(locks, max_wait_per_lock=60, total_wait=60)
                found.append([lock.held for lock in locks])
            except Exception as error:
                found.append(type(error))
        thread = run(work)
        ready(context)
        self.session.force(lost, context=context)
        return locks[:2], thread, found

    def test_acquire_all_loses_one(self):
        """one that is lost meanwhile does not keep the others"""
        reached, gate = threading.Event(), threading.Event()

        class Last(Lock):
            def acquire(self, *_):
                reached.set()
                gate.wait(60)
                raise KeyError
            _take = acquire
        for lost, other in (("all-a", "all-b"), ("all-b", "all-a")):
            locks, thread, found = self.lose_in_all(
                Last("all-c"), lost, lambda context: reached.wait(60))
            gate.set()
            thread.join(60)
            self.assertEqual(found, [KeyError])
            with self.other(other, locks[0]._context):
                pass
            self.assertFalse(any(lock.held for lock in locks))
            reached.clear()
            gate.clear()

    def test_acquire_all_has_all(self):
        """one that is lost meanwhile is not had"""
        last = self.other("all-c", "-")
        last.acquire(60)
        locks, thread, found = self.lose_in_all(
            Lock("all-c"), "all-a", lambda context: self.waiting("all-c", 1))
        last.release()
        thread.join(60)
        self.assertEqual(found, [[True, True, True]])

    def test_block_that_fails(self):
        """the exception of a block is what leaves it, also after a loss"""
        with self.assertRaises(ZeroDivisionError):
            with Lock("device", "fails") as lock:
                self.session.force("device", context="fails")
                self.assertTrue(within(60, lambda: not lock.held))
                raise ZeroDivisionError

    def test_dinner(self):
        """process A got #1 and waits on #2, process B the other way round"""
        ones = [[Lock("fork", str(at)), Lock("fork", str((at + 1) % 3))]
                for at in range(3)]

        def eat(locks):
            for _ in range(10):
                acquire_all(locks, max_wait_per_lock=60)
                locks[0].release()
                locks[1].release()
        for thread in [run(lambda locks=locks: eat(locks))
                       for locks in ones]:
            thread.join(60)
            self.assertFalse(thread.is_alive())

    def test_dead(self):
        """processes tend to die: their locks are free at once"""
        other = start("""
from lockkeeper.clusterlock import Lock
Lock("device", "dead").acquire()
print("held", flush=True)
input()
""", stdin=-1)
        self.addCleanup(other.communicate)
        self.assertEqual(other.stdout.readline(), "held\n")
        lock = Lock("device", "dead")
        with self.assertRaises(ClusterLockError):
            lock.acquire(0.2)
        other.kill()
        lock.acquire(60)
        lock.release()

    def test_duration(self):
        """who takes longer than its duration loses it to who waits"""
        lock = Lock("device", "long", duration=1)
        lock.acquire()
        time.sleep(1.5)
        self.assertTrue(lock.held)  # nobody waits
        other = Lock("device", "long")
        thread = run(other.acquire)
        self.assertTrue(within(60, lambda: not lock.held))
        with self.assertRaises(ClusterLockReleaseError):
            lock.release()
        thread.join(60)
        self.assertTrue(other.held)
        other.release()

    def test_release_errors(self):
        """a release that does not match raises, and so does a loss"""
        lock = Lock("device", "mismatch")
        with self.assertRaises(ClusterLockReleaseError):
            lock.release()
        lock.acquire()
        code, said = cli("unlock", "device", "--context", "mismatch",
                         "--force", "--reason", "why not")
        self.assertEqual(code, 0, said)
        self.assertTrue(within(60, lambda: not lock.held))
        with self.assertRaises(ClusterLockReleaseError):
            lock.release()

    def test_names(self):
        """the other names of the module are there"""
        self.assertTrue(issubclass(ClusterCleanUpError, Exception))
        self.assertEqual(clusterlock.get_backend("config.json"),
                         clusterlock.get_db())
        self.assertEqual(len(clusterlock.get_who().split(":")), 3)

    def test_no_router(self):
        """without a router it is a ClusterLockError as well"""
        other = start("""
from lockkeeper.clusterlock import ClusterLockError, Lock
try:
    Lock("device", "x").acquire()
except ClusterLockError as error:
    print(error)
""", env=dict(os.environ, LOCKKEEPER_ENDPOINT="ipc:///nobody"))
        said, _ = other.communicate(timeout=30)
        self.assertIn("no router at 'ipc:///nobody'", said)
