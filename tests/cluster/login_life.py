#   login_life.py - what Python says of the end of a credential
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Run by login_life.sh, which has named a client file. Holds the lock of its
name, and works until it is lost; cannot have it again, until there is the file
NAME.again: then there is another credential."""

import asyncio
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../python"))
import lockkeeper  # noqa: E402
from lockkeeper import aio  # noqa: E402

HANG_S = 60
AGAIN = os.environ["LOCKKEEPER_CLIENT"] + ".again"


class Tale:
    """The events, and when it last worked."""

    def __init__(self):
        self.told = []
        self.worked = 0.0

    def is_over(self):
        """It was lost."""
        return any(one.startswith("lost") for one in self.told)

    def note(self, kind, reason):
        """An event."""
        self.told.append(f"{kind} {reason}")

    def work(self, lock):
        """As long as it is held, as looked at behind that time."""
        now = time.time()
        if lock.held:
            self.worked = now

    def print(self):
        """For the test."""
        print(", ".join(self.told))
        print(f"{self.worked:.6f}", flush=True)


def is_over(session):
    """No server serves it any more."""
    return session._driver.way.state == "refused"


def note_failure(error):
    """Of a lock that is asked for then."""
    print(f"failed {error.reason}: {error}", flush=True)


def plain(name):
    """With threads."""
    tale = Tale()
    over = threading.Event()

    def on_lost(_lock, reason):
        tale.note("lost", reason)
        over.set()

    with lockkeeper.Session() as session:
        lock = session.lock(
            name, on_lost=on_lost,
            on_jeopardy=lambda _lock, reason: tale.note("jeopardy", reason))
        lock.acquire(timeout=HANG_S)
        print("held", flush=True)
        while not over.wait(0.02):
            tale.work(lock)
        tale.print()
        lock = session.lock(name)
        while not is_over(session):
            time.sleep(0.02)
        try:
            lock.acquire()
        except lockkeeper.NotGranted as error:
            note_failure(error)
        while not os.path.exists(AGAIN):
            time.sleep(0.02)
        with lock:
            print("again", flush=True)


async def tasks(name):
    """With tasks."""
    tale = Tale()
    async with aio.Session() as session:
        lock, events = session.lock(name), session.events()
        await lock.acquire(timeout=HANG_S)
        print("held", flush=True)

        async def hear():
            async for event in events:
                tale.note(event.kind, event.reason)

        hearing = asyncio.create_task(hear())
        while not tale.is_over():
            tale.work(lock)
            await asyncio.sleep(0.02)
        hearing.cancel()
        tale.print()
        lock = session.lock(name)
        while not is_over(session):
            await asyncio.sleep(0.02)
        try:
            await lock.acquire()
        except lockkeeper.NotGranted as error:
            note_failure(error)
        while not os.path.exists(AGAIN):
            await asyncio.sleep(0.02)
        async with lock:
            print("again", flush=True)


if sys.argv[1] == "aio":
    asyncio.run(tasks(sys.argv[1]))
else:
    plain(sys.argv[1])
