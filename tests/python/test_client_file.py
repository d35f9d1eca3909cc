#   test_client_file.py - the file of a machine without a router
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

import os
import tempfile
import unittest
import unittest.mock

import zmq

from lockkeeper import Invalid, _client_file, _config
from lockkeeper._client_file import ClientFile, ClientServer

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
        file = _client_file.read(self.write(
            f"# a '\n{OWN}    server = \"tcp://h1:7412 {KEY}\" # one\n\n"
            f"    server = 'tcp://[::1]:1\t {OTHER_KEY} au.perth'\n"
            "    order = random  # any\n    discovery = no\n    beacon = 99\n"
            "    domain-limit = \"au\"\n    domain = au.perth.dh4\n"))
        self.assertEqual((file.public_key, file.secret_key, file.order,
                          file.is_closed, file.domain, file.limit),
                         (PUBLIC, SECRET, "random", True, "au.perth.dh4",
                          "au"))
        self.assertEqual(file.servers, [
            ClientServer("tcp://h1:7412", KEY),
            ClientServer("tcp://[::1]:1", OTHER_KEY, "au.perth")])
        self.assertNotIn(SECRET, repr(file))

    def test_default(self):
        """one that has keys alone means the default endpoint, and one with a
        limit is in there"""
        file = _client_file.read(self.write(
            OWN + f"    server-key = '{KEY}'\n    domain-limit = au\n"))
        self.assertEqual(file.servers, [
            ClientServer("tcp://lockkeeper:7412", KEY)])
        self.assertEqual((file.domain, file.order, file.is_closed),
                         ("au", "nearest", False))

    def test_credential(self):
        """it is beside the file, unless that says where"""
        path = self.write(OWN)
        self.assertEqual(_client_file.read(path).credential,
                         f"{path}.credential")
        folder = os.path.dirname(path)
        for said, meant in (("keys/mine", f"{folder}/keys/mine"),
                            ("/run/mine", "/run/mine")):
            self.assertEqual(_client_file.read(self.write(
                OWN + f"    credential = {said}\n")).credential, meant)
        with self.assertRaisesRegex(Invalid, "the path of a file"):
            _client_file.read(self.write(OWN + '    credential = ""\n'))

    def test_head(self):
        """its name begins as its key does"""
        self.assertEqual(ClientFile(KEY).head(), "far-54fcba24e9324996-")

    def test_wrong(self):
        """what makes no sense says where"""
        for text, why in (
                (OWN.replace(PUBLIC, KEY), "are not of one pair"),
                ("client\n", "has no 'client/public-key'"),
                (OWN + "    order = best\n", "line 4: the order is"),
                (OWN + "    discovery = maybe\n", "line 4: discovery is"),
                (OWN + "    beacon = 65536\n", "line 4: the beacon is"),
                (OWN + "    domain = a..b\n", "line 4: a location domain"),
                (OWN + "    domain = nz\n    domain-limit = au\n",
                 "is not in 'client/domain-limit'"),
                (OWN + "    server-key = 1\n", "line 4: a key is 40"),
                (OWN + f"    server-key = '{KEY}'\n" * 33,
                 "line 36: more than 32 keys"),
                (OWN + f"    server = 'tcp://h1:1 {KEY} a..b'\n",
                 "line 4: behind the key"),
                (OWN + f"    server = 'tcp://h1:1 {KEY} a b'\n",
                 "line 4: a server is"),
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
        def redirected(keys, *endpoints, others=()):
            file = ClientFile(servers=[
                ClientServer(f"tcp://h{number}:1", key)
                for number, key in enumerate(keys, 1)], keys=list(others))
            _client_file.redirect(file, list(endpoints))
            return [server.key for server in file.servers]
        both = KEY, OTHER_KEY
        self.assertEqual(redirected(both, "tcp://h2:1"), [OTHER_KEY])
        self.assertEqual(redirected(both, "tcp://a:1", "tcp://b:1"),
                         [KEY, OTHER_KEY])
        self.assertEqual(redirected([KEY], "tcp://a:1", "tcp://b:1"),
                         [KEY, KEY])
        self.assertEqual(redirected(both, "tcp://a:1", "tcp://h2:1",
                                    others=[KEY, KEY]),
                         [KEY, KEY, OTHER_KEY])
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
