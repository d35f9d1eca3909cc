#   test_process.py - fork, exit and sudden ends of processes with locks
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

import copy
import os
import pickle
import signal
import subprocess
import sys
import time

import lockkeeper
from lockkeeper import Misuse, _locks

from world import Case, daemon, start, within

HOSTS = 1

HOLD = """
import lockkeeper, sys, time
lock = lockkeeper.Lock(sys.argv[1])
lock.acquire()
print(lock.token, flush=True)
"""


def in_child(work, seconds=60):
    """The exit code of a child that does that: 0 if it returned True."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(seconds)
        code = 2
        try:
            code = 0 if work() else 1
        finally:
            sys.stderr.flush()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


class Processes(Case):
    def test_killed(self):
        """a process that is killed gives back what it holds, at once"""
        other = start(HOLD + "time.sleep(60)", self.name)
        self.addCleanup(other.communicate)
        token = int(other.stdout.readline())
        lock = self.session.lock(self.name)
        self.assertFalse(lock.try_acquire())
        began = time.monotonic()
        other.send_signal(signal.SIGKILL)
        with self.session.lock(self.name, timeout=20) as lock:
            self.assertGreater(lock.token, token)
        self.assertLess(time.monotonic() - began, 7)

    def test_exit(self):
        """a process that ends without release gives all back"""
        for end in ("sys.exit(3)", "raise SystemExit(3)", "",
                    "import os; os._exit(3)"):
            other = start(HOLD + end, self.name)
            other.communicate(timeout=30)
            with self.session.lock(self.name, timeout=30):
                pass

    def test_quick_exit(self):
        """the end of a program with locks is quick, and says nothing"""
        began = time.monotonic()
        done = subprocess.run([sys.executable, "-c", HOLD, self.name],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertLess(time.monotonic() - began, 30)

    def test_fork(self):
        """in a child nothing is held, and nothing can be done"""
        lock = self.session.lock(self.name)
        lock.acquire()

        def work():
            self.assertFalse(lock.held)
            self.assertEqual(lock.remaining, 0)
            for use in (lock.acquire, lock.release, self.session.list):
                with self.assertRaises(Misuse):
                    use()
            self.session.close()
            return True
        self.assertEqual(in_child(work), 0)
        self.assertTrue(lock.held)
        self.assertEqual(lock.ensure(), lock.token)
        lock.release()

    def test_pickle(self):
        """what belongs to a process is not copied; what tells, is"""
        from lockkeeper import aio, clusterlock, errors
        lock = self.session.lock(self.name)
        for thing in (self.session, lock, self.session.rwlock("x"),
                      self.session.lock_all(["a", "b"]), aio.Session(),
                      clusterlock.Lock("a", "b")):
            for use in (pickle.dumps, copy.copy, copy.deepcopy):
                with self.assertRaisesRegex(TypeError, "copied or pickled"):
                    use(thing)
        lost = errors.LockLost("gone", "forced", "by me")
        again = pickle.loads(pickle.dumps(lost))
        self.assertEqual((type(again), str(again), again.reason,
                          again.comment), (type(lost), "gone", "forced",
                                           "by me"))
        with lock:
            tickets = self.tickets()
            self.assertEqual(pickle.loads(pickle.dumps(tickets)), tickets)

    def ends(self, code, result=0, seconds=30, **options):
        """What that program says at its end, which comes soon."""
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", HOLD + code, self.name], timeout=60,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, result, done.stderr)
        self.assertLess(time.monotonic() - began, seconds)
        return done.stderr

    def test_end_everywhere(self):
        """a program may end anywhere: it says nothing, and all is free"""
        more = "import threading, asyncio, os\nfrom lockkeeper import aio\n"
        wait = "lockkeeper.Lock(sys.argv[1]).acquire"
        for code in (
                #   while a daemon thread waits for a lock
                f"threading.Thread(target={wait}, daemon=True).start()\n"
                "time.sleep(0.2)",
                #   in a callback
                "lock.on_lost = lambda *_: time.sleep(60)\n"
                "lockkeeper.default_session().force(sys.argv[1])\n"
                "time.sleep(0.2)",
                #   with two sessions, one of them closed
                "lockkeeper.Session().close()\nlockkeeper.Session()",
                #   while several threads are busy
                "def work():\n"
                "    while True:\n"
                "        with lockkeeper.Semaphore(sys.argv[1] + 's', 2):\n"
                "            pass\n"
                "for _ in range(4):\n"
                "    threading.Thread(target=work, daemon=True).start()\n"
                "time.sleep(0.2)",
                #   out of an asyncio session that nobody closed
                "async def main():\n"
                "    session = await aio.Session().open()\n"
                "    await session.lock(sys.argv[1] + 'a').acquire()\n"
                "asyncio.run(main())",
                #   in a child that ends as programs do
                "if os.fork() == 0:\n"
                "    sys.exit(0)\n"
                "os.wait()",
        ):
            self.assertEqual(self.ends(more + code), "", code)
            self.assertTrue(within(30, lambda: not self.tickets()), code)

    def test_end_lingering(self):
        """a regular end gives back also what would linger"""
        self.assertEqual(self.ends(
            "lockkeeper.Lock(sys.argv[1] + 'l', linger=60).acquire()"), "")
        self.session.lock(self.name + "l").acquire(30)

    def test_end_by_exception(self):
        """a program that fails says why, and only that"""
        said = self.ends("with lockkeeper.Lock('else'):\n    1 / 0", 1)
        self.assertIn("ZeroDivisionError", said)
        self.assertNotIn("lockkeeper/", said)
        self.assertTrue(within(30, lambda: not self.tickets()))

    def test_end_by_signal(self):
        """Ctrl-C and SIGTERM end a program that waits"""
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.session.lock(self.name + "2"):
                other = start(
                    HOLD + "lockkeeper.Lock(sys.argv[1] + '2').acquire()",
                    self.name, stderr=subprocess.PIPE)
                other.stdout.readline()
                self.waiting(self.name + "2", 1)
                other.send_signal(number)
                _, said = other.communicate(timeout=60)
            self.assertEqual(other.returncode, -number)
            self.assertEqual(said.count("Traceback"),
                             int(number == signal.SIGINT))
            self.assertTrue(within(30, lambda: not self.tickets()))

    def test_end_without_router(self):
        """a program ends soon although its router hangs"""
        code = """
import os, signal
os.kill(int(sys.argv[2]), signal.SIGSTOP)
"""
        pid = daemon("h1", "router")
        self.addCleanup(os.kill, pid, signal.SIGCONT)
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", HOLD + code, self.name, str(pid)],
            timeout=60, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertLess(time.monotonic() - began, 30)
        os.kill(pid, signal.SIGCONT)
        self.session.lock(self.name).acquire(60)

    def test_children(self):
        """a pool of processes: the parent's session says so, others work"""
        said = self.ends("""
import multiprocessing, os
def own(number):
    with lockkeeper.Lock(sys.argv[1] + "own", timeout=30) as mine:
        return mine.token
def parents(number):
    lock.ensure()
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(3) as pool:
        tokens = pool.map(own, range(9))
        assert len(set(tokens)) == 9, tokens
        try:
            pool.map(parents, range(3))
        except lockkeeper.LockLost as error:
            print(error)
        else:
            raise AssertionError
        assert lock.held
""", seconds=50)
        self.assertEqual(said, "")

    def test_fork_default(self):
        """in a child the session of the process is another one"""
        lockkeeper.Lock(self.name + "0").acquire()

        def work():
            with lockkeeper.Lock(self.name) as lock:
                return lock.held and not lockkeeper.Lock(
                    self.name + "0").try_acquire()
        self.assertEqual(in_child(work), 0)

    def test_fork_in_default(self):
        """a child does not wait for a mutex of the parent's threads"""
        with _locks._default_mutex:
            code = in_child(lambda: lockkeeper.Lock(
                self.name).try_acquire(), 20)
        self.assertEqual(code, 0)

    def test_fork_and_die(self):
        """a lock does not live on in a child"""
        other = start(HOLD + """
import os
if os.fork() == 0:
    time.sleep(60)
time.sleep(60)
""", self.name, start_new_session=True)
        self.addCleanup(other.communicate)
        self.addCleanup(os.killpg, other.pid, signal.SIGKILL)
        other.stdout.readline()
        time.sleep(0.2)
        other.send_signal(signal.SIGKILL)
        with self.session.lock(self.name, timeout=30):
            pass

    def test_fork_while_busy(self):
        """fork while other threads are at work does no harm"""
        import threading
        stop = threading.Event()

        def work():
            while not stop.is_set():
                with self.session.lock(self.name):
                    pass
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(10):
            self.assertEqual(in_child(lambda: self.session.closed), 0)
        stop.set()
        for thread in threads:
            thread.join()
