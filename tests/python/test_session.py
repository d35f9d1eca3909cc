#   test_session.py - locks that block, on a cluster of three
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

import os
import threading
import time
from unittest import mock

import lockkeeper
from lockkeeper import (Busy, Deadlock, Denied, Disconnected, Invalid,
                        LockLost, Misuse, TimedOut, Unknown)
from lockkeeper._lease import now_ms

from world import Case, cli, endpoint, start, within

HOSTS = 3

HOLDER = """
import lockkeeper, sys
with lockkeeper.Session(sys.argv[2]).lock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


class Locks(Case):
    def test_lock(self):
        """a lock has one holder; token, key and list tell of it"""
        with self.session.lock(self.name) as lock:
            self.assertTrue(lock.held)
            self.assertGreater(lock.remaining, 1)
            self.assertIsNone(lock.left)
            self.assertEqual(lock.ensure(), lock.token)
            self.assertEqual(len(lock.key), 16)
            (ticket,) = [one for one in self.tickets()
                         if one.name == self.name]
            self.assertEqual((ticket.state, ticket.token, ticket.pid),
                             ("held", lock.token, os.getpid()))
            other = self.open("h2").lock(self.name)
            self.assertFalse(other.try_acquire())
            first = lock.token
        self.assertFalse(lock.held)
        with other:
            self.assertGreater(other.token, first)

    def test_timeout(self):
        """a wait that is over raises TimedOut, in time"""
        with self.session.lock(self.name):
            other = self.open("h2").lock(self.name, timeout=0.3)
            began = time.monotonic()
            with self.assertRaises(TimeoutError):
                other.acquire()
            self.assertLess(time.monotonic() - began, 30)
            self.assertFalse(other.held)
            with self.assertRaises(Busy):
                other.acquire(0)
        other.acquire(60)
        self.assertTrue(other.release())

    def test_short_timeout(self):
        """a wait that is shorter than an answer is enough for what is free"""
        for number in range(100):
            name, wait = f"{self.name}{number}", (number % 2 + 1) / 1000
            with self.session.lock_all([name, name + "b"], timeout=wait):
                pass
            with self.session.lock(name, shared=True, timeout=wait) as lock:
                lock.upgrade(wait)
                for kind in ({}, {"shared": True}):
                    with self.assertRaises(TimedOut):
                        self.session.lock(name, **kind).acquire(wait)

    def test_timeout_over_before_it_asks(self):
        """a wait that is over before it is asked for is over, not none"""
        with self.session.lock(self.name), mock.patch(
                "lockkeeper._handle.now_ms", lambda: now_ms() + 5), \
                self.assertRaises(TimedOut):
            self.session.lock(self.name).acquire(0.001)

    def test_long_timeout(self):
        """a very long wait is one"""
        self.assertTrue(self.session.status(timeout=2.0 ** 35).ready)

    def test_order(self):
        """who waits is served in the order of asking"""
        order, threads = [], []
        with self.session.lock(self.name):
            for number in range(5):
                def work(number=number):
                    with self.session.lock(self.name):
                        order.append(number)
                threads.append(threading.Thread(target=work))
                threads[-1].start()
                self.waiting(self.name, number + 1)
        for thread in threads:
            thread.join()
        self.assertEqual(order, list(range(5)))

    def test_misuse(self):
        """what makes no sense is said at once"""
        lock = self.session.lock(self.name)
        with self.assertRaises(Misuse):
            lock.release()
        with self.assertRaises(Misuse):
            lock.ensure()
        with lock:
            with self.assertRaises(Misuse):
                lock.acquire()
        for options in (dict(lenient=True), dict(quiet=1), dict(key="x"),
                        dict(timeout=-1), dict(context="\0")):
            with self.assertRaises(Invalid):
                self.session.lock(self.name, **options)
        with self.assertRaises(Invalid):
            self.session.semaphore(self.name)

    def test_errors(self):
        """what is raised about a lock names it, and says why"""
        other = self.open("h2").lock(self.name, context="deep")
        other.acquire()
        lock = self.session.lock(self.name, context="deep", timeout=0.01)
        said = f"'{self.name}' of context 'deep'"
        for kind, deed in ((TimedOut, lock.acquire),
                           (Busy, lambda: lock.acquire(0)),
                           (Denied, lambda: self.session.unlock(
                               self.name, "1" * 16, context="deep"))):
            with self.assertRaises(kind) as caught:
                deed()
            self.assertEqual(caught.exception.name, self.name)
            self.assertTrue(str(caught.exception).startswith(said + ": "))
        self.session.force(self.name, context="deep", reason="by me")
        with self.assertRaises(LockLost) as caught:
            other.release()
        self.assertEqual(str(caught.exception), said
                         + " is lost: an operator took the lock away (by me)")
        self.assertEqual(caught.exception.name, self.name)
        pair = self.session.lock_all([b"\xff", self.name + "2"])
        self.session.lock(self.name + "2").acquire()
        with self.assertRaises(Busy) as caught:
            pair.acquire(0)
        self.assertEqual(caught.exception.name, b"\xff")
        self.assertIn(f"'\\xff', '{self.name}2': ", str(caught.exception))

    def test_wrong_types(self):
        """what is of the wrong type is Invalid, and is named"""
        lock = self.session.lock(self.name)
        for said, deed in (
                ("a timeout is a number of seconds, not 'soon'",
                 lambda: lock.acquire("soon")),
                ("a timeout is a number of seconds, not []",
                 lambda: lock.acquire([])),
                ("a timeout is a number of seconds, not True",
                 lambda: lock.acquire(True)),
                ("a timeout is out of range: -1", lambda: lock.acquire(-1)),
                ("a timeout is out of range: nan",
                 lambda: lock.acquire(float("nan"))),
                ("a timeout is a number of seconds, not 'soon'",
                 lambda: lock.release(timeout="soon")),
                ("a timeout is a number of seconds, not 'soon'",
                 lambda: self.session.list(timeout="soon")),
                ("a timeout is a number of seconds, not 'soon'",
                 lambda: lockkeeper.Session(connect_timeout="soon")),
                ("a duration is a number of seconds, not 'long'",
                 lambda: self.session.lock("x", duration="long")),
                ("a context is a str, not 5",
                 lambda: self.session.lock("x", context=5)),
                ("'me' cannot be called",
                 lambda: self.session.lock("x", on_lost="me")),
                ("the name of a lock is a str or bytes",
                 lambda: self.session.lock(5)),
                ("a set has a list of names",
                 lambda: self.session.lock_all(5)),
                ("a reason is a str, not 5",
                 lambda: self.session.force(self.name, reason=5)),
                ("an endpoint is a str, not 5",
                 lambda: lockkeeper.Session(5)),
                ("a name of a session is a str, not 5",
                 lambda: lockkeeper.Session(name=5))):
            with self.assertRaises(Invalid) as caught:
                deed()
            self.assertEqual(str(caught.exception), said)

    def test_inside(self):
        """a lock may be released inside of its block"""
        with self.session.lock(self.name) as lock:
            lock.release()

    def test_reentrant(self):
        """a reentrant lock is given back with its last release"""
        lock = self.session.lock(self.name, reentrant=True)
        with lock:
            with lock:
                token = lock.token
            self.assertTrue(lock.held)
            self.assertEqual(lock.token, token)
        self.assertFalse(lock.held)
        self.assertTrue(self.open("h2").lock(self.name).try_acquire())

    def test_reentrant_by_name(self):
        """a thread enters again what it has of that name, by any object"""
        outer = self.session.lock(self.name)
        inner = self.session.lock(self.name, reentrant=True)
        with outer:
            with inner:
                self.assertEqual(inner.token, outer.token)
                self.assertEqual(inner.key, outer.key)
                with self.assertRaises(Misuse):
                    outer.acquire()
            self.assertFalse(inner.held)
            self.assertTrue(outer.held)
            inner.acquire()
            outer.release()  # in any order
            self.assertTrue(inner.held)
            self.assertFalse(self.open("h2").lock(self.name).try_acquire())
            inner.release()
            outer.acquire(60)

    def test_reentrant_is_of_one(self):
        """no other thread, name, context, type or session enters with it"""
        first = self.session.lock(self.name, reentrant=True)
        again = self.session.lock(self.name, reentrant=True)
        got = []
        with first:
            thread = threading.Thread(
                target=lambda: got.append(again.try_acquire()))
            thread.start()
            thread.join()
            self.assertEqual(got, [False])
            for session, name, options in (
                    (self.open("h1"), self.name, {}),
                    (self.session, self.name, dict(shared=True))):
                self.assertFalse(session.lock(
                    name, reentrant=True, **options).try_acquire())
            other = self.session.lock(self.name, reentrant=True,
                                      context="another")
            with other:
                self.assertNotEqual(other.key, first.key)
        with again:
            self.assertGreater(again.token, first.token)

    def test_reentrant_lost(self):
        """what was lost is not entered again; each object is told"""
        told = []
        one, two, three = [
            self.session.lock(self.name, reentrant=True, on_lost=lambda lock,
                              reason: told.append((lock, reason)))
            for _ in range(3)]
        one.acquire()
        two.acquire()
        self.open("h2").force(self.name)
        self.assertTrue(within(60, lambda: len(told) == 2))
        self.assertEqual({lock for lock, _ in told}, {one, two})
        for use in (three.acquire, two.release, one.release):
            with self.assertRaises(LockLost) as caught:
                use()
            self.assertEqual(caught.exception.reason, "forced")
        three.acquire(60)

    def test_names(self):
        """names are texts or bytes, and contexts part them"""
        for name in ("é \x1b", b"\xff\x00", "x" * 4096):
            with self.session.lock(name) as lock:
                self.assertEqual(lock.name, name)
                self.assertIn(name, [one.name for one in self.tickets()])
        with self.session.lock(self.name, context="a"):
            self.assertFalse(self.session.lock(self.name, context="a")
                             .try_acquire())
            self.assertTrue(self.session.lock(self.name, context="b")
                            .try_acquire())

    def test_set(self):
        """a set is held as one, or not at all"""
        names = [self.name + "b", self.name + "a"]
        with self.session.lock_all(names) as locks:
            self.assertEqual(list(locks.tokens), names)
            self.assertTrue(all(locks.tokens.values()))
            self.assertFalse(self.open("h3").lock(names[1]).try_acquire())
        with self.session.lock(names[1]):
            with self.assertRaises(TimedOut):
                self.session.lock_all(names).acquire(0.2)
            self.assertTrue(self.session.lock(names[0]).try_acquire())

    def test_static(self):
        """a static lock stays when it is left, until its key ends it"""
        with lockkeeper.Session(endpoint("h1")) as short:
            lock = short.lock(self.name, static=True)
            lock.acquire()
            key = lock.leave()
            self.assertFalse(lock.held)
        other = self.open("h2")
        self.assertFalse(other.lock(self.name).try_acquire())
        with self.assertRaises(Denied):
            other.unlock(self.name, "0" * 16)
        other.unlock(self.name, key)
        with self.assertRaises(Unknown):
            other.unlock(self.name, int(key, 16))
        self.assertTrue(other.lock(self.name).try_acquire())
        with self.assertRaises(Invalid):
            with self.session.lock(self.name + "2") as plain:
                plain.leave()

    def test_linger(self):
        """a lock that lingers is taken over with its key"""
        with lockkeeper.Session(endpoint("h1")) as short:
            lock = short.lock(self.name, linger=30)
            lock.acquire()
            token, key = lock.token, lock.leave()
        with self.session.lock(self.name, key=key, timeout=60) as again:
            self.assertEqual(again.token, token)

    def test_check(self):
        """who guards a resource may ask for a token"""
        with self.session.lock(self.name) as lock:
            guard = self.open("h3")
            self.assertTrue(guard.check(self.name, lock.token))
            told = guard.check(self.name, lock.token - 1)
            self.assertEqual((bool(told), told.newest), (False, lock.token))
        self.assertEqual(guard.check(self.name, 1).newest, 0)

    def test_status(self):
        """status tells the leaders"""
        status = self.session.status()
        self.assertTrue(status.ready)
        self.assertEqual(set(status.members), {"h1", "h2", "h3"})
        self.assertEqual((status.host, self.session.host), ("h1", "h1"))

    def test_list_elsewhere(self):
        """a host that does not lead finds the leader for a list"""
        with self.session.lock(self.name):
            for host in ("h1", "h2", "h3"):
                self.assertIn(self.name, [one.name for one in
                                          self.open(host).list()])


class Looking(Case):
    def test_members(self):
        """members are all hosts, leaders first, whoever is asked"""
        for host in ("h1", "h2", "h3"):
            members = self.open(host).members()
            self.assertEqual({one.host for one in members},
                             {"h1", "h2", "h3"})
            self.assertEqual(members[0].role, "first leader")
            self.assertTrue(all(one.seen for one in members))
            self.assertTrue(all(len(one.id) == 16 for one in members))

    def test_list_one(self):
        """a list of one name, in its context"""
        with self.session.lock(self.name, context="there"), \
                self.open("h2").lock(self.name):
            for context, host in (("", "h2"), ("there", "h1")):
                (ticket,) = self.session.list(self.name, context=context)
                self.assertEqual((ticket.name, ticket.context, ticket.host),
                                 (self.name, context, host))
            self.assertEqual(self.session.list(self.name + "2"), [])

    def test_owners(self):
        """owners tells whose programs hold and wait, on all hosts"""
        other = start(HOLDER, self.name, endpoint("h2"), stdin=-1)
        self.addCleanup(other.wait)
        self.addCleanup(other.stdout.close)
        self.addCleanup(other.stdin.close)
        other.stdout.readline()
        waiter = self.open("h3").lock(self.name)
        thread = threading.Thread(target=waiter.acquire, daemon=True)
        thread.start()
        self.waiting(self.name, 1)
        held, waits = self.session.owners(self.name)
        self.assertEqual((held.state, held.host, held.pid, held.uid),
                         ("held", "h2", other.pid, os.getuid()))
        self.assertEqual((waits.state, waits.host, waits.pid, waits.uid),
                         ("waiting", "h3", os.getpid(), os.getuid()))
        self.assertIn("python", held.command)
        self.assertIn(self.name, held.arguments)
        self.assertIs(held.in_jeopardy, False)
        other.stdin.close()
        thread.join(60)
        waiter.release()
        self.assertEqual(self.session.owners(self.name), [])

    def test_history(self):
        """history tells what happened to a lock, on all hosts"""
        with self.open("h2").lock(self.name):
            with self.assertRaises(TimedOut):
                self.open("h3").lock(self.name).acquire(0.1)
        with self.session.lock(self.name, context="there"):
            pass
        lost = self.session.lock(self.name)
        lost.acquire()
        self.open("h3").force(self.name, reason="why not")
        self.assertTrue(within(60, lambda: not lost.held))
        told = self.session.history(self.name)
        self.assertEqual(told.silent, ())
        #   Hosts tell of milliseconds, and not all at the same moment.
        self.assertEqual(
            sorted((one.event, one.host, one.error, one.reason)
                   for one in told),
            [("failed", "h3", "timedout", ""),
             ("forced", "h3", "", "why not"),
             ("granted", "h1", "", ""),
             ("granted", "h2", "", ""),
             ("lost", "h1", "forced", "why not"),
             ("released", "h2", "", "")])
        self.assertEqual([one.ago for one in told],
                         sorted([one.ago for one in told], reverse=True))
        self.assertEqual({one.name for one in told}, {self.name})
        tokens = {(one.event, one.host): one.token for one in told}
        self.assertEqual(tokens["granted", "h1"], tokens["lost", "h1"])
        self.assertGreater(tokens["granted", "h1"], tokens["granted", "h2"])
        times = {one.event: (one.waited, one.held) for one in told}
        self.assertGreater(times["failed"][0], 0.09)
        self.assertGreater(times["released"][1], 0.09)
        self.assertEqual([one.event for one in self.session.history(
            self.name, context="there")], ["granted", "released"])
        names = [one.name for one in self.session.history(count=500)]
        self.assertGreaterEqual(names.count(self.name), 8)
        self.assertEqual(len(self.session.history(count=3)), 3)


class Kinds(Case):
    def test_semaphore(self):
        """a semaphore has as many holders as its limit says"""
        units = [self.open(host).semaphore(self.name, 2)
                 for host in ("h1", "h2", "h3")]
        self.assertEqual([unit.try_acquire() for unit in units],
                         [True, True, False])
        self.assertEqual([unit.ordinal for unit in units[:2]], [1, 2])
        units[0].release()
        units[2].acquire(60)

    def test_semaphore_with_cli(self):
        """units are counted together with those of lockkeeper(1)"""
        with self.session.semaphore(self.name, 2):
            run = ("run", self.name, "--semaphore", "2", "--wait", "0", "--",
                   "true")
            self.assertEqual(cli(*run, host="h2")[0], 0)
            with self.session.semaphore(self.name, 2):
                self.assertNotEqual(cli(*run, host="h2")[0], 0)

    def test_readers(self):
        """readers share with lockkeeper(1), writers do not"""
        lock = self.session.rwlock(self.name)
        shared = ("run", self.name, "--shared", "--wait", "0", "--", "true")
        with lock.read(), lock.read():
            self.assertEqual(cli(*shared, host="h3")[0], 0)
            self.assertFalse(lock.write().try_acquire())
        with lock.write(timeout=60):
            self.assertNotEqual(cli(*shared, host="h3")[0], 0)
            self.assertFalse(lock.read().try_acquire())

    def test_soft(self):
        """readers pass a soft writer that waits"""
        lock = self.session.rwlock(self.name)
        one, two, writer = lock.read(), lock.read(), lock.write(soft=True)
        one.acquire()
        thread = threading.Thread(target=writer.acquire)
        thread.start()
        self.waiting(self.name, 1)
        self.assertTrue(two.try_acquire())
        one.release()
        self.assertFalse(writer.held)
        two.release()
        thread.join()
        self.assertTrue(writer.held)

    def test_change(self):
        """a reader becomes the writer and back, without letting go"""
        with self.session.rwlock(self.name).read() as lock:
            token = lock.token
            lock.upgrade(5)
            self.assertEqual(lock.type, "exclusive")
            self.assertGreater(lock.token, token)
            self.assertFalse(self.session.lock(self.name, shared=True)
                             .try_acquire())
            lock.downgrade()
            self.assertEqual(lock.type, "shared")
            lock.change("exclusive", 5)
            lock.change("exclusive")
            self.assertEqual(lock.type, "exclusive")
            lock.change("shared")
            with self.assertRaisesRegex(Invalid, "between exclusive and"):
                lock.change("semaphore")
            self.assertEqual(lock.type, "shared")
            with self.open("h2").rwlock(self.name).read():
                with self.assertRaises(TimedOut):
                    lock.upgrade(0.2)
                self.assertTrue(lock.held)

    def test_deadlock(self):
        """of two readers that want to write the second is refused"""
        with self.session.lock(self.name, shared=True) as one, \
                self.open("h2").lock(self.name, shared=True) as two:
            thread = threading.Thread(target=one.upgrade)
            thread.start()
            self.assertTrue(within(60, lambda: any(
                ticket.fields.get("upgrade")
                for ticket in self.tickets())))
            with self.assertRaises(Deadlock):
                two.upgrade(5)
            two.release()
            thread.join()
            self.assertEqual(one.type, "exclusive")


class Losing(Case):
    def test_forced(self):
        """a lock that an operator takes away is told, with the reason"""
        told = []
        lock = self.session.lock(self.name, on_lost=lambda lock, reason:
                                 told.append((lock, reason)))
        with self.assertRaises(LockLost) as caught:
            with lock:
                code, said = cli("unlock", self.name, "--force", "--reason",
                                 "go away")
                self.assertEqual(code, 0, said)
                self.assertTrue(within(60, lambda: told))
                self.assertFalse(lock.held)
                with self.assertRaises(LockLost):
                    lock.ensure()
        self.assertEqual(told, [(lock, "forced")])
        self.assertEqual((caught.exception.reason, caught.exception.comment),
                         ("forced", "go away"))
        self.assertFalse(lock.held)

    def test_other_error(self):
        """an exception in the block is not hidden by a loss"""
        with self.assertRaises(KeyError):
            with self.session.lock(self.name) as lock:
                self.open("h2").unlock(self.name, lock.key)
                self.assertTrue(within(60, lambda: not lock.held))
                raise KeyError

    def test_duration(self):
        """a lock is lost when its duration is over, and given back"""
        lock = self.session.lock(self.name, duration=2)
        lock.acquire()
        self.assertLessEqual(lock.left, 2)
        self.assertTrue(within(60, lambda: not lock.held))
        other = self.open("h2").lock(self.name)
        self.assertFalse(other.try_acquire())
        with self.assertRaises(LockLost) as caught:
            lock.release()
        self.assertEqual(caught.exception.reason, "timedout")
        other.acquire(60)

    def test_token_of_lost(self):
        """who released a lost lock may acquire again"""
        lock = self.session.lock(self.name)
        lock.acquire()
        first = lock.token
        self.session.unlock(self.name, lock.key)
        with self.assertRaises(LockLost):
            lock.release()
        with lock:
            self.assertGreater(lock.token, first)


class Threads(Case):
    def test_shared_object(self):
        """threads that share a lock hold it one after the other"""
        lock, counts = self.session.lock(self.name), [0]

        def work():
            for _ in range(10):
                with lock:
                    count = counts[0]
                    time.sleep(0.001)
                    counts[0] = count + 1
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(counts, [40])

    def test_lost_in_thread(self):
        """a lost lock is no other thread's before it is released"""
        lock = self.session.lock(self.name)
        lock.acquire()
        got = threading.Event()
        thread = threading.Thread(target=lambda: (lock.acquire(), got.set()))
        thread.start()
        self.session.force(self.name)
        self.assertTrue(within(60, lambda: not lock.held))
        self.assertFalse(got.wait(0.3))
        self.assertFalse(lock.held)
        with self.assertRaises(LockLost):
            lock.release()
        self.assertTrue(got.wait(60))
        thread.join()
        lock.release()

    def test_callback_releases(self):
        """a callback may use the lock and its session"""
        done = threading.Event()

        def on_lost(lock, reason):
            with self.assertRaises(LockLost):
                lock.release()
            with self.session.lock(self.name):
                pass
            done.set()
        lock = self.session.lock(self.name, on_lost=on_lost)
        lock.acquire()
        self.session.force(self.name)
        self.assertTrue(done.wait(60))

    def test_close_wakes(self):
        """who waits learns that the session was closed"""
        other, errors = self.open("h2"), []

        def work():
            try:
                other.lock(self.name).acquire()
            except Disconnected as error:
                errors.append(error)
        with self.session.lock(self.name):
            thread = threading.Thread(target=work)
            thread.start()
            self.waiting(self.name, 1)
            other.close()
            thread.join(60)
        self.assertEqual(len(errors), 1)

    def test_interrupt(self):
        """Ctrl-C takes the request back"""
        with self.session.lock(self.name):
            other = start("""
import lockkeeper, sys
try:
    lockkeeper.Lock(sys.argv[1]).acquire()
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.stdin.read()
""", self.name, stdin=-1)
            self.addCleanup(other.communicate)
            self.waiting(self.name, 1)
            other.send_signal(2)
            self.assertEqual(other.stdout.readline(), "interrupted\n")
            self.waiting(self.name, 0)


class Sessions(Case):
    def test_nobody(self):
        """where no router is the sentence says so"""
        with self.assertRaisesRegex(Disconnected, "no router at .*/nobody': "
                                    "no such file"):
            lockkeeper.Session("ipc:///nobody", connect_timeout=0.2)
        with self.assertRaises(ConnectionError):
            lockkeeper.Session("ipc:///nobody", connect_timeout=0)
        with self.assertRaisesRegex(Invalid, "no endpoint of the kind"):
            lockkeeper.Session("tcp://127.0.0.1:7411")

    def test_several(self):
        """of several endpoints the one that answers is taken"""
        with lockkeeper.Session(f"ipc:///nobody,{endpoint('h2')}") as session:
            self.assertEqual(session.host, "h2")

    def test_close(self):
        """close gives all back, and nothing can be asked for then"""
        other = self.open("h2")
        lock, wait = other.lock(self.name), self.session.lock(self.name)
        lock.acquire()
        other.close()
        other.close()
        self.assertFalse(lock.held)
        wait.acquire(60)
        for use in (lock.acquire, lock.release, other.list):
            with self.assertRaises(Misuse):
                use()

    def test_close_at_once(self):
        """a session that is busy can be closed, and all who wait are told"""
        for _ in range(20):
            session, errors = lockkeeper.Session(endpoint("h1")), []

            def work(session=session, errors=errors):
                try:
                    while True:
                        with session.lock(self.name):
                            pass
                except (Disconnected, LockLost, Misuse) as error:
                    errors.append(error)
            threads = [threading.Thread(target=work) for _ in range(3)]
            for thread in threads:
                thread.start()
            session.close()
            for thread in threads:
                thread.join(60)
            self.assertEqual(len(errors), 3)
            self.assertFalse(session._listener._thread.is_alive())
        self.session.lock(self.name).acquire(60)

    def test_default(self):
        """locks without a session share one"""
        with lockkeeper.Lock(self.name) as one, \
                lockkeeper.Semaphore(self.name + "s", 1) as two:
            self.assertTrue(one.held and two.held)
            self.assertIs(lockkeeper.default_session(),
                          lockkeeper.default_session())
