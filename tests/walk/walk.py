#!/usr/bin/env python3
#   walk.py - what walk.sh noted, as the stations of one LOCK
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Usage: walk.py FOLDER BUILD ROOT [PAGE]

Prints them, or puts them into the page, between its marks.

A function is part of the walk if its process entered it in each of the walks.
So pings and timers, which come every 250 ms, are left out, as one walk takes a
few ms and many are compared; so is memory that is made once. What runs in any
wake-up of a process is part of it, since it would not have woken up.

A station is a process from when it wakes up until it sleeps. They are told in
the order of the walk in which processes got least in each other's way, which
has the fewest, each with its files and how many functions of these it entered.
What two leaders do at a time is one station, and a wake-up that finds nothing
is none. The totals count a function once, however often it was entered.
"""

import collections
import os
import re
import struct
import subprocess
import sys

Entry = collections.namedtuple("Entry", "at process function")
Function = collections.namedtuple("Function", "name file")
WAKE = "run_readers"    # of src/net/loop.c, when it has slept
GAP_NS = 400_000    # the client polls by itself


def processes_of(folder):
    """What each process is, by its number: (program, host)."""
    with open(f"{folder}/processes", encoding="utf-8") as f:
        rows = [line.split() for line in f]
    return {pid: (program, host) for program, host, pid in rows}


def records_of(folder, pid):
    """(walk, time, address) of each entry."""
    with open(f"{folder}/{pid}", "rb") as f:
        count, lost = struct.unpack("=QQ", f.read(16))
        if lost:
            sys.exit(f"walk.py: {lost} entries of process {pid} were lost")
        return list(struct.iter_unpack("=QQQ", f.read(24 * count)))


def names_of(binary, addresses, root):
    """The functions at these addresses."""
    said = subprocess.run(["addr2line", "-f", "-e", binary],
                          input="\n".join(map(hex, addresses)), text=True,
                          check=True, capture_output=True).stdout.split("\n")
    return {address: Function(said[2 * i], os.path.relpath(
                re.sub(r":.*", "", said[2 * i + 1]), root))
            for i, address in enumerate(addresses)}


def read_all(folder, build, root):
    """The entries of each walk, in their order."""
    walks = collections.defaultdict(list)
    binaries = {"router": "lockkeeper-router", "lockd": "lockkeeper-lockd",
                "client": "ask"}
    for pid, process in processes_of(folder).items():
        records = records_of(folder, pid)
        names = names_of(f"{build}/{binaries[process[0]]}",
                         sorted({row[2] for row in records}), root)
        for walk, at, address in records:
            if not names[address].file.startswith(".."):
                walks[walk].append(Entry(at, process, names[address]))
    return [sorted(entries, key=lambda one: one.at)
            for entries in walks.values()]


def part_of_all(walks):
    """The (process, function) pairs that each of them has."""
    return set.intersection(*({(one.process, one.function) for one in entries}
                              for entries in walks))


def stations_of(entries, wanted):
    """(process, functions) from each wake-up on, by when they began; what one
    process does without another in between is one."""
    under_way, last, stations = {}, {}, []
    for at, process, function in entries:
        if (process, function) not in wanted:
            continue
        if (function.name == WAKE or process not in last
                or at - last[process] > GAP_NS):
            if not stations or stations[-1][0] != process:
                stations.append((process, {}))
            under_way[process] = stations[-1][1]
        last[process] = at
        under_way[process][function] = True
    if not any(function.name == WAKE for _, functions in stations
               for function in functions):
        sys.exit(f"walk.py: nobody calls {WAKE} () any more")
    return stations


def roles_of(stations):
    """What each process is to this lock."""
    home = next(process[1] for process, functions in stations
                if any(one.name == "lk_on_lock" for one in functions))
    asker = stations[0][0][1]
    places = {asker: "the asker", home: "the home"}

    def role(process):
        program, host = process
        place = places.get(host, "another leader")
        return {"client": "client", "router": f"router of {place}",
                "lockd": f"lock service of {place}"}[program]
    return role


def is_work(functions):
    """Whether it did something, or woke up for what was there no more."""
    return any(not one.file.startswith("src/net/") for one in functions)


def merged(stations, role):
    """(role, how many, functions); what several leaders do, as one."""
    merged_ones, seen = [], []
    for process, functions in stations:
        if not is_work(functions):
            continue
        for at in range(len(seen) - 1, -1, -1):
            if process in seen[at]:
                at = -1
                break
            if merged_ones[at][0] == role(process):
                break
        else:
            at = -1
        if at >= 0:
            seen[at].append(process)
            merged_ones[at][1].update(functions)
        else:
            seen.append([process])
            merged_ones.append((role(process), dict(functions)))
    return [(who, len(hosts), functions) for (who, functions), hosts
            in zip(merged_ones, seen)]


def rooms_of(functions):
    """The files of each room, with how many functions, in the order of their
    first entries."""
    counts = collections.Counter(one.file for one in functions)
    rooms = {}
    for one in functions:
        room, name = os.path.split(one.file)
        rooms.setdefault(room, {})[name] = counts[one.file]
    return rooms


def wrapped(head, words, width):
    """Lines of these; each begins with the head."""
    line = head
    for word in words:
        if len(line) + len(word) + 1 > width:
            yield line
            line = head
        line += " " + word
    yield line


def told(stations):
    """For people: all of it."""
    for number, (who, hosts, functions) in enumerate(stations, 1):
        both = f", {hosts} of them" if hosts > 1 else ""
        yield f"{number:3}  {who}{both}: {len(functions)} functions"
        for room, files in rooms_of(functions).items():
            yield from wrapped(f"       {room}:",
                               [f"{name} {count}" for name, count
                                in files.items()], 79)


def told_in_page(stations):
    """For the page: what a room does as at an earlier station of the same
    program is not told again; messages are by their handlers in the core."""
    before = {}     # by program and room: (files, number of the station)
    for number, (who, hosts, functions) in enumerate(stations, 1):
        handlers = [one.name for one in functions
                    if re.match("lk_on_", one.name) and "/core/" in one.file]
        both = f", {hosts} of them" if hosts > 1 else ""
        yield from wrapped(f"{number:2}", [who + both] + [
            f"({handler})" for handler in handlers], 68)
        same = collections.defaultdict(list)
        for room, files in rooms_of(functions).items():
            key = (who.split(" of ")[0], room)
            if key in before and before[key][0] == set(files):
                same[before[key][1]].append(room)
                continue
            before[key] = (set(files), number)
            yield from wrapped(f"     {room}:", files, 68)
        for station, rooms in sorted(same.items()):
            yield from wrapped(f"     as at {station}:", rooms, 68)


def totals(wanted, entries):
    """What it comes to."""
    functions = {function for _, function in wanted}
    files = {one.file for one in functions}
    steps = sum(one.function.name == "lk_node_step" for one in entries)
    yield (f"{len(functions)} functions in {len(files)} files, "
           f"{steps} steps of the core, "
           f"in {len({process for process, _ in wanted})} processes")
    rooms = collections.Counter(os.path.dirname(one.file)
                                for one in functions)
    for room, count in rooms.most_common():
        there = sum(os.path.dirname(file) == room for file in files)
        yield f"{count:4} in {there:2} files of {room}"


def put_into(page, lines):
    """Between the marks of the page, instead of what is there."""
    with open(page, encoding="utf-8") as f:
        text = f.read()
    begin, end = '.\\" walk\n', '.\\" end of the walk\n'
    head, _, rest = text.partition(begin)
    tail = rest.partition(end)[2]
    if not tail:
        sys.exit(f"walk.py: {page} has no marks")
    with open(page, "w", encoding="utf-8") as f:
        f.write(head + begin + "\n".join(lines) + "\n" + end + tail)


def main(folder, build, root, page=None):
    walks = read_all(folder, build, root)
    wanted = part_of_all(walks)
    told_as = []
    for entries in walks:
        stations = stations_of(entries, wanted)
        told_as.append(merged(stations, roles_of(stations)))
    stations, plainest = min(zip(told_as, walks), key=lambda one: len(one[0]))
    if page:
        put_into(page, [".Bd -literal", *told_in_page(stations), "",
                        *totals(wanted, plainest), ".Ed"])
        return
    print("\n".join([*told(stations), "", *totals(wanted, plainest), "",
                     f"{len(walks)} walks; that one had {len(plainest)} "
                     "entries in "
                     f"{(plainest[-1].at - plainest[0].at) / 1e6:.1f} ms"]))


main(*sys.argv[1:])
