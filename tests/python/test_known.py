#   test_known.py - which server of a cluster comes first
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   The schedules of tests/unit/known_servers.c.

import random
import unittest

from lockkeeper import _domain
from lockkeeper._client_file import ClientFile, ClientServer
from lockkeeper._known_servers import KNOWN_MAX, TOLD_MAX, KnownServers


class Domains(unittest.TestCase):
    def test_valid(self):
        """a location domain is labels with dots between"""
        for text in ("au", "au.perth.dh4-2", "A_1", "x" * 127):
            self.assertTrue(_domain.is_valid(text), text)
        for text in ("", ".", "au.", ".au", "a..b", "a b", "x" * 128):
            self.assertFalse(_domain.is_valid(text), text)

    def test_within(self):
        """all are within none, and a label is not the beginning of another"""
        for domain, other, is_within in (
                ("", "", True), ("", "au", True), ("au", "au", True),
                ("au", "au.perth", True), ("au", "aus", False),
                ("au.perth", "au", False), ("au", "", False)):
            self.assertEqual(_domain.is_within(domain, other), is_within)


class Known(unittest.TestCase):
    def setUp(self):
        self.now = 100_000
        self.file = ClientFile()
        self.rows = []

    @staticmethod
    def row(host, key, domain=""):
        return ClientServer(f"tcp://{host}:1", key, domain)

    def lists(self, *row):
        """A server of the file."""
        self.file.servers.append(self.row(*row))

    def begin(self, domain="", limit="", seed=1):
        self.file.domain, self.file.limit = domain, limit
        self.all = KnownServers(self.file, random.Random(seed))

    def told(self, *rows):
        """What a server tells of."""
        self.all.told([self.row(*row) for row in rows], self.now)

    def of(self, key):
        (found,) = [one for one in self.all.all if one.key == key]
        return found

    def tries(self):
        """Tries the next one in vain: its key."""
        server = self.all.next(self.now)
        if server is None:
            return ""
        server.begun_ms = self.now
        server.tries += 1
        return server.key

    def tries_all(self):
        return " ".join(iter(self.tries, ""))

    def order(self):
        """The same from the beginning, much later."""
        self.now += 1_000_000
        self.all.settle()
        return self.tries_all()

    #   ------------------------------------------------------------ order

    def test_bubbles_up(self):
        """the nearest one comes first; what is not known is anywhere"""
        self.lists("h", "k9")
        self.begin("au.perth.dh4.rack3.srv5")
        self.told(("a", "k8", "nz"), ("b", "k7", "au.sydney"),
                  ("c", "k6", "au"), ("d", "k5", "au.perth.dh1"),
                  ("e", "k4", "au.perth.dh4.rack2"),
                  ("f", "k3", "au.perth.dh4"),
                  ("g", "k2", "au.perth.dh4.rack3.srv6"),
                  ("i", "k1", "au.perth.dh4.rack3.srv5"), ("h", "k9"))
        self.assertEqual(self.order(), "k1 k2 k3 k4 k5 k6 k7 k9 k8")

    def test_soonest(self):
        """of those that are as near the one that answers soonest"""
        self.lists("a", "k1", "au")
        self.lists("b", "k2", "nz")
        self.lists("c", "k3")
        self.begin()
        self.assertEqual(self.order(), "k1 k2 k3")
        self.of("k3").answered(20)
        self.of("k2").answered(30)
        self.assertEqual(self.order(), "k3 k2 k1")
        self.of("k2").answered(0)  # 15 on an average
        self.assertEqual(self.order(), "k2 k3 k1")
        self.assertTrue(self.all.race)

    def test_near(self):
        """near is more than soon"""
        self.lists("a", "k1", "au.sydney")
        self.lists("b", "k2", "au.perth")
        self.begin("au.perth")
        self.of("k1").answered(1)
        self.of("k2").answered(50)
        self.assertEqual(self.order(), "k2 k1")

    def test_listed(self):
        """or as the file has them"""
        self.file.order = "listed"
        self.lists("a", "k1")
        self.lists("b", "k2")
        self.begin()
        self.of("k2").answered(1)
        self.assertEqual(self.order(), "k1 k2")
        self.assertFalse(self.all.race)

    def test_any(self):
        """or any of them, as a session has drawn it"""
        self.file.order = "random"
        self.lists("a", "k1")
        self.lists("b", "k2")
        firsts = set()
        for seed in range(20):
            self.begin(seed=seed)
            first = self.all.next(self.now)
            self.assertIs(self.all.next(self.now), first)
            firsts.add(first.key)
        self.assertEqual(firsts, {"k1", "k2"})

    #   ------------------------------------------------------------ tries

    def test_turns(self):
        """all have a turn before one is tried again; and that takes a
        second"""
        for host in "abc":
            self.lists(host, f"k{host}")
        self.begin()
        self.assertEqual([self.tries(), self.tries()], ["ka", "kb"])
        self.now += 999
        self.assertEqual([self.tries(), self.tries()], ["kc", ""])
        self.now += 1
        self.of("ka").is_tried = True  # still
        self.assertEqual(self.tries(), "kb")
        self.of("ka").is_tried = False
        self.assertEqual(self.tries(), "ka")
        self.now += 2000
        self.assertEqual(self.tries(), "kc")
        self.all.settle()
        self.now += 2000
        self.assertEqual(self.tries(), "ka")

    def test_stops(self):
        """who stops is the last"""
        self.lists("a", "k1", "au")
        self.lists("b", "k2")
        self.begin("au")
        self.of("k1").moved(self.now)
        self.assertEqual(self.tries_all(), "k2 k1")
        self.assertEqual(self.order(), "k1 k2")  # a while later

    def test_one_address(self):
        """several behind one address are tried in no order, and sooner again,
        but not for ever"""
        self.lists("lb", "k1")
        self.lists("lb", "k2")
        self.begin()
        keys = []
        for _ in range(16):
            keys.append(self.tries())
            self.now += 100
        repeated = sum(one == other for one, other in zip(keys, keys[1:]))
        self.assertGreaterEqual(sum(key != "" for key in keys), 14)
        self.assertTrue(2 < repeated < 14, repeated)
        for server in self.all.all:
            server.begun_ms, server.tries = self.now, 8
        self.now += 999
        self.assertEqual(self.tries(), "")
        self.now += 1
        self.assertNotEqual(self.tries(), "")

    #   ------------------------------------------------------------ a list

    def test_same(self):
        """by its key one of the file is known, and where it is"""
        self.lists("name", "k1")
        self.begin("au")
        there = ("10.0.0.1", "k1", "au"), ("10.0.0.2", "k2", "nz")
        self.told(*there)
        server = self.of("k1")
        self.assertEqual((server.domain, server.endpoint),
                         ("au", "tcp://name:1"))
        server.turn()
        self.assertEqual(server.endpoint, "tcp://10.0.0.1:1")
        self.told(*there)
        server.turn()
        self.assertEqual(server.endpoint, "tcp://name:1")
        self.told(there[0], ("10.0.0.9", "k2", "nz"))  # it is there now
        self.assertEqual(len(self.all.all), 2)
        for _ in range(2):
            self.assertEqual(self.of("k2").endpoint, "tcp://10.0.0.9:1")
            self.of("k2").turn()

    def test_one_key(self):
        """several by one key are as many servers"""
        self.lists("lb", "k1")
        self.begin()
        rows = ("10.0.0.1", "k1"), ("10.0.0.2", "k1")
        for told in (rows, rows[::-1]):
            self.told(*told)
            self.assertEqual(len(self.all.all), 3)

    def test_gone(self):
        """what left the list is the last resort, and forgotten in the end"""
        self.lists("a", "k1")
        self.begin("au")
        self.told(("b", "k2", "au"), ("c", "k3"), ("a", "k1"))
        self.assertEqual(self.order(), "k2 k1 k3")
        number = self.of("k2").number
        self.told(("c", "k3"))
        self.assertEqual(self.order(), "k3 k2 k1")
        self.assertIsNotNone(self.all.find(number))
        self.told(("c", "k3"), ("d", "k4"))
        self.assertIsNone(self.all.find(number))
        self.assertEqual(self.order(), "k3 k4 k1")
        self.told(("b", "k2", "au"))
        self.assertGreater(self.of("k2").number, self.of("k4").number)
        self.assertEqual(self.order(), "k2 k1 k3 k4")
        self.of("k3").is_used = self.of("k4").is_used = True
        self.now += 1_000_000
        self.told(("e", "k5"))
        self.assertEqual(len(self.all.all), 5)  # all that are used, or there

    def test_no_room(self):
        """if there are more than there is room for those that are gone go"""
        self.begin()
        for number in range(4):
            self.told(*((f"k{number}-{at}",) * 2 for at in range(TOLD_MAX)))
            self.now += 1
        self.assertEqual(len(self.all.all), KNOWN_MAX)
        self.assertFalse(self.of("k3-0").is_gone or self.of("k3-63").is_gone)
        self.assertTrue(self.of("k2-0").is_gone)

    #   ------------------------------------------------------------ nearer

    def test_nearer(self):
        """a nearer one is told, unless it was tried just now or stops"""
        self.lists("a", "k1", "nz")
        self.begin("au.perth")
        self.assertIsNone(self.all.nearer(self.of("k1"), self.now))
        self.told(("a", "k1", "nz"), ("b", "k2", "au"),
                  ("c", "k3", "au.perth"), ("d", "k4", "nz"))
        first, second, third = map(self.of, ("k1", "k2", "k3"))
        self.assertIs(self.all.nearer(first, self.now), third)
        third.begun_ms = self.now  # in vain
        self.assertIs(self.all.nearer(first, self.now), second)
        self.assertIsNone(self.all.nearer(second, self.now))
        self.now += 9999
        self.assertIsNone(self.all.nearer(second, self.now))
        self.now += 1
        self.assertIs(self.all.nearer(second, self.now), third)
        third.moved(self.now)
        self.assertIsNone(self.all.nearer(second, self.now))
        self.told(("a", "k1", "nz"))
        self.assertIsNone(self.all.nearer(first, self.now))
        second.begun_ms = self.now
        self.told(("b", "k2", "au"))  # it comes back
        self.assertIs(self.all.nearer(first, self.now), second)

    def test_limit(self):
        """what is outside of the limit is not even connected with; what is not
        known to be may be asked, and is not used"""
        self.lists("a", "k1")
        self.lists("b", "k2", "au.perth.dh1")
        self.lists("c", "k3", "au.perth2")
        self.begin("au.perth.dh4", "au.perth")
        self.told(("a", "k1"), ("b", "k2"), ("d", "k4", "au.sydney"),
                  ("e", "k5", "au.perth.dh4"))
        self.assertEqual(self.order(), "k5 k2 k1")
        for key, why in (
                ("k2", ""), ("k5", ""),
                ("k1", "its location domain is not known, and "
                 "'client/domain-limit' is au.perth"),
                ("k4", "it is in au.sydney, outside of "
                 "'client/domain-limit' au.perth")):
            self.assertEqual(self.all.objection(self.of(key)), why)
        self.assertIsNone(self.all.nearer(self.of("k5"), self.now))
