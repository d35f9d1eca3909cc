#   test_core.py - the core of the Python module, without a socket
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

import glob
import os
import re
import struct
import tempfile
import time
import unittest
import unittest.mock

from lockkeeper import _config, _core, _frame, _lease, _wish, errors
from lockkeeper._entry import Life
from lockkeeper._frame import FrameError, Message
from lockkeeper._questions import Question
from lockkeeper._wish import Wish
import lockkeeper

from book import NOW, BookCase, Page

FOREVER = _lease.FOREVER
KEPT = "timedout", "shutdown", "released", "forced"  # until given back


def read_vector(path):
    """What the file says of the message, and the bytes of its frame."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    head = dict(re.findall(r"^(to|from|command|serial) +(\S+)$", text, re.M))
    digits = re.search(r"^(4c4b[0-9a-f \n]+)", text, re.M).group(1)
    return head, bytes.fromhex("".join(digits.split()))


class Clock(unittest.TestCase):
    def test_boot(self):
        """the clock that is read is the boot clock, which no other is"""
        now = {time.CLOCK_BOOTTIME: NOW * 1_000_000 + 999_999}
        with unittest.mock.patch("time.clock_gettime_ns",
                                 lambda clock: now.get(clock, 0)):
            self.assertEqual(_lease.now_ms(), NOW)


class Vectors(unittest.TestCase):
    def test_all(self):
        """each example message is read, and written as it is there"""
        paths = glob.glob("tests/vectors/*.txt")
        self.assertGreater(len(paths), 60)
        written = 0
        for path in paths:
            with self.subTest(path):
                head, data = read_vector(path)
                (message,) = _frame.decode(data)
                self.assertEqual(message.to, head["to"])
                self.assertEqual(message.sender, head["from"])
                self.assertEqual(message.command, head["command"])
                self.assertEqual(message.serial, int(head.get("serial", 0)))
                if not data[3] & 6:  # neither packed nor from the mesh
                    self.assertEqual(message.problem, "")
                    self.assertEqual(_frame.encode(message), data)
                    written += 1
        self.assertGreater(written, 50)

    def test_broken(self):
        """what is cut off or wrong ends a frame, and what is ahead counts"""
        _, data = read_vector("tests/vectors/app-lock.txt")
        for at in range(1, len(data)):
            with self.assertRaises(FrameError):
                list(_frame.decode(data[:at]))
        for at, byte in ((0, 0), (2, 2), (3, 3), (3, 8), (3, 0), (7, 0),
                         (20, 200)):
            broken = data[:at] + bytes([byte]) + data[at + 1:]
            with self.assertRaises(FrameError, msg=f"byte {at}"):
                list(_frame.decode(broken))
            reader = _frame.decode(data + broken)
            self.assertEqual(next(reader).command, "LOCK")
            with self.assertRaises(FrameError):
                next(reader)

    def test_bodies(self):
        """a body that is no object of the kind we read says so"""
        for text in (b"[]", b"{", b'{"a":1,"a":2}', b"\xff", b"{}" * 2,
                     b'{"a":' * 9 + b"1" + b"}" * 9):
            data = _frame.encode(Message("a@h", "b@h", "C", 1, {"x": 1}))
            head = data[:20 + 7]
            size = struct.pack(">I", len(head) + len(text))
            (message,) = _frame.decode(head[:4] + size + head[8:] + text)
            self.assertTrue(message.problem, text)
            self.assertIsNone(message.body)

    def test_names(self):
        """names are text where they are, and digits where not"""
        for name, field, shown in (
                (b"a/b", "object", "a/b"), ("\u00e9".encode(), "object", "é"),
                (b"\xff", "object_hex", "\\xff"), (b"a\0", "object_hex",
                                                   "a\\x00"),
                (b"\x1b", "object", "\\x1b"),
                ("\u0085".encode(), "object", "\\xc2\\x85")):
            kind, value = _frame.object_field(name)
            self.assertEqual(kind, field)
            self.assertEqual(_frame.read_object({kind: value}), name)
            self.assertEqual(_frame.show_name(name), shown)
        self.assertIsNone(_frame.read_object({}))
        self.assertIsNone(_frame.read_object({"object_hex": "0"}))
        self.assertIsNone(_frame.read_object({"object": "a",
                                              "object_hex": "61"}))


class Texts(unittest.TestCase):
    def test_errors(self):
        """words and sentences of errors are those of error.h"""
        with open("include/lockkeeper/error.h", encoding="utf-8") as file:
            pairs = re.findall(r'X \(LK_\w+, "(\w+)", "([^"]*)"\)',
                               file.read())
        self.assertEqual(dict(pairs), errors.TEXTS)

    def test_version(self):
        """the version is that of the Makefile"""
        with open("Makefile", encoding="utf-8") as file:
            version = re.search(r"^VERSION = (\S+)", file.read(), re.M)
        self.assertEqual(version.group(1), lockkeeper.__version__)

    def test_kinds(self):
        """an error is of the class that its word says"""
        self.assertIsInstance(errors.error_of("timedout"), TimeoutError)
        self.assertIsInstance(errors.error_of("full"), lockkeeper.Busy)
        self.assertEqual(errors.error_of("quorum").reason, "quorum")
        self.assertEqual(str(errors.error_of("full")),
                         "somebody else holds the lock")
        self.assertIsInstance(errors.error_of("new"), lockkeeper.NotGranted)


class Wishes(unittest.TestCase):
    def test_senseless(self):
        """what makes no sense is refused"""
        for wish in (Wish((b"x",), lenient=True),
                     Wish((b"x",), lenient=True, static=True, duration_ms=9),
                     Wish((b"x",), type="semaphore"),
                     Wish((b"x",), limit=1),
                     Wish((b"x",), type="shared", soft=True),
                     Wish((b"x",), quiet_ms=1),
                     Wish((b"x",), soft=True, quiet_ms=86_400_001),
                     Wish((b"x",), static=True, linger_ms=1),
                     Wish((b"x", b"y"), static=True),
                     Wish((b"x", b"y"), key=1)):
            with self.assertRaises(errors.Invalid, msg=wish):
                _wish.check(wish)
        for name in ("", b"", "x" * 4097, 1, None, "\ud800"):
            with self.assertRaises(errors.Invalid):
                _wish.check_name(name)
        for names in ("ab", [], ["a", b"a"], ["x"] * 129):
            with self.assertRaises(errors.Invalid):
                _wish.check_names(names)
        for seconds in (-1, float("nan"), float("inf"), True):
            with self.assertRaises(errors.Invalid):
                _wish.to_ms(seconds, "a wait", -1)

    def test_times(self):
        """seconds become milliseconds, and are not cut"""
        self.assertEqual(_wish.to_ms(None, "a wait", -1), -1)
        self.assertEqual(_wish.to_ms(0, "a wait", -1), 0)
        self.assertEqual(_wish.to_ms(0.0001, "a wait", -1), 1)
        self.assertEqual(_wish.to_ms(1.1, "a wait", -1), 1100)


class Endpoints(unittest.TestCase):
    def test_order(self):
        """argument, environment, configuration, default"""
        kept = os.environ.pop("LOCKKEEPER_ENDPOINT", None)
        self.addCleanup(lambda: kept is None or os.environ.update(
            LOCKKEEPER_ENDPOINT=kept))
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
            file.write("lock\n    endpoint = ipc:///no\nrouter\n"
                       '    # endpoint = x\n    endpoint = "ipc:///run/r"\n')
            file.flush()
            self.assertEqual(_config.read_endpoint(file.name), "ipc:///run/r")
            with tempfile.TemporaryDirectory() as folder:
                os.symlink(folder, file.name + ".d")
                self.addCleanup(os.unlink, file.name + ".d")
                for name, said in (("1.conf", "'ipc:///1'"), (".9.conf", "9"),
                                   ("9.conf~", "9"), ("0.conf", "0")):
                    with open(f"{folder}/{name}", "w") as drop_in:
                        drop_in.write(f"router\n    endpoint = {said}\n")
                self.assertEqual(_config.read_endpoint(file.name),
                                 "ipc:///1")
        self.assertEqual(_config.read_endpoint("/no/such"), "")
        os.environ["LOCKKEEPER_ENDPOINT"] = "ipc:///a, ipc:///b ipc:///c"
        self.assertEqual(_config.find_endpoints(None),
                         ["ipc:///a", "ipc:///b", "ipc:///c"])
        self.assertEqual(_config.find_endpoints("ipc:///c"), ["ipc:///c"])


class Leases(unittest.TestCase):
    def test_page(self):
        """a lease is as long as its page says, for its session only"""
        page = Page(self)
        page.set(3, NOW)
        lease = _lease.take(None, page.name, 3, NOW)
        self.assertEqual(lease.until(), NOW)
        page.set(3, NOW + 5)
        self.assertEqual(lease.until(), NOW + 5)
        self.assertIs(_lease.take(lease, page.name, 3, NOW + 5), lease)
        page.set(4, NOW + 9)
        self.assertEqual(lease.until(), 0)
        self.assertIsNot(_lease.take(lease, page.name, 4, NOW + 9), lease)

    def test_no_page(self):
        """without a page that can be read it ends as LOCKED said"""
        for data in (b"", b"LKLEASE2" + bytes(16), b"LKLEASE1"):
            with tempfile.NamedTemporaryFile() as file:
                file.write(data)
                file.flush()
                lease = _lease.take(None, file.name, 3, NOW)
                self.assertFalse(lease.lives)
                self.assertEqual(lease.until(), NOW)
        self.assertEqual(_lease.take(None, "/no/such", 3, 7).until(), 7)


class Books(BookCase):
    """The book, told what a lock service would say."""

    def test_repeats(self):
        """what is unanswered is repeated, with what is left of the wait"""
        entry = self.ask(wait_ms=3000)
        (first,) = self.sent()
        self.assertEqual((first.body["wait"], first.ttl), (3000, 3))
        self.book.tick(NOW + 900)
        self.assertEqual(self.sent(), [])
        self.book.tick(NOW + 1100)
        (second,) = self.sent()
        self.assertEqual(second.serial, entry.serial)
        self.assertEqual((second.body["wait"], second.ttl), (1900, 2))

    def test_short(self):
        """a wait that is shorter than an answer begins with a try"""
        entry = self.ask(wait_ms=2)
        (first,) = self.sent()
        self.assertEqual(first.body["wait"], 0)
        self.say("LOCKFAILED", first.serial, error="full", text="no")
        (second,) = self.sent()
        self.assertNotEqual(second.serial, first.serial)
        self.assertEqual((second.serial, second.body["wait"]),
                         (entry.serial, 2))
        self.grant(first)  # is none of ours any more
        self.assertEqual(self.sent()[0].body, {"request": first.serial})
        self.book.tick(NOW + 1100)
        self.assertEqual([one.serial for one in self.sent()], [second.serial])
        self.grant(entry, NOW + 1101)
        self.assertTrue(entry.holds)

    def test_short_over(self):
        """a try that fails when the wait is over is one that timed out"""
        for wait_ms, at in ((2, NOW + 2), (1000, NOW + 1100)):
            entry = self.ask(wait_ms=wait_ms)
            self.book.tick(at)
            self.assertEqual(self.sent()[-1].body["wait"], 0)
            self.say("LOCKFAILED", entry.serial, at, error="full")
            self.assertEqual((entry.life, entry.error),
                             (Life.CLOSED, "timedout"))
        entry = self.ask(wait_ms=0)
        self.say("LOCKFAILED", entry.serial, error="full")
        self.assertEqual(entry.error, "full")

    def test_short_change(self):
        """likewise with an upgrade, of which each try has its turn"""
        entry = self.held(type="shared")
        entry.type = "shared"
        self.book.change(entry, "exclusive", 2, NOW)
        for turn, wait_ms in ((1, 0), (2, 1)):
            (change,) = self.sent()
            self.assertEqual((change.body["turn"], change.body["wait"]),
                             (turn, wait_ms))
            self.say("LOCKFAILED", entry.serial, NOW + 1, turn=turn,
                     error="full")
        self.assertEqual((entry.life, entry.error), (Life.HELD, "timedout"))

    def test_gives_up(self):
        """a wait is over after 5 more seconds though nobody answers"""
        entry = self.ask(wait_ms=3000)
        self.book.tick(NOW + 7999)
        self.assertIs(entry.life, Life.ASKED)
        self.sent()
        self.book.tick(NOW + 8000)
        self.assertIs(entry.life, Life.DROPPING)
        self.assertEqual(entry.error, "timedout")
        self.assertEqual(self.sent()[-1].command, "UNLOCK")
        self.grant(entry, NOW + 8001)
        self.assertFalse(entry.holds)

    def test_until(self):
        """it is held until lease or duration are over, by our own clock"""
        entry = self.held()
        self.assertEqual(entry.until(), NOW + 8000)
        self.page.set(3, NOW + 9000)
        self.assertEqual(entry.until(), NOW + 9000)
        self.page.set(3, 0)
        self.assertEqual(entry.until(), 0)
        self.page.set(4, NOW + 9000)
        self.assertEqual(entry.until(), 0)
        timed = self.ask(duration_ms=100)
        self.page.set(3, NOW + 9000)
        self.grant(timed, until=NOW + 100)
        self.assertEqual(timed.until(), NOW + 100)
        static = self.ask(static=True)
        self.grant(static, static=True)
        self.page.set(4, 0)
        self.assertEqual(static.until(), FOREVER)

    def test_isolated(self):
        """a lease that runs out is told, at the latest 50 ms later"""
        entry = self.held()
        self.book.tick(NOW + 8049)
        self.assertEqual(self.told(), [("jeopardy", "")])
        self.book.tick(NOW + 8050)
        self.assertEqual(self.told(), [("lost", "isolated")])
        self.assertIs(entry.life, Life.CLOSED)

    def test_session_over(self):
        """an UNLOCK that came too late for the session was of a lost lock"""
        for error in ("isolated", "quorum"):
            entry = self.held()
            self.book.release(entry, NOW)
            (unlock,) = self.sent()
            self.say("LOCKFAILED", unlock.serial, error=error)
            self.assertEqual((entry.life, entry.loss), (Life.CLOSED, error))

    def test_disconnected(self):
        """without a lock service it is told at once, and why"""
        self.held()
        self.book.desert(True)
        self.book.tick(NOW + 8000)
        self.assertEqual(self.told()[-1], ("lost", "disconnected"))

    def test_deadline(self):
        """who sleeps until the deadline misses nothing"""
        self.held()
        now, steps = NOW, []
        while now < NOW + 9000 and self.book.deadline() != FOREVER:
            now = max(now, self.book.deadline())
            self.book.tick(now)
            steps += self.told()
        self.assertEqual(steps[0], ("jeopardy", ""))
        self.assertEqual(steps[-1], ("lost", "isolated"))
        self.assertEqual(now, NOW + 8050)

    def test_jeopardy(self):
        """danger is what the lock service says, or half a lease"""
        entry = self.held()
        self.say("LOCKJEOPARDY", entry.serial, danger=True)
        self.say("LOCKJEOPARDY", entry.serial, danger=True)
        self.book.tick(NOW + 4001)
        self.assertEqual(self.told(), [("jeopardy", "")])
        self.say("LOCKJEOPARDY", entry.serial, NOW + 4001, danger=False)
        self.assertEqual(self.told(), [])
        self.page.set(3, NOW + 12000)
        self.book.tick(NOW + 5000)
        self.assertEqual(self.told(), [("safe", "")])

    def test_lost(self):
        """what the lock service ended is lost, once"""
        for error in ("isolated", "quorum", "lost"):
            entry = self.held()
            self.say("UNLOCKED", entry.serial, error=error)
            self.say("UNLOCKED", entry.serial, error=error)
            self.assertEqual(self.told(), [("lost", error)])
            self.assertEqual(entry.until(), 0)
            self.assertIs(entry.life, Life.CLOSED)

    def test_forced(self):
        """an operator's reason is kept"""
        entry = self.held()
        self.say("UNLOCKED", entry.serial, error="forced", reason="why not")
        self.assertEqual(entry.comment, "why not")

    def released(self, *words, now_ms=NOW):
        """What is said of a lock that is given back, when the service says
        those ahead of its answer."""
        entry = self.held()
        self.book.release(entry, now_ms)
        for error in words:
            self.say("UNLOCKED", entry.serial, now_ms, error=error)
        self.book.tick(now_ms + 1100)
        repeats = self.sent()[1:]
        self.say("UNLOCKED", entry.serial + 1, now_ms)
        self.assertIs(entry.life, Life.CLOSED)
        self.assertEqual(self.told(), [])
        return entry.loss, len(repeats)

    def test_lost_ahead(self):
        """a loss that crosses the release is one"""
        self.assertEqual(self.released(), ("", 1))
        self.assertEqual(self.released("quorum"), ("quorum", 0))
        self.assertEqual(self.released("lost", "forced"), ("lost", 0))
        for error in KEPT:
            self.assertEqual(self.released(error), (error, 1))

    def test_lost_by_the_clock(self):
        """so is one that was over by our own clock"""
        self.assertEqual(self.released(now_ms=NOW + 7999)[0], "")
        self.assertEqual(self.released(now_ms=NOW + 8000)[0], "isolated")
        self.book.desert(True)
        self.assertEqual(self.released(now_ms=NOW + 8000)[0], "disconnected")

    def test_never_had(self):
        """what nobody was told to have is not lost"""
        entry = self.ask()
        self.book.release(entry, NOW)
        self.grant(entry)
        self.say("UNLOCKED", entry.serial, error="lost")
        self.assertEqual((entry.life, entry.loss), (Life.CLOSED, ""))

    def test_forgotten(self):
        """what is kept is given back also if nobody waits for that"""
        entry = self.held()
        self.book.forget(entry, NOW)
        self.say("UNLOCKED", entry.serial, error="timedout")
        self.book.tick(NOW + 1100)
        self.assertEqual([one.command for one in self.sent()],
                         ["UNLOCK", "UNLOCK"])

    def test_unseen(self):
        """without its lease page there is no lock, but a static one"""
        entry = self.ask()
        self.grant(entry, lease_page="/no/such/page")
        self.assertEqual((entry.life, entry.error), (Life.DROPPING, "system"))
        self.assertIn("cannot read '/no/such/page': no such file",
                      entry.remark)
        self.assertEqual(self.sent()[-1].command, "UNLOCK")
        entry = self.ask(static=True)
        self.grant(entry, lease_page="/no/such/page", static=True)
        self.assertTrue(entry.holds)

    def test_orphan(self):
        """a lock whose service has ended is lost at once with its lease"""
        self.held()
        self.book.orphan(NOW)
        self.book.tick(NOW + 8000)
        self.assertEqual(self.told(), [("jeopardy", ""),
                                       ("lost", "disconnected")])

    def test_kept(self):
        """what is kept for a time is given back by UNLOCK"""
        for error in KEPT:
            entry = self.held()
            self.say("UNLOCKED", entry.serial, error=error)
            self.assertIs(entry.life, Life.ENDED)
            self.assertEqual(self.sent(), [])
            self.book.release(entry, NOW)
            self.assertEqual(self.sent()[0].body["request"], entry.serial)

    def test_unlock(self):
        """UNLOCK goes on until it is answered, or nobody knows of it"""
        entry = self.held()
        self.book.release(entry, NOW)
        (unlock,) = self.sent()
        self.assertEqual(unlock.serial, entry.serial + 1)
        self.assertEqual(unlock.body, {
            "request": entry.serial, "object": "x", "key": f"{7:016x}"})
        self.say("LOCKFAILED", unlock.serial, error="timedout")
        self.assertIs(entry.life, Life.GIVING)
        self.book.tick(NOW + 1100)
        self.assertEqual(len(self.sent()), 1)
        self.say("LOCKFAILED", unlock.serial, error="unknown")
        self.assertIs(entry.life, Life.CLOSED)
        self.book.forget(entry, NOW)
        self.assertEqual(self.book.open_count, 0)

    def test_stray(self):
        """a LOCKED that nobody asked for goes back"""
        self.assertTrue(self.say("LOCKED", 100, token="1" * 16))
        (unlock,) = self.sent()
        self.assertEqual((unlock.serial, unlock.body), (101, {"request": 100}))
        self.assertFalse(self.say("LOCKED", 101))
        self.assertEqual(self.sent(), [])

    def test_second_grant(self):
        """another grant of what is held goes back, the same one not"""
        entry = self.held()
        self.grant(entry)
        self.assertEqual(self.sent(), [])
        self.grant(entry, key=f"{8:016x}")
        self.assertEqual(self.sent()[0].command, "UNLOCK")
        self.assertEqual(entry.key, 7)

    def test_late_grant(self):
        """what is being taken back learns its key from a late grant"""
        entry = self.ask()
        self.book.forget(entry, NOW)
        self.assertNotIn("key", self.sent()[-1].body)
        self.grant(entry)
        self.assertEqual(self.sent()[-1].body["key"], f"{7:016x}")
        self.assertFalse(entry.holds)

    def test_incomplete(self):
        """a grant without token, key or session is none"""
        for field in ("token", "key", "session"):
            entry = self.ask()
            self.grant(entry, **{field: 0})
            self.assertFalse(entry.holds)
        entry = self.ask()
        self.grant(entry, token=f"{0:016x}")
        self.assertFalse(entry.holds)

    def test_set(self):
        """a set is held when all of its names are named"""
        names = (b"b", b"a")
        rows = [{"object": "a", "token": f"{1:016x}", "key": f"{5:016x}"},
                {"object": "b", "token": f"{2:016x}", "key": f"{6:016x}"}]
        entry = self.ask(names=names)
        self.assertEqual([row["object"] for row in
                          self.sent()[0].body["locks"]], ["b", "a"])
        self.grant(entry, locks=rows[:1])
        self.assertFalse(entry.holds)
        self.grant(entry, locks=rows)
        self.assertTrue(entry.holds)
        self.assertEqual((entry.tokens, entry.key), ([2, 1], 6))
        self.book.release(entry, NOW)
        self.assertEqual(self.sent()[0].body, {"request": entry.serial})

    def test_change(self):
        """a change of type is answered by its turn"""
        entry = self.ask(type="shared")
        self.grant(entry, type="shared")
        self.sent()
        self.book.change(entry, "exclusive", 1000, NOW)
        (change,) = self.sent()
        self.assertEqual(change.body["turn"], 1)
        self.grant(entry, type="shared")
        self.assertIs(entry.life, Life.CHANGING)
        self.grant(entry, turn=1, token=f"{10:016x}")
        self.assertEqual((entry.type, entry.token), ("exclusive", 10))
        self.book.change(entry, "shared", 0, NOW)
        self.assertEqual(entry.type, "shared")
        self.say("LOCKFAILED", entry.serial, error="deadlock", turn=1)
        self.assertIs(entry.life, Life.CHANGING)
        self.grant(entry, type="shared", turn=2, token=f"{10:016x}")
        self.assertIs(entry.life, Life.HELD)

    def test_overdue(self):
        """an upgrade that nobody answers is taken back"""
        entry = self.ask(type="shared", static=True)
        self.grant(entry, type="shared", static=True)
        self.book.change(entry, "exclusive", 1000, NOW)
        self.book.tick(NOW + 6000)
        self.assertIs(entry.life, Life.UNDOING)
        self.assertEqual((entry.type, entry.error), ("shared", "timedout"))
        self.assertEqual(self.sent()[-1].body["turn"], 2)

    def test_invalid(self):
        """INVALID fails a request, TRANSMISSIONREPORT does not"""
        entry = self.ask()
        self.say("TRANSMISSIONREPORT", entry.serial, error="unknown")
        self.assertIs(entry.life, Life.ASKED)
        self.say("INVALID", entry.serial, reason="no")
        self.assertEqual((entry.error, entry.remark), ("invalid", "no"))

    def test_leave(self):
        """what is left stays held, and is not given back at the end"""
        entry = self.ask(static=True)
        self.grant(entry, static=True)
        self.sent()
        self.book.abandon_all(NOW)
        self.assertEqual((self.sent(), self.book.open_count), ([], 0))


class Cores(unittest.TestCase):
    """A session without its socket."""

    def setUp(self):
        self.core = _core.Core(["ipc:///a", "ipc:///b"], NOW, "test")

    def sent(self):
        return [message for frame in self.core.take_frames()
                for message in _frame.decode(frame)]

    def say(self, sender, command, serial=0, now_ms=NOW, **body):
        self.core.receive(_frame.encode(Message(
            "x@h1", sender, command, serial, body or None)), now_ms)

    def be_ready(self):
        self.core.connected(NOW)
        self.sent()
        self.say("router@h1", "READY", 1, host="h1")

    def test_register(self):
        """REGISTER is said, and again, until READY comes"""
        self.core.connected(NOW)
        (message,) = self.sent()
        self.assertEqual(message.command, "REGISTER")
        self.assertEqual(message.body["pid"], os.getpid())
        self.assertEqual(message.sender, f"{self.core.name}@.")
        self.core.tick(NOW + 500)
        self.assertEqual(self.sent()[0].command, "REGISTER")
        self.say("router@h1", "READY", 1, host="h1")
        self.assertEqual((self.core.state, self.core.host), ("ready", "h1"))
        self.core.book.lock(Wish((b"x",)), -1, NOW)
        self.assertEqual(self.sent()[0].sender, f"{self.core.name}@h1")

    def test_taken(self):
        """a name that is taken is tried again for five seconds"""
        self.core.connected(NOW)
        self.say("router@h1", "REFUSE", 1, reason="name is taken by 1")
        self.core.tick(NOW + 100)
        self.assertEqual(self.sent()[0].command, "REGISTER")
        self.say("router@h1", "REFUSE", 2, NOW + 5001,
                 reason="name is taken by 1")
        self.assertEqual(self.core.state, "refused")

    def test_taken_there(self):
        """... at that endpoint, which answers; then the others have three
        seconds each again"""
        self.core.connected(NOW)
        for now_ms in range(NOW, NOW + 5000, 100):
            self.say("router@h1", "REFUSE", 1, now_ms, reason="name is taken")
            self.core.tick(now_ms + 100)
            self.assertEqual(self.core.state, "registering")
        self.core.disconnected(NOW + 5000)
        for at, endpoint in ((5100, "ipc:///b"), (8100, "ipc:///a")):
            self.core.tick(NOW + at)
            self.assertEqual(self.core.endpoint, endpoint)

    def test_refused(self):
        """a refusal is final, and fails what is open"""
        entry = self.core.book.lock(Wish((b"x",)), -1, NOW)
        self.core.connected(NOW)
        self.say("router@h1", "REFUSE", 1, reason="no room")
        self.assertEqual(self.core.state, "refused")
        self.assertEqual((entry.error, entry.remark), ("refused", "no room"))

    def test_back(self):
        """behind a new connection what is open is said again"""
        self.be_ready()
        self.core.book.lock(Wish((b"x",)), -1, NOW)
        self.sent()
        self.core.reopen = False
        self.core.disconnected(NOW)
        self.assertTrue(self.core.book.deserted)
        self.core.tick(NOW)
        self.assertTrue(self.core.reopen)
        self.assertEqual(self.core.endpoint, "ipc:///b")
        self.be_ready()
        self.assertEqual(self.sent()[0].command, "LOCK")
        self.say("router@h1", "STATUS", service="lock@h1", status="up")
        self.assertFalse(self.core.book.deserted)

    def test_soon_at_first(self):
        """one that is gone is sought soon, and ever more seldom"""
        for _ in range(2):
            self.be_ready()
            self.core.disconnected(NOW)
            for wanted in (5, 10, 20, 40, 80, 100, 100):
                self.core.disconnected(NOW)
                pause = self.core.deadline() - NOW
                self.assertLessEqual(abs(pause - wanted), wanted / 4)

    def test_patience(self):
        """an endpoint that does not answer is left for the next one"""
        self.core.reopen = False
        self.core.tick(NOW + 3000)
        self.assertEqual((self.core.reopen, self.core.endpoint),
                         (True, "ipc:///b"))
        self.core.connected(NOW + 3000)
        self.core.tick(NOW + 3500)
        self.core.tick(NOW + 6000)
        self.assertEqual((self.core.state, self.core.endpoint),
                         ("seeking", "ipc:///a"))
        self.core.tick(NOW + 6100)
        self.assertEqual(self.core.endpoint, "ipc:///a")

    def test_register_first(self):
        """a router that does not know us any more is registered with"""
        self.be_ready()
        self.say("router@h1", "INVALID", 4, reason="register first")
        self.assertEqual(self.sent()[0].command, "REGISTER")
        self.assertEqual(self.core.state, "registering")

    def test_strangers(self):
        """nobody but this host's own services is heard"""
        self.be_ready()
        entry = self.core.book.lock(Wish((b"x",)), -1, NOW)
        for sender in ("lock@h2", "evil@h1", "router@h2"):
            self.say(sender, "LOCKFAILED", entry.serial, error="full")
        self.assertIs(entry.life, Life.ASKED)
        self.say("lock@h1", "LOCKFAILED", entry.serial, error="full")
        self.assertEqual(entry.error, "full")

    def test_questions(self):
        """a question is repeated, answered, or fails"""
        self.be_ready()
        ask = Question("lock@.", "LOCKSTATUS", None, ("LOCKREADY",))
        self.core.ask(ask, NOW)
        self.say("router@h1", "TRANSMISSIONREPORT", ask.serial,
                 error="unknown")
        self.assertFalse(ask.done)
        self.core.tick(NOW + 1000)
        self.assertEqual([m.command for m in self.sent()],
                         ["LOCKSTATUS"] * 2)
        self.say("lock@h1", "LOCKREADY", ask.serial, ready=True)
        self.assertTrue(ask.answer.flag("ready"))
        far = Question("lock@h9", "LOCKLIST", None, ("LOCKLIST",))
        self.core.ask(far, NOW)
        self.say("router@h1", "TRANSMISSIONREPORT", far.serial,
                 error="unknown", reason="no such host")
        self.assertEqual(far.error.reason, "unknown")

    def test_broken_body(self):
        """a body that cannot be read is complained about, complaints not"""
        self.be_ready()
        data = _frame.encode(Message("x@h1", "a@h1", "HELLO", 5, {"x": 1}))
        self.core.receive(data.replace(b'{"x":1}', b'{"x"=1}'), NOW)
        (answer,) = self.sent()
        self.assertEqual((answer.to, answer.command, answer.serial),
                         ("a@h1", "INVALID", 5))
        self.core.receive(_frame.encode(Message(
            "x@h1", "a@h1", "INVALID", 5, {"x": 1})).replace(
                b'{"x":1}', b'{"x"=1}'), NOW)
        self.assertEqual(self.sent(), [])
