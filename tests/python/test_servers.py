#   test_servers.py - which servers a machine without a router connects with
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   The connections are played.

import contextlib
import os
import tempfile
import unittest
import unittest.mock

import zmq

from lockkeeper import Invalid, _client_file, _config, _frame, _link
from lockkeeper import _servers
from lockkeeper._client_file import ClientFile, ClientServer
from lockkeeper._frame import Message

from book import NOW

KEY = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
OTHER_KEY = "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6"
PUBLIC, SECRET = (key.decode() for key in zmq.curve_keypair())
OWN = f'client\n    public-key = "{PUBLIC}"\n    secret-key = "{SECRET}"\n'


class Files(unittest.TestCase):
    def write(self, text, mode=0o600):
        file = tempfile.NamedTemporaryFile("w", encoding="utf-8")
        self.addCleanup(file.close)
        file.write(text)
        file.flush()
        os.chmod(file.name, mode)
        return file.name

    def test_read(self):
        """a client file is read as the library does"""
        path = self.write(
            f"# a '\n{OWN}    server = \"tcp://h1:7412 {KEY}\" # one\n\n"
            f"    server = 'tcp://[::1]:1\t {OTHER_KEY}'\n"
            "    order = random  # any\n")
        with self.assertRaises(Invalid):
            _client_file.read(path)  # a blank parts them, no tab
        path = self.write(
            f"# a '\n{OWN}    server = \"tcp://h1:7412 {KEY}\" # one\n\n"
            f"    server = 'tcp://[::1]:1  {OTHER_KEY}'\n"
            "    order = random  # any\n")
        file = _client_file.read(path)
        self.assertEqual((file.public_key, file.secret_key, file.is_random),
                         (PUBLIC, SECRET, True))
        self.assertEqual(file.servers, [
            ClientServer("tcp://h1:7412", KEY),
            ClientServer("tcp://[::1]:1", OTHER_KEY)])
        self.assertNotIn(SECRET, repr(file))

    def test_head(self):
        """its name begins as its key does"""
        self.assertEqual(ClientFile(KEY).head(), "far-54fcba24e9324996-")

    def test_wrong(self):
        """what makes no sense says where"""
        for text, why in (
                (OWN.replace(PUBLIC, KEY), "are not of one pair"),
                ("client\n", "has no 'client/public-key'"),
                (OWN + "    order = best\n", "line 4: the order is"),
                (OWN + "    colour = red\n", "line 4: there is no such"),
                (OWN + "  order = listed\n", "line 4: wrong indentation"),
                (OWN + "        order = listed\n", "line 4: there is no"),
                (OWN + "\torder = listed\n", "line 4: that makes no sense"),
                (OWN + "    order = 'listed\n", "line 4: that makes no sense"),
                (OWN + "    order = 'listed' x\n", "line 4: that makes no"),
                (OWN + "    server = tcp://h1:1\n", "line 4: a server is"),
                (OWN + f"    server = \"tcp://h1:99999 {KEY}\"\n",
                 "line 4: a server is \"tcp://HOST:PORT KEY\"$"),
                (OWN + f"    server = \"ipc://x:1 {KEY}\"\n", "line 4"),
                (OWN + f"    server = \"tcp://h:1 {KEY[:-1]}~\"\n", "line 4"),
                (OWN + f"    server = \"tcp://h:1 {KEY}\"\n" * 33,
                 "line 36: more than 32 servers")):
            with self.assertRaisesRegex(Invalid, why):
                _client_file.read(self.write(text))
        with self.assertRaisesRegex(Invalid, "chmod 600"):
            _client_file.read(self.write(OWN, 0o640))
        with self.assertRaisesRegex(Invalid, "no such file"):
            _client_file.read("/nowhere/file")

    def test_redirect(self):
        """other servers have their own keys, those in their place, or the only
        one"""
        def redirected(keys, *endpoints):
            file = ClientFile(servers=[
                ClientServer(f"tcp://h{number}:1", key)
                for number, key in enumerate(keys, 1)])
            _client_file.redirect(file, list(endpoints))
            return [server.key for server in file.servers]
        both = KEY, OTHER_KEY
        self.assertEqual(redirected(both, "tcp://h2:1"), [OTHER_KEY])
        self.assertEqual(redirected(both, "tcp://a:1", "tcp://b:1"),
                         [KEY, OTHER_KEY])
        self.assertEqual(redirected([KEY], "tcp://a:1", "tcp://b:1"),
                         [KEY, KEY])
        for endpoints in (["tcp://a:1"], [], ["ipc:///x", "tcp://b:1"]):
            with self.assertRaises(Invalid):
                redirected(both, *endpoints)

    def test_where(self):
        """the argument counts, then $LOCKKEEPER_CLIENT, unless the endpoint is
        one of this host"""
        path = self.write(OWN + f"    server = \"tcp://h1:1 {KEY}\"\n")

        def found(client, endpoint, **environment):
            with unittest.mock.patch.dict(os.environ, environment, clear=True):
                file = _config.find_client(client, endpoint)
            return file and file.servers[0].endpoint
        here = {"LOCKKEEPER_CLIENT": path}
        self.assertIsNone(found(None, None))
        self.assertIsNone(found(None, None, LOCKKEEPER_CLIENT=""))
        self.assertEqual(found(path, None), "tcp://h1:1")
        self.assertEqual(found(None, None, **here), "tcp://h1:1")
        self.assertIsNone(found(None, "ipc:///x", **here))
        self.assertEqual(found(None, "tcp://h9:1", **here), "tcp://h9:1")
        self.assertEqual(found(None, None, LOCKKEEPER_ENDPOINT="ipc:///x",
                               **here), "tcp://h1:1")
        self.assertEqual(found(None, None, LOCKKEEPER_ENDPOINT="tcp://h9:1",
                               **here), "tcp://h9:1")
        for client in "", path:
            with self.assertRaises(Invalid):
                found(client, "ipc:///x")
        with self.assertRaisesRegex(Invalid, "no 'client/server'"):
            found(self.write(OWN), None)


class FakeLink:
    """A connection that the test plays."""

    def __init__(self, *_):
        self.was_up = self.is_open = False
        self.ended_by = 0
        self.before_close = None
        self.words = []
        self.sent = []

    def open(self, endpoint, ipv6):
        self.is_open, self.ipv6 = True, ipv6
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
    def setUp(self):
        self.now = NOW
        self.links = {}
        self.all = _servers.Servers(ClientFile(KEY, servers=[
            ClientServer(f"tcp://h{number}:1", KEY)
            for number in range(4)]), "far-1-x")
        self.addCleanup(lambda: self.all.close(self.now))
        self.all._new_link = self.new_link

    def new_link(self, server):
        self.links[server.place] = FakeLink()
        return self.links[server.place]

    def choose(self, is_wanted=True, latest=-1, ms=0):
        self.now += ms
        self.heard = list(self.all.work(self.now))
        chosen = self.all.choose(is_wanted, latest, self.now)
        self.all.flush(self.now)
        return chosen

    def open(self):
        """Those that are connected, or being."""
        return {place for place, link in self.links.items() if link.is_open}

    def hear(self, place, command, serial=1, **body):
        self.links[place].words.append(("", _frame.encode(Message(
            "far-1-x@.", f"router@h{place}", command, serial, body))))

    def be_up(self, place):
        """Its router answers."""
        self.links[place].words.append((_link.UP, b""))
        self.hear(place, "READY", host=f"h{place}")

    def be_down(self, place, event=zmq.EVENT_CLOSED):
        self.links[place].ended_by = event
        self.links[place].words.append((_link.DOWN, b""))

    def test_first(self):
        """the first one is tried, registered with, and taken"""
        self.assertEqual(self.choose(), -1)
        self.assertEqual(self.open(), {0})
        self.be_up(0)
        self.assertEqual(self.choose(), 0)
        (register,) = self.links[0].sent
        self.assertEqual((register.command, register.body["service"]),
                         ("REGISTER", "far-1-x"))
        self.assertEqual((self.all.host(0), self.all.is_up(0)), ("h0", True))
        self.assertEqual(self.choose(False, 0, 60000), -1)
        self.assertEqual(self.open(), {0})

    def test_next(self):
        """the next one is tried a second later, too, two at a time"""
        self.choose()
        self.choose(ms=999)
        self.assertEqual(self.open(), {0})
        self.choose(ms=1)
        self.assertEqual(self.open(), {0, 1})
        self.choose(ms=999)
        self.assertEqual(self.open(), {0, 1})
        self.choose(ms=1)  # the first one is in vain now
        self.assertEqual(self.open(), {0, 1, 2})
        self.assertEqual([one.is_tried for one in self.all._all],
                         [False, True, True, False])
        self.be_up(1)
        self.assertEqual(self.choose(), 1)
        self.choose(False, 1, 4999)
        self.assertEqual(self.open(), {1, 2})
        self.choose(False, 1, 1)
        self.assertEqual(self.open(), {1})

    def test_refused(self):
        """one that nobody is at is left at once"""
        self.choose()
        self.be_down(0)
        self.choose()
        self.assertTrue(self.all._all[1].is_tried)
        self.assertIn("'tcp://h0:1': connection refused", self.all.problem())
        self.be_down(1, zmq.EVENT_HANDSHAKE_FAILED_AUTH)
        self.choose()
        self.be_down(2, zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL)
        self.choose()
        self.assertIn("'tcp://h1:1': it does not know our key; "
                      "'tcp://h2:1': it has another key", self.all.problem())

    def test_turned_down(self):
        """so is one whose router has no use for us"""
        for place in range(2):
            self.choose()
            self.be_down(place)
        self.choose()
        self.links[2].words.append((_link.UP, b""))
        self.hear(2, "REFUSE", reason="no room")
        self.choose()
        self.assertIn("'tcp://h2:1': the router refused: no room",
                      self.all.problem())
        self.assertFalse(self.links[2].is_open)
        self.assertEqual(self.open() & {3}, {3})

    def test_again(self):
        """the same one is tried again after a second, by its other kind of
        address"""
        for place in range(4):
            self.choose()
            self.be_down(place)
        self.choose()
        self.assertFalse(any(one.is_tried for one in self.all._all))
        self.choose(ms=999)
        self.assertFalse(any(one.is_tried for one in self.all._all))
        self.assertFalse(self.links[0].ipv6 and not self.links[0].is_open)
        self.choose(ms=1)
        self.assertTrue(self.all._all[0].is_tried)
        self.assertTrue(self.links[0].ipv6)

    def test_silent(self):
        """what does not answer is dialled anew when it is tried"""
        self.choose()
        self.be_up(0)
        self.choose()
        first = self.links[0]
        self.all.send(0, Message("lock@.", "", "LOCK", 2), self.now)
        self.assertEqual(self.all._all[0].asked_ms, self.now)
        self.now += 2000
        self.all._try(self.all._all[0], self.now)
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
        self.assertEqual([(place, message.command)
                          for place, message in self.heard], [(0, "LOCKED")])
        self.all._try(self.all._all[0], self.now)
        self.assertIs(self.links[0], first)

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

    def test_random(self):
        """in an order of chance it begins with any of them"""
        with contextlib.ExitStack() as stack:
            firsts = set()
            for _ in range(100):
                one = _servers.Servers(ClientFile(KEY, servers=[
                    ClientServer(f"tcp://h{number}:1", KEY)
                    for number in range(3)], is_random=True), "x")
                stack.callback(one.close, NOW)
                firsts.add(one._pick(NOW).place)
        self.assertEqual(firsts, {0, 1, 2})
