#   test_carrier.py - the book's requests, carried from server to server
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Book and roam together; servers 1 and 2 are the test.

import unittest

from lockkeeper import _carrier
from lockkeeper._entry import Life
from lockkeeper._frame import Message
from lockkeeper._lease import FOREVER
from lockkeeper._wish import Wish

from book import NOW
from test_core import read_vector

LEASE = 8000
HEX = "{:016x}".format


class CarrierCase(unittest.TestCase):
    def setUp(self):
        self.now = NOW
        self.carrier = _carrier.Carrier(NOW)
        self.carrier._secret = 1, 2
        self.book = self.carrier.book

    def sent(self):
        """Each message to be sent, with its server."""
        self.carrier.settle(self.now)
        out = list(self.carrier.out)
        self.carrier.out.clear()
        return out

    def bodies(self, *commands):
        """What was sent of that kind."""
        return [message.body for _, message in self.sent()
                if message.command in commands]

    def told(self):
        events, self.book.events = self.book.events, []
        return [(event.kind, event.reason) for event in events]

    def tick(self, ms=0):
        self.now += ms
        self.carrier.settle(self.now)
        self.carrier.roam.tick(self.now)
        self.carrier.settle(self.now)
        self.book.tick(self.now)
        self.carrier.settle(self.now)

    def say(self, number, command, serial=0, **body):
        """A server's lock service says that, of that registration."""
        message = Message("a@h", "lock@h", command, serial, dict(
            registration=number, drawn=HEX(number * 100), **body))
        letter = _carrier.read_letter(message)
        if letter is None:
            self.carrier.hear(number, message, self.now)
        else:
            letter.server = number
            self.carrier.hear_letter(letter, self.now)

    def leased(self, number):
        self.say(number, "LOCKLEASE", sent=self.now, left=LEASE)

    def registered(self, number):
        """With the server of that number."""
        self.carrier.roam.register(number, self.now)
        self.say(number, "LOCKREGISTER", lease=LEASE)
        self.leased(number)

    def ask(self, wait_ms=-1, **wish):
        entry = self.book.lock(Wish(wish.pop("names", (b"x",)), **wish),
                               wait_ms, self.now)
        self.carrier.settle(self.now)
        return entry

    def grant(self, entry, number=1, **more):
        if entry.wish.is_set:
            more["locks"] = [
                {"object": name.decode(), "token": HEX(9 + place),
                 "key": HEX(7 + place)}
                for place, name in enumerate(entry.wish.names)]
        self.say(number, "LOCKED", entry.serial, **dict(dict(
            object="x", token=HEX(9), key=HEX(7), type=entry.type, ordinal=1,
            left=-1, as_of=self.now), **more))

    def held(self, **wish):
        self.registered(1)
        entry = self.ask(**wish)
        self.grant(entry)
        self.assertTrue(entry.holds)
        self.sent()
        return entry


class Letters(CarrierCase):
    def check(self, name, message):
        """It says what the example does."""
        head, data = read_vector(f"tests/vectors/{name}.txt")
        (example,) = _carrier._frame.decode(data)
        self.assertEqual(message.command, head["command"])
        self.assertLessEqual(set(message.body),
                             set(example.body) | {"pid", "object", "sent"})
        self.assertLessEqual(set(example.body) - set(message.body),
                             {"linger", "reason"})

    def test_registration(self):
        """what is said of a registration is as in the examples"""
        self.carrier.roam.register(1, self.now)
        ((server, register),) = self.sent()
        self.check("app-lockregister", register)
        self.assertEqual((server, register.body), (1, {
            "registration": 1, "lease": 10000, "sent": NOW,
            "secret": HEX(1), "secret2": HEX(2)}))
        self.assertTrue(_carrier.is_of_registration(register.serial))
        self.say(1, "LOCKREGISTER")
        ((_, lease),) = self.sent()
        self.check("app-locklease", lease)
        self.leased(1)
        self.carrier.roam.leave(self.now)
        ((_, goodbye),) = self.sent()
        self.check("app-lockgoodbye", goodbye)

    def test_requests(self):
        """what is said of a request is as in the examples"""
        self.registered(1)
        entry = self.ask(wait_ms=5000)
        lock = self.sent()[-1][1]
        self.check("app-lock-far", lock)
        self.assertEqual((lock.serial, lock.ttl, lock.body["sent"]),
                         (entry.serial, 0, NOW))
        self.grant(entry)
        self.registered(2)
        self.check("app-lock-claim", self.sent()[-1][1])
        self.grant(entry, 2)
        self.book.release(entry, self.now)
        unlock = self.sent()[-1][1]
        self.check("app-unlock-far", unlock)
        self.assertEqual(unlock.body["request"], entry.serial)

    def test_answers(self):
        """what is answered is read as in the examples"""
        for name, kind in (("app-lockregister-answer", "READY"),
                           ("app-locklease-answer", "LEASE"),
                           ("app-lockmove", "MOVE"),
                           ("app-lockunregistered", "UNKNOWN")):
            _, data = read_vector(f"tests/vectors/{name}.txt")
            (message,) = _carrier._frame.decode(data)
            self.assertEqual(_carrier.read_letter(message).kind.name, kind)
        for body in ({}, {"registration": 1}, {"registration": 1, "sent": -1,
                                               "left": 5},
                     {"registration": 1, "sent": 1, "left": 0},
                     {"registration": 1, "sent": 1, "left": 1 << 40}):
            self.assertIsNone(_carrier.read_letter(Message(
                "a@h", "lock@h", "LOCKLEASE", 1, body)))


class Locks(CarrierCase):
    def test_lent(self):
        """a lock is believed in as long as its lease is lent"""
        entry = self.held()
        self.assertEqual(entry.until(), NOW + LEASE)
        self.assertEqual(entry.lease_ms, LEASE)
        self.now += 2000
        self.leased(1)
        self.assertEqual(entry.until(), NOW + 2000 + LEASE)
        self.tick(LEASE // 2 + 1)
        self.assertEqual(self.told(), [("jeopardy", "")])
        self.leased(1)
        self.tick(LEASE // 16 + 1)
        self.assertEqual(self.told(), [("safe", "")])

    def test_over(self):
        """a lease that is over is told at once, and given back"""
        entry = self.held()
        self.tick(LEASE - 1)
        self.assertTrue(entry.holds)
        self.told()
        self.book.desert(True)
        self.tick(1)
        self.assertEqual(self.told(), [("lost", "disconnected")])
        self.assertEqual([body["request"] for body in self.bodies("UNLOCK")],
                         [entry.serial])
        self.leased(1)
        self.grant(entry)
        self.assertFalse(entry.holds)
        self.say(1, "UNLOCKED", entry.serial + 1)
        self.assertIs(entry.life, Life.CLOSED)

    def test_goes_on(self):
        """it goes on elsewhere, and no longer for that"""
        self.registered(1)
        entry = self.ask(duration_ms=60000)
        self.grant(entry, left=60000)
        self.assertEqual(entry.until_ms, NOW + 60000)
        self.now += 5000
        self.registered(2)
        (claim,) = [body for body in self.bodies("LOCK") if "token" in body]
        self.assertEqual((claim["left"], claim["again"], claim["drawn"]),
                         (LEASE - 5000, True, HEX(200)))
        self.assertEqual(entry.until(), NOW + LEASE)
        self.grant(entry, 2, left=60000, ordinal=3)
        self.assertEqual(entry.until(), self.now + LEASE)
        self.assertEqual((entry.until_ms, entry.ordinal), (NOW + 60000, 3))
        self.grant(entry, 1)
        self.registered(3)
        self.grant(entry, 3, left=50000)
        self.assertEqual(entry.until_ms, self.now + 50000)
        self.assertEqual(self.told(), [])

    def test_claim_unknown(self):
        """a claim that nobody knows of is lost, and asked again if they are
        too busy, or reckon that the credential has ended"""
        entry = self.held()
        self.registered(2)
        for error in ("overloaded", "credential"):
            self.say(2, "LOCKFAILED", entry.serial, error=error)
            self.assertTrue(entry.holds)
        self.say(2, "LOCKFAILED", entry.serial, error="unknown")
        self.assertEqual(self.told(), [("lost", "lost")])
        self.assertIs(entry.life, Life.CLOSED)

    def test_cut_short(self):
        """a lease that the credential cuts short ends by it"""
        entry = self.held()
        self.book.credential_over_ms = entry.lease_until()
        self.tick(LEASE)
        self.assertEqual(self.told()[-1], ("lost", "credential"))

    def test_claim_cut_short(self):
        """also if a claim that finds nothing is seen first"""
        entry = self.held()
        self.registered(2)
        self.book.credential_over_ms = entry.lease_until()
        self.say(2, "LOCKFAILED", entry.serial, error="unknown")
        self.assertEqual(self.told(), [("lost", "credential")])

    def test_not_cut_short(self):
        """one that the credential would outlast does not"""
        entry = self.held()
        self.book.credential_over_ms = entry.lease_until() + 1
        self.tick(LEASE)
        self.assertEqual(self.told()[-1], ("lost", "isolated"))

    def test_moved(self):
        """that it has moved is no end"""
        entry = self.held()
        self.say(1, "UNLOCKED", entry.serial, error="lost", moved=True)
        self.assertTrue(entry.holds)
        self.say(1, "UNLOCKED", entry.serial, error="quorum")
        self.assertEqual(self.told(), [("lost", "quorum")])
        self.assertEqual(len(self.bodies("UNLOCK")), 1)

    def test_taken_away(self):
        """what is taken away is kept until it is given back"""
        entry = self.held()
        self.say(1, "UNLOCKED", entry.serial, error="forced", reason="by me")
        self.assertEqual(self.told(), [("lost", "forced")])
        self.assertEqual(self.bodies("UNLOCK"), [])
        self.assertIs(entry.life, Life.ENDED)
        self.book.release(entry, self.now)
        self.assertEqual(len(self.bodies("UNLOCK")), 1)
        self.say(1, "UNLOCKED", entry.serial + 1)
        self.assertIs(entry.life, Life.CLOSED)
        self.assertEqual(entry.loss, "forced")

    def test_left(self):
        """what was left is given back when it is taken away"""
        entry = self.held(static=True)
        self.book.leave(entry, self.now)
        self.say(1, "UNLOCKED", entry.serial, error="released")
        self.assertEqual(len(self.bodies("UNLOCK")), 1)

    def test_refused(self):
        """a refusal ends a request, and a short wait is tried first"""
        self.registered(1)
        entry = self.ask(wait_ms=50)
        serial = entry.serial
        self.say(1, "LOCKFAILED", serial, error="full")
        self.assertIs(entry.life, Life.ASKED)
        self.assertNotEqual(entry.serial, serial)
        self.assertEqual([body["wait"] for body in self.bodies("LOCK")],
                         [0, 50])
        self.say(1, "UNLOCKED", serial + 1)  # of the former one
        self.assertIs(entry.life, Life.ASKED)
        self.say(1, "LOCKFAILED", entry.serial, error="timedout")
        self.assertEqual((entry.life, entry.error), (Life.CLOSED, "timedout"))

    def test_refused_as_a_claim_is_not(self):
        """a server that is busy, or reckons that the credential has ended,
        refuses a request for good"""
        self.registered(1)
        for error in ("overloaded", "credential"):
            entry = self.ask()
            self.say(1, "LOCKFAILED", entry.serial, error=error)
            self.assertEqual((entry.life, entry.error), (Life.CLOSED, error))
            self.assertEqual(len(self.bodies("UNLOCK")), 1)

    def test_complaint(self):
        """INVALID, which has no registration, is of the present one"""
        self.registered(1)
        entry = self.ask()
        self.carrier.hear(1, Message("a@h", "router@h", "INVALID",
                                     entry.serial, {"reason": "no"}), NOW)
        self.assertEqual((entry.error, entry.remark), ("invalid", "no"))

    def test_taken_back(self):
        """what nobody waits for any more is given back until that is
        answered"""
        self.registered(1)
        entry = self.ask()
        self.book.forget(entry, self.now)
        self.sent()
        self.grant(entry)
        self.assertFalse(entry.holds)
        self.assertEqual(len(self.bodies("UNLOCK")), 1)
        self.say(1, "LOCKFAILED", entry.serial + 1, error="unknown")
        self.assertEqual(self.book.open_count, 0)
        self.assertFalse(self.carrier.roam.locks)

    def test_unasked(self):
        """a LOCKED that nobody asked for goes back where it came from"""
        self.registered(1)
        self.sent()
        self.say(1, "LOCKED", 98, object="x", token=HEX(9), key=HEX(7))
        ((server, unlock),) = self.sent()
        self.assertEqual((server, unlock.serial, unlock.body), (1, 99, {
            "request": 98, "object": "x", "registration": 1,
            "drawn": HEX(100)}))

    def test_danger(self):
        """only the present registration says that a lock is in danger"""
        entry = self.held()
        self.registered(2)
        self.say(1, "LOCKJEOPARDY", entry.serial, danger=True)
        self.assertEqual(self.told(), [])
        self.say(2, "LOCKJEOPARDY", entry.serial, danger=True)
        self.assertEqual(self.told(), [("jeopardy", "")])
        self.grant(entry, 2)
        self.assertEqual(self.told(), [("safe", "")])

    def test_deeds(self):
        """what is about others is signed by the present registration"""
        self.registered(1)
        self.book.unlock_by_key(Wish((b"x",)), 5, False, self.now)
        (message,) = self.book.messages
        self.carrier.sign(message, self.carrier.roam.places.current)
        self.assertEqual(message.body, {
            "object": "x", "key": HEX(5), "registration": 1,
            "drawn": HEX(100)})

    def test_check(self):
        """their answers are heard"""
        self.registered(1)
        entry = self.book.check(Wish((b"x",)), 5, self.now)
        self.say(1, "LOCKCHECK", entry.serial + 1, held=True, newest=HEX(5))
        self.assertEqual((entry.checked, entry.newest), (True, 5))


class Kinds(CarrierCase):
    def test_set(self):
        """a set is claimed by all of its names"""
        entry = self.held(names=(b"b", b"a"))
        self.assertEqual((entry.tokens, entry.keys), ([9, 10], [7, 8]))
        self.registered(2)
        (claim,) = [body for body in self.bodies("LOCK") if "left" in body]
        self.assertEqual(claim["locks"], [
            {"object": "b", "token": HEX(9), "key": HEX(7)},
            {"object": "a", "token": HEX(10), "key": HEX(8)}])
        self.say(2, "LOCKED", entry.serial, type="exclusive", locks=[
            {"object": "b", "token": HEX(9), "key": HEX(7)}])
        self.assertEqual(entry.until(), NOW + LEASE)
        self.now += 10
        self.leased(2)
        self.grant(entry, 2)
        self.assertEqual(entry.until(), NOW + 10 + LEASE)

    def test_waiting_set(self):
        """a set that waits begins anew, and all of it goes back at the end"""
        self.registered(1)
        entry = self.ask(names=(b"b", b"a"))
        serial = entry.serial
        self.sent()
        self.registered(2)
        self.assertGreater(entry.serial, serial)
        said = [(message.command, message.body) for _, message in self.sent()
                if message.command in ("LOCK", "UNLOCK")]
        names = [{"object": "b"}, {"object": "a"}]
        self.assertEqual([(command, body["locks"])
                          for command, body in said],
                         [("UNLOCK", names), ("LOCK", names)])
        self.assertEqual(said[0][1]["request"], serial)
        self.assertNotIn("again", said[1][1])
        self.book.release(entry, self.now)
        self.say(2, "UNLOCKED", entry.serial + 1)
        self.assertIs(entry.life, Life.GIVING)
        self.say(2, "UNLOCKED", serial + 1)
        self.assertIs(entry.life, Life.CLOSED)

    def test_set_anew_held(self):
        """... and is had as the later one"""
        self.registered(1)
        entry = self.ask(names=(b"b", b"a"))
        serial = entry.serial
        self.registered(2)
        self.say(2, "UNLOCKED", serial + 1)
        self.grant(entry, 2)
        self.assertTrue(entry.holds)
        self.tick(LEASE)
        self.assertEqual(self.told(), [("lost", "isolated")])

    def test_change(self):
        """a change of type is said, made, and asked again elsewhere"""
        entry = self.held(type="shared")
        self.book.change(entry, "exclusive", -1, self.now)
        (change,) = self.bodies("LOCK")
        self.assertEqual((change["turn"], change["type"], change["drawn"]),
                         (1, "exclusive", HEX(100)))
        self.grant(entry)
        self.assertIs(entry.life, Life.CHANGING)
        self.registered(2)
        (claim,) = self.bodies("LOCK")
        self.assertEqual((claim["type"], claim["token"]), ("shared", HEX(9)))
        self.grant(entry, 2, token=HEX(10))
        self.assertEqual(entry.token, 10)
        self.assertEqual([body["turn"] for body in self.bodies("LOCK")], [1])
        self.grant(entry, 2, token=HEX(11), turn=1, type="exclusive")
        self.assertEqual((entry.life, entry.type, entry.token),
                         (Life.HELD, "exclusive", 11))

    def test_failed_change(self):
        """a change that fails leaves the lock as it was"""
        entry = self.held(type="shared")
        for turn, said in enumerate((
                {"command": "LOCKFAILED", "error": "deadlock", "turn": 1},
                {"command": "INVALID", "reason": "no"},
                {"command": "LOCKFAILED", "error": "overloaded",
                 "turn": 3}), 1):
            self.book.change(entry, "exclusive", -1, self.now)
            self.carrier.settle(self.now)
            self.assertEqual(entry.turn, turn)
            self.say(1, serial=entry.serial, **said)
            self.assertEqual((entry.life, entry.type, entry.error), (
                Life.HELD, "shared", said.get("error", "invalid")))
            (lock,) = self.carrier.roam.locks.values()
            self.assertEqual(lock.turn, 0)  # it is not said again
        self.assertEqual(self.told(), [])

    def test_undone(self):
        """a change that nobody answers is taken back"""
        entry = self.held(type="shared")
        self.book.change(entry, "exclusive", 1000, self.now)
        self.tick(6000)
        self.assertIs(entry.life, Life.UNDOING)
        self.assertEqual(self.bodies("LOCK")[-1]["turn"], 2)
        self.grant(entry, turn=1, type="shared")
        self.assertIs(entry.life, Life.UNDOING)
        self.grant(entry, turn=2)
        self.assertIs(entry.life, Life.HELD)

    def test_static(self):
        """what is static needs no server; it is changed by its own alone"""
        self.registered(1)
        entry = self.ask(static=True, type="shared")
        self.grant(entry, static=True)
        self.assertEqual(entry.until(), FOREVER)
        self.book.change(entry, "exclusive", -1, self.now)
        self.registered(2)
        self.assertEqual((entry.life, entry.error), (Life.HELD, "invalid"))
        self.sent()
        self.tick(10 * LEASE)
        self.assertTrue(entry.holds)
        self.book.release(entry, self.now)
        self.assertEqual([(server, message.body["object"])
                          for server, message in self.sent()
                          if message.command == "UNLOCK"], [(2, "x")])
