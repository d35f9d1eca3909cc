#   test_credential.py - the credential of a machine without a router
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

import os
import shutil
import tempfile
import time
import unittest

import zmq

from lockkeeper import _credential, _far, _frame, _link
from lockkeeper._attach import READY, REFUSED
from lockkeeper._client_file import ClientFile, ClientServer
from lockkeeper._credential import CredentialFile, Deed, Renewal
from lockkeeper._entry import Life
from lockkeeper._frame import Message
from lockkeeper._handle import LockKind
from lockkeeper._lease import FOREVER, now_ms
from lockkeeper._wish import Wish
from lockkeeper.errors import NotGranted

from book import NOW
from test_servers import KEY, FakeLink

DAY = 86_400_000
MINUTE = 60_000


def line_of(serial, since=50, not_after=40100):
    """A credential, as far as clients look at it."""
    return (f"lockkeeper-credential-1 corp ann user KEY 100 {not_after} "
            f"{since} {serial:016x} ISSUER SIGNATURE")


class Renewals(unittest.TestCase):
    def setUp(self):
        self.it = Renewal()

    def first(self, now):
        """The first step from then on, and when."""
        while True:
            deed, due = self.it.next(now), self.it.deadline(now)
            if deed is not Deed.IDLE or due == FOREVER:
                return deed, now
            self.assertGreater(due, now)
            now = due

    def test_none(self):
        """none is never renewed"""
        self.assertEqual(self.first(NOW)[0], Deed.IDLE)
        self.it.begin(NOW + DAY, DAY, True, 0)
        self.it.begin(FOREVER, 0, True, 0)
        self.assertEqual(self.first(NOW)[0], Deed.IDLE)

    def test_look_first(self):
        """a tenth of its time ahead: the file first, RENEW then"""
        self.it.begin(NOW + DAY, DAY, True, 0)
        deed, when = self.first(NOW)
        self.assertEqual((deed, when), (Deed.LOOK, NOW + DAY - DAY // 10))
        self.assertEqual(self.it.next(when), Deed.ASK)
        self.assertEqual(self.it.next(when), Deed.IDLE)

    def test_short(self):
        """ten minutes ahead at least, but half of its time at most"""
        for life, ahead in ((60, 10), (4, 2)):
            self.it = Renewal()
            self.it.begin(NOW + life * MINUTE, life * MINUTE, True, 0)
            self.assertEqual(self.first(NOW)[1],
                             NOW + (life - ahead) * MINUTE)

    def test_refused(self):
        """only the file is looked at from then on"""
        self.it.begin(NOW + DAY, DAY, True, 0)
        when = self.first(NOW)[1]
        self.it.next(when)
        self.it.refused(when)
        for _ in range(100):
            deed, when = self.first(when)
            self.assertEqual(deed, Deed.LOOK)
        self.assertFalse(self.it.ends_soon(NOW + DAY - 10 * MINUTE - 1))
        self.assertTrue(self.it.ends_soon(NOW + DAY - 10 * MINUTE))

    def test_failed(self):
        """it is said again, later"""
        self.it.begin(NOW + DAY, DAY, True, 0)
        asked = when = self.first(NOW)[1]
        self.it.next(when)
        self.it.failed(90_000, when)
        while self.it.next(when) is not Deed.ASK:
            when = self.it.deadline(when)
        self.assertEqual(when, asked + 90_000)

    def test_end(self):
        """a minute ahead its end is told, and then that it is over"""
        self.it.begin(NOW + DAY, DAY, True, 0)
        self.assertFalse(self.it.ends_soon(NOW + DAY - MINUTE - 1))
        self.assertTrue(self.it.ends_soon(NOW + DAY - MINUTE))
        self.assertTrue(NOW + DAY - 3000 < self.it.over_ms() <= NOW + DAY)
        self.it.begin(NOW + 2 * DAY, DAY, True, 0)
        self.assertFalse(self.it.ends_soon(NOW + DAY))


    def test_has_ended(self):
        """until a server says how long the one that is shown then counts"""
        self.it.begin(NOW + DAY, DAY, False, 0)
        self.assertFalse(self.it.has_ended(NOW + DAY - 1))
        self.assertTrue(self.it.has_ended(NOW + DAY))
        self.it.shown(NOW + DAY)
        self.assertFalse(self.it.has_ended(NOW + 2 * DAY))
        self.it.begin(NOW + DAY + 1, DAY, False, 0)
        self.assertTrue(self.it.has_ended(NOW + 2 * DAY))
        self.it.begin(NOW + 3 * DAY, DAY, False, 0)
        self.assertFalse(self.it.has_ended(NOW + 2 * DAY))


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = f"{self.folder}/client.credential"
        self.file = CredentialFile(self.path)

    def put(self, text):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)

    def test_read(self):
        """it is read anew when it changes"""
        self.assertEqual(self.file.line(), "")
        self.assertEqual(CredentialFile("").line(), "")
        self.put("  one line \r\n")
        self.assertEqual(self.file.line(), "one line")
        self.put("\nanother line")
        self.assertEqual(self.file.line(), "another line")
        self.put("x" * 640)
        self.assertEqual(self.file.line(), "")
        os.unlink(self.path)
        self.assertEqual(self.file.line(), "")

    def test_write(self):
        """nobody else may read it, nor finds half of it"""
        self.put(line_of(1))
        number = os.stat(self.path).st_ino
        self.file.write(line_of(2))
        self.assertEqual(self.file.line(), line_of(2))
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o600)
        self.assertNotEqual(os.stat(self.path).st_ino, number)
        self.assertEqual(os.listdir(self.folder), ["client.credential"])
        self.file = CredentialFile("/proc/lockkeeper/none")
        self.file.write(line_of(3))
        self.assertEqual(self.file.line(), line_of(3))

    def test_times(self):
        """how long it lasts"""
        times_of = _credential.times_of
        self.assertEqual(times_of(line_of(1)), (40_000_000, True))
        self.assertEqual(times_of(line_of(1, 0)), (40_000_000, False))
        self.assertIsNone(times_of(line_of(1, 0, 100)))
        self.assertIsNone(times_of(line_of(1, 0, -1)))
        self.assertIsNone(times_of("one line"))


class Asked(LockKind):
    """A lock of the test below, which has what it needs of a session."""

    def _find_session(self, session):
        return session

    def _turn(self):
        self._session.way.work()


class Far(unittest.TestCase):
    """A session with one server, which is played."""

    def setUp(self):
        self._kept, self._driver, self.mine = set(), self, {}
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = f"{self.folder}/client.credential"
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(line_of(1))
        self.links = []
        self.way = _far.Far(ClientFile(
            KEY, servers=[ClientServer(
                "tcp://h1:1", zmq.curve_keypair()[0].decode())],
            credential=self.path), "test")
        self.addCleanup(self.way.shut)
        self.way._servers._new_link = self.new_link

    def new_link(self, _about):
        self.links.append(FakeLink())
        self.links[-1].words.append((_link.UP, b""))
        return self.links[-1]

    def hear(self, command, body, service="router", serial=0):
        self.links[-1].words.append(("", _frame.encode(Message(
            "far-x@h1", f"{service}@h1", command, serial, body))))

    def await_said(self, command):
        """Its messages of that kind, each taken once."""
        for _ in range(1000):
            self.way.work()
            for link in self.links:
                for message in link.sent:
                    if message.command == command:
                        link.sent.remove(message)
                        return message
        self.fail(f"{command} is not said: {self.links[-1].sent}")

    def register(self, left_s):
        """The session with that which is left of its credential."""
        said = self.await_said("REGISTER")
        self.hear("READY", {"host": "h1", "credential_left": left_s})
        message = self.await_said("LOCKREGISTER")
        body = {"registration": message.body["registration"],
                "drawn": "00000000000000aa"}
        self.hear("LOCKREGISTER", {**body, "lease": 10000}, "lock",
                  message.serial)
        message = self.await_said("LOCKLEASE")
        self.hear("LOCKLEASE", {**body, "sent": message.body["sent"],
                                "left": 10000}, "lock", message.serial)
        self.way.work()
        self.assertEqual(self.way.state, READY)
        return said

    def test_renewed(self):
        """it is shown, renewed and kept; the registration goes on"""
        said = self.register(100)
        self.assertEqual(said.body["credential"], line_of(1))
        message = self.await_said("RENEW")
        self.assertEqual(message.to, "router@.")
        self.hear("LOGIN", {"credential": line_of(2)}, serial=message.serial)
        said = self.await_said("REGISTER")
        self.assertEqual(said.body["credential"], line_of(2))
        self.hear("READY", {"host": "h1", "credential_left": 40000})
        self.way.work()
        with open(self.path, encoding="utf-8") as file:
            self.assertEqual(file.read(), line_of(2) + "\n")
        self.assertGreater(self.way._renewal.ends_ms, now_ms() + 30_000_000)
        self.assertEqual(self.way._renewal.next(now_ms()), Deed.IDLE)

    def test_refused_renewal(self):
        """its end is told, and then that it is over"""
        told = []
        self.way.book.set_credential = lambda *what: told.append(what[0])
        self.register(30)
        message = self.await_said("RENEW")
        self.hear("LOGINFAILED", {"error": "denied"}, serial=message.serial)
        self.way.work()
        self.assertEqual(told, [True])
        self.assertGreater(self.way.book.credential_over_ms, now_ms())
        self.hear("READY", {"host": "h1", "credential_left": 0})
        self.way.work()
        self.way.work()
        self.assertEqual(told, [True])
        self.assertLessEqual(self.way.book.credential_over_ms, now_ms())

    def test_other_in_file(self):
        """somebody else has renewed it"""
        self.way._servers.credential.line()
        self.register(100000)
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(line_of(3))
        self.hear("READY", {"host": "h1", "credential_left": 100})
        self.way._shown = line_of(1)
        self.way._renewal.begin(now_ms() + 1000, 0, False, 0)
        self.way._ends_ms = self.way._servers.credential_ends_ms(0)
        self.way._renew(now_ms())
        self.way.work()
        said = self.await_said("REGISTER")
        self.assertEqual(said.body["credential"], line_of(3))

    def test_denied(self):
        """there is no time-out to wait for"""
        self.await_said("REGISTER")
        self.hear("REFUSE", {"reason": "the credential has ended"})
        for _ in range(3):
            self.way.work()
        self.assertEqual(self.way.state, REFUSED)
        self.assertEqual(self.way.refused_for, "credential")
        self.assertIn("the credential has ended", self.way.problem())

    def test_revoked(self):
        """it is over now, long before its end"""
        self.register(40000)
        self.assertGreater(self.way.book.credential_over_ms, now_ms())
        self.links[-1].words += [(_link.DOWN, b""), (_link.UP, b"")]
        self.await_said("REGISTER")
        self.hear("REFUSE", {"reason": "the credential was revoked"})
        self.work_until(
            lambda: self.way.book.credential_over_ms <= now_ms())

    def test_late_lease(self):
        """a lease that it cuts short may be over long before its end"""
        self.register(40)
        number = self.way._roam.places.current_number
        for late, left, is_cut in ((9000, 39000, True), (0, 10000, False)):
            self.hear("LOCKLEASE", {
                "registration": number, "drawn": "00000000000000aa",
                "sent": now_ms() - late, "left": left}, "lock")
            self.way.work()
            self.way.work()
            left_ms = self.way.book.credential_over_ms - now_ms()
            self.assertEqual(left_ms < 30500, is_cut)

    def work_until(self, condition):
        end_ms = now_ms() + 30000
        while not condition():
            self.assertLess(now_ms(), end_ms)
            self.way.work()
            time.sleep(0.01)

    def ask(self):
        """A lock that is waited for."""
        entry = self.way.book.lock(Wish((b"thing",)), -1, now_ms())
        self.way.work()
        return entry

    def check_over(self, waiting, why):
        """Nothing is waited for, nor kept, until the file has another one."""
        self.assertEqual(waiting.error, "credential")
        self.assertIn(why, waiting.remark)
        lock, count = Asked("thing", session=self), self.way.book.open_count
        with self.assertRaises(NotGranted) as caught:
            next(lock._acquire_steps(None, 1))
        self.assertEqual(caught.exception.reason, "credential")
        self.assertIn(why, caught.exception.text)
        self.assertEqual(self.way.book.open_count, count)
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(line_of(2))
        steps = lock._acquire_steps(None, 1)
        next(steps)
        self.work_until(lambda: any(
            message.command == "REGISTER"
            and message.body["credential"] == line_of(2)
            for link in self.links for message in link.sent))
        self.assertIs(lock._entry.life, Life.ASKED)
        steps.close()

    def test_waits_when_revoked(self):
        """what waits fails, and all that is asked for then"""
        self.register(40000)
        waiting = self.ask()
        self.links[-1].words += [(_link.DOWN, b""), (_link.UP, b"")]
        self.await_said("REGISTER")
        self.assertEqual(waiting.life, Life.ASKED)
        self.hear("REFUSE", {"reason": "the credential was revoked"})
        self.work_until(lambda: waiting.life is not Life.ASKED)
        self.check_over(waiting, "the credential was revoked")

    def test_waits_when_ended(self):
        """its server has no registration any more, and refuses nobody"""
        self.register(1)
        waiting = self.ask()
        place = self.way._roam.places.current
        self.hear("LOCKUNREGISTERED", {
            "registration": place.number, "drawn": f"{place.drawn:016x}",
            "error": "credential"}, "lock")
        self.work_until(lambda: waiting.life is not Life.ASKED)
        self.assertGreaterEqual(now_ms(), self.way._renewal.ends_ms)
        self.check_over(waiting, "its credential has ended")


if __name__ == "__main__":
    unittest.main()
