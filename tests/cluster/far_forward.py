#   far_forward.py - the network between a machine without a router and servers
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Usage: far_forward.py FROM TO..., each HOST:PORT. Passes bytes on; a test cuts the
network by stopping it: nothing is closed then, and nobody is told. As a load
balancer does, it gives each connection to the next TO."""

import asyncio
import itertools
import sys


async def pump(reader, writer):
    """One direction, until its end."""
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    writer.close()


async def main(begin, *ends):
    """Until it is killed."""
    end = itertools.cycle(ends)

    async def join(reader, writer):
        try:
            there = await asyncio.open_connection(*next(end))
        except OSError:
            writer.close()
            return
        await asyncio.gather(pump(reader, there[1]), pump(there[0], writer))

    server = await asyncio.start_server(join, *begin)
    async with server:
        await server.serve_forever()


asyncio.run(main(*(place.rsplit(":", 1) for place in sys.argv[1:])))
