#   test_roam.py - what an application on another machine asks and believes
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Servers 1 and 2 are the test, which hears each letter and answers as it
#   likes: the schedules of tests/unit/roam.c. lockkeeper-protocol(7), 9.20.

import itertools
import unittest

from lockkeeper._lease import FOREVER, NEVER
from lockkeeper._places import PLACES_MAX, Kind, Letter
from lockkeeper._roam import News, Roam, State

LEASE = 6000
TOKEN = 70
SERIAL = 10  # of the first lock


class RoamCase(unittest.TestCase):
    def setUp(self):
        self.now = 1_000_000
        serials = itertools.count(100)
        self.roam = Roam(lambda: next(serials), LEASE)

    #   ------------------------------------------------------------ servers

    def said(self, kind, server):
        """The last letter of that kind to that server."""
        for letter in reversed(self.roam.letters):
            if (letter.kind, letter.server) == (kind, server):
                return letter
        return None

    def hear(self, server, number, kind, **fields):
        self.roam.hear(Letter(kind, server, number, number * 100, **fields),
                       self.now)

    def leased(self, server, number, sent=None):
        self.hear(server, number, Kind.LEASE, left_ms=LEASE,
                  sent=self.now if sent is None else sent)

    def registered(self, server, number):
        """A registration, and its first lease."""
        self.roam.register(server, self.now)
        self.assertEqual(self.said(Kind.REGISTER, server).number, number)
        self.hear(server, number, Kind.READY)
        self.leased(server, number)

    def locked(self, server, number, serial=SERIAL, token=TOKEN, **more):
        self.hear(server, number, Kind.LOCKED, serial=serial, token=token,
                  **more)

    def failed(self, server, number, turn=0):
        self.hear(server, number, Kind.FAILED, serial=SERIAL, turn=turn)

    def unlocked(self, server, number, serial=SERIAL):
        self.hear(server, number, Kind.UNLOCKED, serial=serial)

    def wait(self, ms):
        self.now += ms
        self.roam.tick(self.now)

    #   ------------------------------------------------------------ the user

    def news(self):
        """What was told since this was asked last."""
        told = [news for _, news in self.roam.news]
        self.roam.news.clear()
        return told

    def ask(self, serial=SERIAL, **kind):
        return self.roam.ask(serial, None, self.now, **kind)

    def held(self, **kind):
        """A lock that is held by way of server 1."""
        self.registered(1, 1)
        lock = self.ask(**kind)
        self.locked(1, 1)
        self.assertEqual(self.news(), [News.GRANTED])
        return lock


class Leases(RoamCase):
    def test_counts(self):
        """a lease counts from its question"""
        lock = self.held()
        first = self.now
        self.assertEqual(self.roam.until(lock), first + LEASE)
        self.now += 1500
        self.leased(1, 1, first + 1000)
        self.assertEqual(self.roam.until(lock), first + 1000 + LEASE)
        self.leased(1, 1, first + 500)  # late
        self.assertEqual(self.roam.until(lock), first + 1000 + LEASE)
        self.leased(1, 1, self.now + 1)  # never asked
        self.assertEqual(self.roam.until(lock), first + 1000 + LEASE)

    def test_sixth(self):
        """a sixth of it is waited, and less when nothing is heard; a quarter
        while nothing is asked for"""
        self.registered(1, 1)
        self.roam.letters.clear()
        self.wait(LEASE // 4 - 1)
        self.assertEqual(self.roam.letters, [])
        self.wait(1)
        self.assertEqual(self.said(Kind.LEASE, 1).sent, self.now)
        self.leased(1, 1)
        self.ask()
        self.roam.letters.clear()
        self.wait(LEASE // 6 - 1)
        self.assertIsNone(self.said(Kind.LEASE, 1))
        self.wait(1)
        self.assertEqual(self.said(Kind.LEASE, 1).sent, self.now)
        for _ in range(3):
            self.wait(LEASE // 6)
        self.roam.letters.clear()
        self.wait(300)
        self.assertEqual(self.said(Kind.LEASE, 1).sent, self.now)

    def test_none(self):
        """nothing is believed without a lease"""
        self.roam.register(1, self.now)
        self.hear(1, 1, Kind.READY)
        lock = self.ask()
        self.locked(1, 1)
        self.assertEqual(self.news(), [])
        self.assertIs(lock.state, State.WAITS)
        self.leased(1, 1)
        self.locked(1, 1)
        self.assertEqual(self.news(), [News.GRANTED])

    def test_what_it_was_given(self):
        """a shorter lease is asked for more often"""
        self.registered(1, 1)
        self.hear(1, 1, Kind.LEASE, left_ms=600, sent=self.now)
        self.ask()
        self.roam.letters.clear()
        self.wait(100)
        self.assertEqual(self.said(Kind.LEASE, 1).drawn, 100)

    def test_register(self):
        """REGISTER is said until it is answered, and LEASE at once then"""
        self.roam.register(1, self.now)
        for _ in range(2):
            self.roam.letters.clear()
            self.assertEqual(self.roam.deadline(self.now), self.now + 300)
            self.wait(299)
            self.assertEqual(self.roam.letters, [])
            self.wait(1)
            self.assertEqual(self.said(Kind.REGISTER, 1).sent, self.now)
        self.roam.register(2, self.now)
        self.roam.letters.clear()
        self.wait(300)
        self.assertIsNone(self.said(Kind.REGISTER, 1))
        self.hear(2, 2, Kind.READY)
        self.assertEqual(self.said(Kind.LEASE, 2).sent, self.now)
        self.roam.letters.clear()
        self.hear(2, 2, Kind.READY)
        self.assertEqual(self.roam.letters, [])

    def test_deadline(self):
        """it is due when LEASE is"""
        self.held()
        self.assertEqual(self.roam.deadline(self.now + LEASE // 6 - 9),
                         self.now + LEASE // 6)

    def test_refused(self):
        """what is refused is given back, and a late grant, too"""
        self.registered(1, 1)
        self.ask()
        self.failed(1, 1)
        self.assertEqual(self.news(), [News.REFUSED])
        self.assertEqual(self.said(Kind.UNLOCK, 1).serial, SERIAL)
        self.roam.letters.clear()
        self.locked(1, 1)
        self.assertEqual(self.said(Kind.UNLOCK, 1).serial, SERIAL)
        self.assertEqual(self.news(), [])

    def test_over(self):
        """what is over stays lost, and is given back"""
        lock = self.held()
        self.wait(LEASE - 1)
        self.assertIs(lock.state, State.HELD)
        self.roam.letters.clear()
        self.wait(1)
        self.assertEqual(self.news(), [News.LOST])
        self.leased(1, 1)
        self.assertEqual(self.roam.until(lock), NEVER)
        self.assertEqual(self.said(Kind.UNLOCK, 1).serial, SERIAL)
        self.unlocked(1, 1)
        self.assertEqual(self.news(), [News.DONE])
        self.assertFalse(self.roam.locks)

    def test_late_lease(self):
        """... also if the lease comes when it is over, before time is seen to
        pass"""
        self.held()
        self.now += LEASE
        self.leased(1, 1)
        self.assertEqual(self.news(), [News.LOST])

    def test_repeats(self):
        """LOCK and UNLOCK are said until they are answered"""
        self.registered(1, 1)
        lock = self.ask()
        for kind, deed in ((Kind.LOCK, None),
                           (Kind.UNLOCK, self.roam.give_back)):
            if deed:
                deed(lock, self.now)
            self.roam.letters.clear()
            self.wait(399)
            self.assertIsNone(self.said(kind, 1))
            self.wait(1)
            self.assertEqual(self.said(kind, 1).serial, SERIAL)
            self.leased(1, 1)

    def test_many(self):
        """nothing is said of what is held and told"""
        self.registered(1, 1)
        for serial in range(10, 2010, 2):
            self.ask(serial)
            self.locked(1, 1, serial)
        self.assertEqual(len(self.news()), 1000)
        self.roam.letters.clear()
        for _ in range(100):
            self.wait(100)
            self.leased(1, 1)
            self.assertGreaterEqual(self.roam.deadline(self.now),
                                    self.now + 100)
        self.assertLess(len(self.roam.letters), 20)  # LEASEs
        self.assertEqual(self.news(), [])


class Moves(RoamCase):
    def test_claim(self):
        """a claim is believed as long as before, and on from LOCKED"""
        lock = self.held()
        until = self.now + LEASE
        self.now += 2000
        self.registered(2, 2)
        claim = self.said(Kind.LOCK, 2)
        self.assertEqual((claim.token, claim.left_ms, claim.asked_before),
                         (TOKEN, LEASE - 2000, True))
        self.leased(1, 1)  # of the former one: of no use any more
        self.assertEqual(self.roam.until(lock), until)
        self.locked(1, 1)
        self.assertEqual(self.roam.until(lock), until)
        self.locked(2, 2)
        self.assertEqual(self.news(), [News.GOES_ON])
        self.assertEqual(self.roam.until(lock), self.now + LEASE)

    def test_claim_over(self):
        """a claim that is not answered in time is lost"""
        self.held()
        until = self.now + LEASE
        self.now += 2000
        self.registered(2, 2)
        self.wait(until - self.now - 1)
        self.leased(2, 2)
        self.assertEqual(self.news(), [])
        self.wait(1)
        self.assertEqual(self.news(), [News.LOST])
        self.locked(2, 2)
        self.assertEqual(self.news(), [])
        self.assertEqual(self.said(Kind.UNLOCK, 2).serial, SERIAL)

    def test_held_claim(self):
        """what goes on is claimed as it is then"""
        lock = self.held()
        self.now += 2000
        self.registered(2, 2)
        self.locked(2, 2)
        self.now += 1000
        self.leased(2, 2)
        self.registered(1, 3)
        self.assertEqual(self.said(Kind.LOCK, 1).left_ms, LEASE)
        self.assertTrue(lock.doubtful)

    def test_former_end(self):
        """an end that a former server tells is not heard"""
        lock = self.held()
        self.registered(2, 2)
        self.failed(1, 1)
        self.assertIs(lock.state, State.HELD)
        self.failed(2, 2)
        self.assertEqual(self.news(), [News.LOST])

    def test_other_grant(self):
        """another grant is not its own"""
        lock = self.held()
        self.registered(2, 2)
        self.locked(2, 2, token=TOKEN + 1)
        self.assertEqual(self.news(), [])
        self.assertTrue(lock.doubtful)

    def test_goodbye(self):
        """no goodbye while a claim is open"""
        self.held()
        self.registered(2, 2)
        self.wait(300)
        self.assertIsNone(self.said(Kind.GOODBYE, 1))
        self.locked(2, 2)
        self.wait(300)
        self.assertIsNotNone(self.said(Kind.GOODBYE, 1))
        self.assertIsNone(self.said(Kind.GOODBYE, 2))
        self.roam.letters.clear()
        self.wait(300)
        self.roam.leave(self.now)
        self.assertIsNone(self.said(Kind.GOODBYE, 1))

    def test_leave(self):
        """at the end goodbye is said where no claim is open"""
        self.held()
        self.registered(2, 2)
        self.roam.leave(self.now)
        self.assertIsNone(self.said(Kind.GOODBYE, 1))
        self.assertIsNotNone(self.said(Kind.GOODBYE, 2))

    def test_waiter(self):
        """what waits moves without a token; its place may be there still"""
        self.registered(1, 1)
        self.ask()
        self.registered(2, 2)
        claim = self.said(Kind.LOCK, 2)
        self.assertEqual((claim.token, claim.serial, claim.asked_before),
                         (0, SERIAL, True))
        self.wait(LEASE - 1)
        self.assertIsNone(self.said(Kind.GOODBYE, 1))
        self.leased(2, 2)
        self.wait(200)
        self.assertIsNotNone(self.said(Kind.GOODBYE, 1))

    def test_waiter_again(self):
        """... of all through which it has moved in that time"""
        self.registered(1, 1)
        self.ask()
        self.registered(2, 2)
        self.now += LEASE // 2
        self.registered(1, 3)
        self.wait(LEASE - 100)
        self.assertIsNone(self.said(Kind.GOODBYE, 1))
        self.assertIsNone(self.said(Kind.GOODBYE, 2))
        self.wait(200)
        self.assertEqual(self.said(Kind.GOODBYE, 1).number, 1)
        self.assertIsNotNone(self.said(Kind.GOODBYE, 2))

    def test_moving_again(self):
        """what was granted is no claim any more, and its end is one of now"""
        lock = self.held()
        self.registered(2, 2)
        self.locked(2, 2)
        self.news()
        self.failed(2, 2)
        self.assertEqual(self.news(), [News.LOST])
        self.assertFalse(lock.doubtful)
        self.assertEqual(self.said(Kind.UNLOCK, 2).serial, SERIAL)

    def test_unknown(self):
        """what is unknown is claimed elsewhere"""
        self.held()
        self.assertFalse(self.roam.wants_server(self.now))
        self.hear(1, 1, Kind.UNKNOWN)
        self.assertTrue(self.roam.wants_server(self.now))
        self.registered(1, 2)  # the same one, once more
        self.assertEqual(self.said(Kind.LOCK, 1).number, 2)

    def test_draining(self):
        """a server that stops is left, and its locks are good till then; one
        that serves too many is not waited for"""
        self.roam.register(2, self.now)
        self.assertFalse(self.roam.wants_server(self.now))
        self.hear(2, 1, Kind.MOVE)
        self.assertTrue(self.roam.wants_server(self.now))
        self.registered(1, 2)
        lock = self.ask()
        self.locked(1, 2)
        self.assertFalse(self.roam.wants_server(self.now))
        self.hear(1, 2, Kind.MOVE)
        self.assertTrue(self.roam.wants_server(self.now))
        self.assertEqual(self.roam.until(lock), self.now + LEASE)

    def test_slow(self):
        """a server that takes longer than another is waited for counts"""
        self.ask()
        self.roam.register(1, self.now)
        self.now += 999
        self.assertFalse(self.roam.wants_server(self.now))
        self.now += 1
        self.assertTrue(self.roam.wants_server(self.now))
        self.roam.register(2, self.now)
        self.hear(1, 1, Kind.READY)
        self.assertEqual(self.said(Kind.LOCK, 1).serial, SERIAL)
        self.wait(2000)
        self.leased(1, 1)
        self.assertFalse(self.roam.wants_server(self.now))

    def test_strangers(self):
        """what another server says, or of another registration, is not
        heard"""
        lock = self.held()
        self.roam.hear(Letter(Kind.FAILED, 2, 1, 100, SERIAL), self.now)
        self.roam.hear(Letter(Kind.FAILED, 1, 1, 101, SERIAL), self.now)
        self.roam.hear(Letter(Kind.UNKNOWN, 1, 1, 101), self.now)
        self.assertIs(lock.state, State.HELD)
        self.assertFalse(self.roam.wants_server(self.now))

    def test_given_up(self):
        """what is believed by a registration that is not remembered is lost"""
        lock = self.held()
        for _ in range(2, 3 * PLACES_MAX):
            self.roam.register(2, self.now)
        self.wait(1)
        self.assertEqual(self.news(), [])  # that one is needed
        for number in range(3 * PLACES_MAX, 4 * PLACES_MAX):
            self.roam.register(2, self.now)
            self.hear(2, number, Kind.READY)
        self.roam.register(2, self.now)
        self.assertEqual(self.roam.until(lock), lock.floor_ms)
        self.assertIsNone(self.roam.places.find(1))

    def test_back_and_forth(self):
        """a claim that is claimed again is believed no longer for that"""
        lock = self.held()
        until = self.now + LEASE
        for number in range(2, 6):
            self.now += 500
            self.registered(number % 2 + 1, number)
            self.assertEqual(self.roam.until(lock), until)
            self.assertEqual(self.said(Kind.LOCK, number % 2 + 1).left_ms,
                             until - self.now)


class Kinds(RoamCase):
    def test_waiting_set(self):
        """a set that waits begins anew"""
        self.registered(1, 1)
        lock = self.ask(is_set=True)
        self.registered(2, 2)
        self.assertEqual(self.news(), [News.ANEW])
        self.assertEqual(lock.serial, 100)
        self.assertEqual(self.said(Kind.LOCK, 2).serial, 100)
        self.assertFalse(self.said(Kind.LOCK, 2).asked_before)
        self.assertEqual(self.said(Kind.UNLOCK, 2).serial, SERIAL)
        self.roam.give_back(lock, self.now)
        self.unlocked(2, 2, 100)
        self.assertEqual(self.news(), [])  # not all is given back
        self.unlocked(2, 2, SERIAL)
        self.assertEqual(self.news(), [News.DONE])
        self.assertFalse(self.roam.locks)

    def test_held_set(self):
        """a set that is held moves"""
        self.held(is_set=True)
        self.registered(2, 2)
        claim = self.said(Kind.LOCK, 2)
        self.assertEqual((claim.serial, claim.token), (SERIAL, TOKEN))

    def test_static(self):
        """what is static needs no lease, and does not move"""
        lock = self.held(is_static=True)
        self.wait(2 * LEASE)
        self.assertIs(lock.state, State.HELD)
        self.assertEqual(self.roam.until(lock), FOREVER)
        self.registered(2, 2)
        self.assertIsNone(self.said(Kind.LOCK, 2))
        self.wait(300)
        self.assertIsNotNone(self.said(Kind.GOODBYE, 1))
        self.assertFalse(self.roam.turn(lock, 1, self.now))
        self.roam.give_back(lock, self.now)
        self.assertEqual(self.said(Kind.UNLOCK, 2).serial, SERIAL)

    def test_static_waits(self):
        """before that it moves as all others"""
        self.registered(1, 1)
        self.ask(is_static=True)
        self.registered(2, 2)
        self.assertTrue(self.said(Kind.LOCK, 2).asked_before)

    def test_static_turn(self):
        """a change of it that is open when its server is left has failed"""
        lock = self.held(is_static=True)
        self.assertTrue(self.roam.turn(lock, 1, self.now))
        self.registered(2, 2)
        self.assertEqual(self.news(), [News.NOT_TURNED])

    def test_turn(self):
        """a change is said until it is over"""
        lock = self.held()
        self.roam.turn(lock, 1, self.now)
        self.roam.turn(lock, 1, self.now)
        self.roam.letters.clear()
        self.wait(400)
        (again,) = self.roam.letters
        self.assertEqual((again.kind, again.turn, again.token),
                         (Kind.LOCK, 1, 0))
        self.failed(1, 1, 1)
        self.assertEqual(self.news(), [News.NOT_TURNED])
        self.assertIs(lock.state, State.HELD)
        self.roam.turn(lock, 2, self.now)
        self.locked(1, 1)  # of before
        self.failed(1, 1, 1)  # late
        self.assertEqual((lock.turn, self.news()), (2, []))
        self.locked(1, 1, token=TOKEN + 3, turn=2)
        self.assertEqual((lock.token, self.news()),
                         (TOKEN + 3, [News.TURNED]))

    def test_made_before(self):
        """a lock that was changed may have another token when it moves"""
        lock = self.held()
        self.roam.turn(lock, 1, self.now)
        self.failed(1, 1, 1)
        self.registered(2, 2)
        self.locked(2, 2, token=TOKEN - 1)
        self.assertTrue(lock.doubtful)
        self.locked(2, 2, token=TOKEN + 3)
        self.assertFalse(lock.doubtful)

    def test_given_back_turn(self):
        """what is given back is not changed any more"""
        lock = self.held()
        self.roam.turn(lock, 1, self.now)
        self.roam.give_back(lock, self.now)
        self.roam.letters.clear()
        self.wait(400)
        self.assertEqual([one.kind for one in self.roam.letters],
                         [Kind.UNLOCK])

    def test_later_turn(self):
        """a later change takes the place of an open one"""
        lock = self.held()
        self.roam.turn(lock, 1, self.now)
        self.roam.turn(lock, 2, self.now)
        self.locked(1, 1, token=TOKEN + 3, turn=1)
        self.assertEqual((lock.turn, self.news()), (2, []))
        self.locked(1, 1, token=TOKEN + 3, turn=2)
        self.assertEqual(self.news(), [News.TURNED])

    def test_open_turn(self):
        """an open change moves: it may have been made, though nobody heard of
        it"""
        lock = self.held()
        self.roam.turn(lock, 1, self.now)
        self.registered(2, 2)
        claim = self.said(Kind.LOCK, 2)
        self.assertEqual((claim.turn, claim.token), (0, TOKEN))
        self.locked(2, 2, token=TOKEN + 3)
        self.assertEqual(self.news(), [News.GOES_ON])
        self.assertEqual(lock.token, TOKEN + 3)
        self.assertEqual(self.said(Kind.LOCK, 2).turn, 1)
