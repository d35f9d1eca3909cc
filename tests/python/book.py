#   book.py - what the tests of the book share
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

import mmap
import struct
import tempfile
import unittest

from lockkeeper import _book
from lockkeeper._frame import Message
from lockkeeper._wish import Wish

NOW = 86_400_000


class Page:
    """A lease page as a lock service writes it."""

    def __init__(self, case):
        self.file = tempfile.NamedTemporaryFile()
        case.addCleanup(self.file.close)
        self.file.write(b"LKLEASE1" + bytes(16))
        self.file.flush()
        self.map = mmap.mmap(self.file.fileno(), 24)
        case.addCleanup(self.map.close)
        self.name = self.file.name

    def set(self, session, until_ms):
        struct.pack_into("=Qq", self.map, 8, session, until_ms)


class BookCase(unittest.TestCase):
    """A book, told what a lock service would say."""

    def setUp(self):
        self.page = Page(self)
        self.page.set(3, NOW + 8000)
        self.book = _book.Book(0)

    def ask(self, wait_ms=-1, **wish):
        return self.book.lock(Wish(wish.pop("names", (b"x",)), **wish),
                              wait_ms, NOW)

    def sent(self):
        messages, self.book.messages = self.book.messages, []
        return messages

    def told(self):
        events, self.book.events = self.book.events, []
        return [(event.kind, event.reason) for event in events]

    def say(self, command, serial, now_ms=NOW, **body):
        return self.book.take(Message("a@h", "lock@h", command, serial, body),
                              now_ms)

    def grant(self, entry, now_ms=NOW, **more):
        body = dict(object="x", token=f"{9:016x}", key=f"{7:016x}",
                    type="exclusive", ordinal=1, until=-1, session=3,
                    lease_until=NOW + 8000, lease=8000,
                    lease_page=self.page.name)
        self.say("LOCKED", entry.serial, now_ms, **{**body, **more})

    def held(self, **wish):
        entry = self.ask(**wish)
        self.grant(entry)
        self.assertTrue(entry.holds)
        self.sent()
        return entry
