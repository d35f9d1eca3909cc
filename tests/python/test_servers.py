#   test_servers.py - which servers a machine without a router connects with
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   The connections are played.

import unittest

import zmq

from lockkeeper import _frame, _link, _servers
from lockkeeper._client_file import ClientFile, ClientServer
from lockkeeper._frame import Message

from book import NOW

KEY = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
KEYS = [zmq.curve_keypair()[0].decode() for _ in range(4)]


class FakeLink:
    """A connection that the test plays."""

    def __init__(self, *_):
        self.was_up = self.is_open = False
        self.ended_by = 0
        self.before_close = None
        self.words = []
        self.sent = []
        self.dials = []  # how long each of them may take

    def open(self, endpoint, connect_ms, ipv6):
        self.is_open, self.ipv6 = True, ipv6
        self.dials.append(connect_ms)
        return True

    def close_socket(self, linger_ms):
        self.is_open = False

    def read(self):
        words, self.words = self.words, []
        return words

    def send(self, frame):
        self.sent += _frame.decode(frame)

    def descriptors(self):
        return []

    def is_idle(self):
        return not self.words


class Choices(unittest.TestCase):
    order, domain, is_closed = "listed", "", False

    def setUp(self):
        self.now = NOW
        self.links = {}
        self.all = _servers.Servers(ClientFile(
            KEY, servers=[ClientServer(f"tcp://h{number}:1", key)
                          for number, key in enumerate(KEYS)],
            order=self.order, domain=self.domain,
            is_closed=self.is_closed), "far-1-x")
        self.addCleanup(lambda: self.all.close(self.now))
        self.all._new_link = self.new_link

    def new_link(self, about):
        self.links[about.number] = FakeLink()
        return self.links[about.number]

    def choose(self, is_wanted=True, latest=-1, ms=0):
        self.now += ms
        self.heard = list(self.all.work(self.now))
        chosen = self.all.choose(is_wanted, latest, self.now)
        self.all.flush(self.now)
        return chosen

    def alone(self, endpoint="tcp://h0:1"):
        """There is one server, which is tried."""
        del self.all.known.all[1:]
        self.all.known.find(0).endpoint = endpoint
        self.choose()

    def open(self):
        """Those that are connected, or being."""
        return {number for number, link in self.links.items() if link.is_open}

    def tried(self):
        return {about.number for about in self.all.known.all
                if about.is_tried}

    def hear(self, number, command, serial=1, **body):
        host = body.get("host", f"h{number}")
        self.links[number].words.append(("", _frame.encode(Message(
            "far-1-x@.", f"router@{host}", command, serial, body))))

    def be_up(self, number, host=None):
        """Its router answers."""
        host = host or f"h{number}"
        self.links[number].words.append((_link.UP, b""))
        self.hear(number, "READY", host=host)

    def be_down(self, number, event=zmq.EVENT_CLOSED):
        self.links[number].ended_by = event
        self.links[number].words.append((_link.DOWN, b""))

    def tell(self, number, *rows):
        """Its router tells of these servers, with their domains."""
        self.hear(number, "SERVERS", 0, servers=[
            {"host": f"h{place}", "address": f"h{place}:1",
             "key": KEYS[place], "domain": domain}
            for place, domain in rows])


class Listed(Choices):
    """In the order of the file."""

    def test_first(self):
        """the first one is tried, registered with, and taken"""
        self.assertEqual(self.choose(), -1)
        self.assertEqual(self.open(), {0})
        self.be_up(0)
        self.assertEqual(self.choose(), 0)
        (register,) = self.links[0].sent
        self.assertEqual((register.command, register.body["service"],
                          register.body["subscribe"]),
                         ("REGISTER", "far-1-x", ["SERVERS"]))
        self.assertEqual((self.all.host(0), self.all.is_up(0)), ("h0", True))
        self.assertEqual(self.choose(False, 0, 60000), -1)
        self.assertEqual(self.open(), {0})

    def test_next(self):
        """the next one is tried a second later, too, two at a time"""
        self.choose()
        self.choose(ms=999)
        self.assertEqual(self.open(), {0})
        self.choose(ms=1)
        self.assertEqual(self.tried(), {0, 1})
        self.choose(ms=999)
        self.assertEqual(self.tried(), {0, 1})
        self.choose(ms=1)  # the first one is in vain now
        self.assertEqual(self.tried(), {1, 2})
        self.be_up(1)
        self.assertEqual(self.choose(), 1)
        self.choose(False, 1, 4999)
        self.assertEqual(self.open(), {1, 2})
        self.choose(False, 1, 1)
        self.assertEqual(self.open(), {1})

    def test_refused(self):
        """one that nobody is at is left at once, and why is told"""
        self.choose()
        for number, event in enumerate((
                zmq.EVENT_CLOSED, zmq.EVENT_HANDSHAKE_FAILED_AUTH,
                zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL)):
            self.be_down(number, event)
            self.choose()
        self.assertEqual(self.tried(), {3})
        self.links[3].words.append((_link.UP, b""))
        self.hear(3, "REFUSE", reason="no room")
        self.choose()
        self.assertEqual(self.all.problem(), (
            "no server serves us: 'tcp://h0:1': connection refused; "
            "'tcp://h1:1': it does not know our key; 'tcp://h2:1': it has "
            "another key than we know, or is no server of clients; "
            "'tcp://h3:1': the router refused: no room"))
        self.assertFalse(self.links[3].is_open)

    def deny(self):
        """The only one does not want our credential."""
        self.links[0].words.append((_link.UP, b""))
        self.hear(0, "REFUSE", reason="the credential has ended")
        self.choose()

    def test_denied(self):
        """that is of the credential which was shown when it was tried"""
        self.alone()
        self.deny()
        self.assertTrue(self.all.deny_credential)
        self.all.show_credential(self.now)
        self.assertFalse(self.all.deny_credential)
        self.choose(ms=1000)
        self.all.show_credential(self.now + 1)
        self.deny()
        self.assertFalse(self.all.deny_credential)
        self.choose(ms=1000)
        self.assertFalse(self.all.deny_credential)
        self.deny()
        self.assertTrue(self.all.deny_credential)
        self.choose(ms=1000)
        self.be_up(0)
        self.assertEqual(self.choose(), 0)
        self.all.note(0, "")
        self.assertFalse(self.all.deny_credential)

    def test_again(self):
        """the same one is tried again after a second, a name by its other kind
        of address"""
        for number in range(4):
            self.choose()
            self.be_down(number)
        self.choose()
        self.choose(ms=999)
        self.assertEqual(self.tried(), set())
        self.assertTrue(self.links[0].ipv6)
        self.choose(ms=1)
        self.assertEqual(self.tried(), {0})

    def test_nameless(self):
        """a name that nothing is heard of is looked up anew"""
        self.choose()
        self.assertFalse(self.links[0].ipv6)
        self.choose(ms=2000)
        self.assertTrue(self.links[0].ipv6)

    def choose_until(self, ms):
        """Looks as often as a session does."""
        while self.now < NOW + ms:
            self.choose(ms=50)

    def test_patience(self):
        """a dial of a name is not replaced before its time is over"""
        self.alone()
        for ms, dials in ((0, 1), (1950, 1), (2000, 2), (3950, 2), (4000, 3)):
            self.choose_until(ms)
            self.assertEqual(len(self.links[0].dials), dials, ms)

    def test_late(self):
        """one that did not answer in the time of its dial did not refuse"""
        self.alone("tcp://10.0.0.1:1")
        self.be_down(0)
        self.choose(ms=1700)
        self.assertIn(": connection refused", self.all.problem())
        self.choose(ms=500)
        self.be_down(0)
        self.choose(ms=2000)
        self.assertIn(": connection timed out", self.all.problem())

    def test_late_handshake(self):
        """one that takes the connection and says nothing has no other key"""
        self.alone("tcp://10.0.0.1:1")
        self.be_down(0, zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL)
        self.choose(ms=2000)
        self.assertIn(": it does not answer", self.all.problem())

    def test_pause(self):
        """one that was to be dialled anew is, if the process stood still"""
        self.alone("tcp://10.0.0.1:1")
        self.choose(ms=900)
        self.be_down(0)
        self.choose()
        self.choose(ms=100)
        self.assertEqual(self.tried(), {0})
        self.choose(ms=2000)
        self.assertEqual(len(self.links[0].dials), 2)

    def test_mute(self):
        """one that takes the connection and says nothing is dialled anew, as
        one that does not answer"""
        self.alone("tcp://10.0.0.1:1")
        self.be_down(0)
        self.choose()
        self.choose(ms=500)
        self.links[0].words.append((_link.UP, b""))
        self.choose()
        self.choose_until(3450)
        self.assertEqual(len(self.links[0].dials), 2)
        self.assertIn(": it does not answer", self.all.problem())
        self.choose_until(4000)
        self.assertEqual(len(self.links[0].dials), 3)
        self.be_up(0)
        self.assertEqual(self.choose(), 0)

    def test_speechless(self):
        """... and so is one with which nothing is agreed"""
        self.alone("tcp://10.0.0.1:1")
        self.choose_until(2950)
        self.assertEqual(len(self.links[0].dials), 1)
        self.choose_until(3000)
        self.assertEqual(len(self.links[0].dials), 2)

    def test_silent(self):
        """what does not answer is dialled anew when it is tried"""
        self.choose()
        self.be_up(0)
        self.choose()
        first = self.links[0]
        self.all.send(0, Message("lock@.", "", "LOCK", 2), self.now)
        self.now += 2000
        self.all._try(self.all.known.find(0), self.now)
        self.assertIsNot(self.links[0], first)
        self.assertFalse(first.is_open)

    def test_heard(self):
        """... but not if it has answered since"""
        self.choose()
        self.be_up(0)
        self.choose()
        first = self.links[0]
        self.all.send(0, Message("lock@.", "", "LOCK", 2), self.now)
        self.hear(0, "LOCKED", 2)
        self.choose(False, 0, 2000)
        self.assertEqual([(number, message.command)
                          for number, message in self.heard],
                         [(0, "LOCKED")])
        self.all._try(self.all.known.find(0), self.now)
        self.assertIs(self.links[0], first)

    def test_used(self):
        """the one that was used is the last one that is tried"""
        self.choose()
        self.be_up(0)
        self.choose()
        self.choose(False, 0)
        self.assertEqual(self.choose(True, 0, 2000), -1)
        self.assertEqual(self.tried(), {1})

    def test_moved(self):
        """one that stops is the last that is tried"""
        self.choose()
        self.be_up(0)
        self.choose()
        self.all.note_move(0, self.now)
        self.all.note(1, "no")
        self.choose(False, -1, 9000)
        self.choose(False, -1)
        self.choose(True, -1, 1)
        self.assertEqual(self.tried(), {1})
        self.assertIn("'tcp://h0:1': it stops, or serves as many as it can; "
                      "'tcp://h1:1': it does not answer", self.all.problem())
        self.assertEqual(self.all.deadline(self.now), self.now + 50)

    def test_other(self):
        """one with two addresses is tried by them in turn, each anew"""
        self.all.known.find(0).other = "tcp://other:1"
        self.choose()
        first = self.links[0]
        self.choose(ms=2000)
        self.assertFalse(first.is_open)
        self.assertEqual(self.all.known.find(0).endpoint, "tcp://other:1")

    def test_said(self):
        """one that something is said to is not hung up on"""
        self.choose()
        self.be_up(0)
        self.choose()
        self.choose(False, -1, 4999)
        self.all.send(0, Message("lock@.", "", "LOCKLEASE", 2), self.now)
        self.choose(False, -1, 4999)
        self.assertEqual(self.links[0].sent[-1].command, "LOCKLEASE")
        self.assertEqual(self.open(), {0})
        self.choose(False, -1, 1)
        self.assertEqual(self.open(), set())
        self.assertEqual(self.choose(True, -1, 1000), -1)

    def test_lost(self):
        """a connection that ends is sought again"""
        self.choose()
        self.be_up(0)
        self.choose()
        self.links[0].is_open = False
        self.be_down(0)
        self.choose(False, 0)
        self.assertFalse(self.all.is_up(0))
        self.assertTrue(self.links[0].is_open)

    def test_leave(self):
        """whom we hang up on is told"""
        self.choose()
        self.be_up(0)
        self.choose()
        self.all.close(self.now)
        self.assertEqual(self.links[0].sent[-1].command, "UNREGISTER")
        self.assertFalse(self.links[0].is_open)

    def test_double(self):
        """of two connections with one host the first is ended"""
        self.choose()
        self.choose(ms=1000)
        self.be_up(0, "h")
        self.choose()
        self.be_up(1, "h")
        self.choose(False, 1)
        self.assertEqual(self.open(), {1})


class Nearest(Choices):
    """The one that answers soonest, or is nearest."""

    order, domain = "nearest", "au.perth"

    def test_race(self):
        """one that is as near has a tenth of a second; who is there first is
        taken"""
        self.choose()
        self.choose(ms=99)
        self.assertEqual(self.tried(), {0})
        self.choose(ms=1)
        self.assertEqual(self.tried(), {0, 1})
        self.be_up(1)
        self.assertEqual(self.choose(), -1)  # its list is waited for
        self.assertEqual(self.all.known.find(1).answer_ms, 0)
        self.assertEqual(self.choose(ms=100), 1)

    def move(self):
        """From one that is silent, whose others are as near."""
        self.choose()
        self.be_up(0)
        self.choose()
        self.choose(ms=100)
        self.choose(False, 0, 5000)
        self.choose(True, 0)

    def test_moving(self):
        """... not while it moves, as many others do: a second"""
        self.move()
        self.assertEqual(self.tried(), {1})
        self.choose(True, 0, 999)
        self.assertEqual(self.tried(), {1})
        self.choose(True, 0, 1)
        self.assertEqual(self.tried(), {1, 2})

    def test_moving_shared(self):
        """... unless there are several behind its address"""
        for number in (1, 2, 3):
            self.all.known.find(number).endpoint = "tcp://shared:1"
        self.move()
        self.choose(True, 0, 100)
        self.assertEqual(len(self.tried()), 2)

    def test_list(self):
        """a list tells of one that is nearer, which is tried first"""
        self.choose()
        self.be_up(0)
        self.tell(0, (0, "nz"), (1, ""), (2, ""), (3, "au.perth"))
        self.assertEqual(self.choose(ms=1), -1)
        self.assertEqual(self.tried(), {0, 3})
        self.be_up(3)
        self.assertEqual(self.choose(ms=1), 3)

    def test_hope(self):
        """... and waited for, for a second"""
        self.choose()
        self.be_up(0)
        self.tell(0, (0, "nz"), (3, "au.perth"))
        self.assertEqual(self.choose(ms=1), -1)
        self.assertEqual(self.choose(ms=999), -1)
        self.assertEqual(self.choose(ms=1), 0)

    def test_nearer(self):
        """one that is nearer and comes later is gone over to"""
        self.choose()
        self.be_up(0)
        self.tell(0, (0, "nz"))
        self.assertEqual(self.choose(ms=1), 0)
        self.choose(False, 0)
        self.tell(0, (0, "nz"), (1, ""), (2, "au.perth"))
        self.assertEqual(self.choose(False, 0), -1)
        self.assertEqual(self.tried(), {2})
        self.be_up(2)
        self.assertEqual(self.choose(False, 0), 2)

    def test_read(self):
        """of a list what makes no sense is left out"""
        row = {"address": "h1:1", "key": KEY, "domain": "au"}
        for wrong in ({"key": "x"}, {"key": 1}, {"address": "h1"},
                      {"address": None}):
            self.assertEqual(_servers.read_list(Message(
                "", "", "SERVERS", 0, {"servers": [{**row, **wrong}, row,
                                                   1]})),
                [ClientServer("tcp://h1:1", KEY, "au")])
        self.assertEqual(_servers.read_list(Message(
            "", "", "SERVERS", 0, {"servers": [{**row, "domain": ".."}]})),
            [ClientServer("tcp://h1:1", KEY)])
        self.assertIsNone(_servers.read_list(Message(
            "", "", "SERVERS", 0, {"reason": "no"})))


class Closed(Choices):
    """A file that says `discovery = no`."""

    is_closed = True

    def test_list(self):
        """no list is asked for, or heard"""
        self.choose()
        self.be_up(0)
        self.tell(0, (3, "au"))
        self.assertEqual(self.choose(), 0)
        self.assertEqual(self.links[0].sent[0].body["subscribe"], [])
        self.assertFalse(any(one.is_gone for one in self.all.known.all))
