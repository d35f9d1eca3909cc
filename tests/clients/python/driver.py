#   driver.py - has the Python module do what a conformance case says
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   tests/conformance/README has the lines and their answers. It drives
#   lockkeeper.aio, whose core the blocking module shares.

import asyncio
import os
import re
import sys

from lockkeeper import Invalid, LockkeeperError, LockLost, aio

TIMES = {"duration": "duration", "quiet": "quiet", "linger": "linger"}


def name_of(word):
    """The bytes of a name."""
    if word == "\\e":
        return b""
    return re.sub(rb"\\x([0-9a-f]{2})", lambda it: bytes([int(it[1], 16)]),
                  os.fsencode(word))


def seconds(ms):
    """A wait in ms; -1 is for ever."""
    return None if int(ms) < 0 else int(ms) / 1000


class Driver:
    """Locks by their words."""

    def __init__(self, session):
        self.session = session
        self.locks = {}
        self.tasks = {}
        self.waits = {}
        self.events = asyncio.Queue()

    async def listen(self):
        async for event in self.session.events():
            self.events.put_nowait((event.kind, event.lock,
                                    event.reason or "ok"))

    def word_of(self, lock):
        for word, one in self.locks.items():
            if one is lock:
                return word
        return None

    #   -------------------------------------------------------- asking

    def make(self, words):
        """A lock, and how long to wait for it."""
        names, options, wait = [], {}, None
        for word in words:
            field, is_option, value = word.partition("=")
            if is_option and field == "wait":
                wait = seconds(value)
            elif is_option and field in TIMES:
                options[field] = int(value) / 1000
            elif is_option and field in ("limit", "bound"):
                options[field] = int(value)
            elif is_option:
                options[field] = value
            elif word in ("soft", "lenient", "static", "reentrant"):
                options[word] = True
            else:
                names.append(name_of(word))
        return self.build(names, options), wait

    def build(self, names, options):
        kind = options.pop("type", "exclusive")
        if kind == "shared":
            options["shared"] = True
        try:
            if len(names) > 1:
                return self.session.lock_all(names, **options)
            if kind == "semaphore":
                return self.session.semaphore(names[0], **options)
            return self.session.lock(names[0], **options)
        except TypeError as error:  # no such option: Python refuses it
            raise Invalid(str(error)) from error

    async def do_get(self, word, *words):
        lock, wait = self.make(words)
        await lock.acquire(wait)
        self.locks[word] = lock
        return "ok"

    async def do_ask(self, word, *words):
        lock, wait = self.make(words)
        self.locks[word] = lock
        self.start(word, lock.acquire(wait), "granted", "failed")
        return "ok"

    def start(self, word, work, done, not_done):
        """Does that, and tells by an event what came of it."""
        lock = self.locks[word]

        async def run():
            try:
                await work
                event = (done, lock, "ok")
            except LockLost:
                return
            except LockkeeperError as error:
                event = (not_done, lock, error.reason)
            self.events.put_nowait(event)
        self.tasks[word] = asyncio.create_task(run())

    async def do_change(self, word, kind, wait):
        await self.locks[word].change(kind, seconds(wait))
        return "ok"

    async def do_begin(self, word, kind, wait):
        self.start(word, self.locks[word].change(kind, seconds(wait)),
                   "changed", "unchanged")
        await asyncio.sleep(0)
        return "ok"

    #   -------------------------------------------------------- giving back

    async def stop_task(self, word):
        task = self.tasks.pop(word, None)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def do_give(self, word):
        lock = self.locks.pop(word)
        waits = lock.token == 0
        await self.stop_task(word)
        if waits:
            return "ok"  # the request was taken back, or had failed
        try:
            await lock.release()
        except LockLost as error:
            return "late" if error.reason == "timedout" else error.reason
        return "ok"

    async def do_leave(self, word):
        await self.locks[word].leave()
        del self.locks[word]
        return "ok"

    #   -------------------------------------------------------- questions

    async def do_held(self, word):
        return "yes" if self.locks[word].held else "no"

    async def do_token(self, word):
        return " ".join(map(str, self.locks[word].tokens.values()))

    async def do_key(self, word):
        return self.locks[word].key

    async def do_type(self, word):
        return self.locks[word].type

    async def do_ordinal(self, word):
        return str(self.locks[word].ordinal)

    async def do_reason(self, word):
        try:
            self.locks[word].ensure()
        except LockLost as error:
            return error.comment
        return ""

    async def do_event(self, ms):
        loop = asyncio.get_running_loop()
        end = loop.time() + int(ms) / 1000
        while True:
            try:
                kind, lock, reason = await asyncio.wait_for(
                    self.events.get(), max(0.001, end - loop.time()))
            except asyncio.TimeoutError:
                return "none"
            word = self.word_of(lock)
            if word is not None:
                return f"{kind} {word} {reason}"

    async def do_unlock(self, name, key, wait="wait=-1"):
        await self.session.unlock(name_of(name), key,
                                  timeout=seconds(wait[5:]))
        return "ok"

    async def do_force(self, name, token, reason, wait="wait=-1"):
        await self.session.force(name_of(name), token=int(token),
                                 reason=reason, timeout=seconds(wait[5:]))
        return "ok"

    async def do_check(self, name, token):
        told = await self.session.check(name_of(name), int(token))
        return f"{'ok' if told else 'denied'} {told.newest}"

    async def answer(self, line):
        """The answer to a line."""
        verb, *words = line.split()
        work = getattr(self, "do_" + verb, None)
        if work is None:
            return "unsupported"
        try:
            return await work(*words)
        except LockkeeperError as error:
            return error.reason
        except KeyError as error:
            return f"there is no {error}"


async def main():
    loop = asyncio.get_running_loop()
    async with aio.Session() as session:
        driver = Driver(session)
        listener = asyncio.create_task(driver.listen())
        while True:
            line = await loop.run_in_executor(None, sys.stdin.readline)
            if not line:
                break
            print(await driver.answer(line), flush=True)
        listener.cancel()


asyncio.run(main())
