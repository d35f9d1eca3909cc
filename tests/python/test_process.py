#   test_process.py - fork, exit and sudden ends of processes with locks
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

import os
import signal
import subprocess
import sys
import time

import lockkeeper
from lockkeeper import Misuse, _locks

from world import Case, start

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
        self.assertLess(time.monotonic() - began, 4)

    def test_exit(self):
        """a process that ends without release gives all back"""
        for end in ("sys.exit(3)", "raise SystemExit(3)", "",
                    "import os; os._exit(3)"):
            other = start(HOLD + end, self.name)
            other.communicate(timeout=30)
            with self.session.lock(self.name, timeout=4):
                pass

    def test_quick_exit(self):
        """the end of a program with locks is quick, and says nothing"""
        began = time.monotonic()
        done = subprocess.run([sys.executable, "-c", HOLD, self.name],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertLess(time.monotonic() - began, 5)

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
        with self.session.lock(self.name, timeout=4):
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
