#   tasks.py - locks for asyncio: tasks, events and a time-out
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   tasks.py [NAME]

import asyncio
import sys

from lockkeeper import TimedOut, aio


async def work(session, name, number):
    """One task of several."""
    async with session.lock(name) as lock:
        print(f"task {number}, token {lock.token}")
        await asyncio.sleep(0.1)


async def watch(session):
    """Tells what happens to the locks of a session."""
    async for event in session.events():
        print(f"{event.kind} {event.lock.name} {event.reason}")


async def main(name):
    """Three tasks, one after the other; and one that does not wait."""
    async with aio.Session() as session:
        watcher = asyncio.create_task(watch(session))
        await asyncio.gather(*[work(session, name, number)
                               for number in range(3)])
        async with session.lock(name):
            try:
                await session.lock(name).acquire(timeout=0.2)
            except TimedOut as error:
                print(f"not granted: {error}")
        watcher.cancel()


asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "example"))
