#   test_examples.py - the examples in Python run, and the page has them
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

import glob
import pydoc
import re
import subprocess
import sys
import unittest

import lockkeeper
from lockkeeper import aio, clusterlock, errors

HOSTS = 1
PAGE = "man/lockkeeper-python.7"


def run(name):
    """What an example prints, the tokens as N."""
    done = subprocess.run([sys.executable, f"examples/{name}.py"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=60)
    return done.returncode, re.sub(r"token \d+", "token N", done.stdout)


class Examples(unittest.TestCase):
    def test_exclusive(self):
        """examples/exclusive.py"""
        self.assertEqual(run("exclusive"), (0, "".join(
            f"step {step}, token N\n" for step in (1, 2, 3))))

    def test_exclusive_busy(self):
        """an example that does not get its lock says why"""
        with lockkeeper.Lock("example") as lock:
            done = subprocess.Popen(
                [sys.executable, "examples/exclusive.py"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            out, err = done.communicate(timeout=60)
            self.assertTrue(lock.held)
        self.assertEqual((done.returncode, out), (1, ""))
        self.assertEqual(
            err, "exclusive.py: 'example': the time for it is over\n")

    def test_threads(self):
        """examples/threads.py"""
        code, said = run("threads")
        #   Lines of two threads may run into each other.
        words = re.findall(r"reader \d|writer, token N", said)
        self.assertEqual((code, sorted(words)), (0, [
            "reader 0", "reader 1", "reader 2", "reader 3",
            "writer, token N"]))

    def test_tasks(self):
        """examples/tasks.py"""
        self.assertEqual(run("tasks"), (0, "".join(
            f"task {number}, token N\n" for number in range(3))
            + "not granted: 'example': the time for it is over\n"))

    def test_devices(self):
        """examples/devices.py"""
        self.assertEqual(run("devices"), (0, "query\nconfig\nboth\n"))

    def test_all(self):
        """each example has its test"""
        self.assertEqual(
            sorted(glob.glob("examples/*.py")),
            [f"examples/{name}.py"
             for name in ("devices", "exclusive", "tasks", "threads")])


class Page(unittest.TestCase):
    def test_blocks(self):
        """the examples of the page are parts of those files"""
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        blocks = re.findall(r"\.Pq Pa (examples/\w+\.py) :\n\.Bd -literal\n"
                            r"(.*?)\.Ed\n", page, re.S)
        self.assertEqual(len(blocks), page.count(".Pq Pa examples/"))
        self.assertGreater(len(blocks), 3)
        for path, block in blocks:
            with open(path, encoding="utf-8") as file:
                self.assertIn(block, file.read(), path)

    def test_names(self):
        """the page names every exception, and every option of Lock"""
        with open(PAGE, encoding="utf-8") as file:
            words = set(re.findall(r"\w+", file.read()))
        names = [name for name in dir(errors)
                 if isinstance(getattr(errors, name), type)
                 and issubclass(getattr(errors, name), Exception)]
        self.assertGreater(len(names), 12)
        options = lockkeeper.Lock.__init__.__annotations__
        for name in names + list(options) + list(lockkeeper.__all__):
            if name not in ("return", "__version__"):
                self.assertIn(name, words)

    def test_pydoc(self):
        """pydoc has a text for all that is public"""
        for module in (lockkeeper, aio, clusterlock, errors):
            self.assertIn("lock", pydoc.render_doc(module))
            for name in getattr(module, "__all__", []):
                thing = getattr(module, name)
                if not callable(thing):
                    continue
                self.assertTrue(thing.__doc__, name)
                for method in vars(thing) if isinstance(thing, type) else ():
                    if not method.startswith("_") \
                            and callable(getattr(thing, method)):
                        self.assertTrue(getattr(thing, method).__doc__,
                                        f"{name}.{method}")
