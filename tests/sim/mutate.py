#!/usr/bin/env python3
#   mutate.py - breaks the core in every small way, and sees what notices
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Run by hand, beside the canaries: those are rules broken by people, these
#   are broken by a machine, one place at a time: conditions that never or
#   always hold, parts of a condition left out, limits off by one, statements
#   and initial values left out, results that are always the same. Each mutant
#   is one file of the core, put in front of the others (LD_PRELOAD), and runs
#   against the unit tests of the core and a bounded simulator.
#
#       tests/sim/mutate.py [--list] [--again FILE] [--jobs N] [SOURCE...]
#
#   After `make tests`. Prints a line for each that nobody noticed, and in the
#   end how many there were. --again tries only the mutants whose lines are in
#   FILE, for longer. Needs python3-clang-14.

import argparse
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile

import clang.cindex as ci

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
CORE = "plugins/lock/core"
ROOMS = ("base", "table", "leader", "proxy", "election", "node")
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-Isrc", "-Iinclude",
         *(f"-I{CORE}/{room}" for room in ROOMS), "-Itests/lib", "-Itests"]
#   What unit tests of the core share.
SHARED = ("core_checks", "core_world", "corrupt", "decode", "fuel",
          "grant_model", "hostile", "lock_copy", "small", "world")
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=",
         "!=": "==", "+": "-", "-": "+"}
K = ci.CursorKind


class Source:
    """One file of the core, and the ways to break it."""

    def __init__(self, path, small):
        self.path = path
        self.small = small
        with open(path, "rb") as stream:
            self.bytes = stream.read()
        self.found = []
        self.function = ""

    def text(self, start, end):
        return self.bytes[start:end].decode()

    def add(self, start, end, new, what):
        if start >= end:
            return
        line = self.bytes.count(b"\n", 0, start) + 1
        old = " ".join(self.text(start, end).split())
        self.found.append((start, end, new,
                           f"{self.path}:{line}: {self.function}: {what}: "
                           f"{old[:90]}"))

    def mutants(self):
        unit = ci.Index.create().parse(self.path, args=FLAGS + [
            "-I/usr/lib/llvm-14/lib/clang/14.0.6/include"])
        for cursor in unit.cursor.get_children():
            if (cursor.kind == K.FUNCTION_DECL and cursor.is_definition()
                    and cursor.location.file.name == self.path):
                self.function = cursor.spelling
                self.is_bool = cursor.result_type.spelling == "bool"
                self.walk(cursor)
                self.fields(cursor)
        seen = set()
        for mutant in sorted(self.found, key=lambda m: (m[0], m[1], m[2])):
            key = mutant[:3]
            if key not in seen:
                seen.add(key)
                yield mutant

    def fields(self, cursor):
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        pattern = re.compile(
            r"\.\w+ = ((?:[^,;{}()]|\((?:[^()]|\([^()]*\))*\))+?)\s*[,}]")
        for match in pattern.finditer(self.text(start, end)):
            value = match.group(1)
            if value != "0" and not value.startswith("lk_out_"):
                self.add(start + match.start(1), start + match.end(1), "0",
                         "field left out " + match.group(0).split()[0])

    def walk(self, cursor):
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        children = list(cursor.get_children())
        if cursor.kind in (K.IF_STMT, K.CONDITIONAL_OPERATOR):
            self.condition(children[0])
        elif cursor.kind == K.BINARY_OPERATOR and len(children) == 2:
            self.operator(children)
        elif cursor.kind == K.RETURN_STMT and children and self.is_bool:
            value = children[0].extent
            for new in ("true", "false"):
                if self.text(value.start.offset, value.end.offset) != new:
                    self.add(value.start.offset, value.end.offset, new,
                             "returns " + new)
        elif cursor.kind == K.COMPOUND_STMT:
            for child in children:
                self.statement(child)
        for child in children:
            self.walk(child)

    def condition(self, cursor):
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        old = self.text(start, end)
        self.add(start, end, f"0 && ({old})", "never")
        self.add(start, end, f"1 || ({old})", "always")

    def operator(self, children):
        left, right = children[0].extent, children[1].extent
        start, end = left.end.offset, right.start.offset
        match = re.search(r"&&|\|\||[<>=!]=|[<>+-]", self.text(start, end))
        if not match:
            return
        word = match.group(0)
        at = start + match.start()
        if word in ("&&", "||"):
            neutral = "1" if word == "&&" else "0"
            for side in (left, right):
                text = self.text(side.start.offset, side.end.offset)
                if word not in text.split(" "):
                    self.add(side.start.offset, side.end.offset, neutral,
                             "part left out")
        elif word in SWAPS and (self.small or word in ("==", "!=")):
            self.add(at, at + len(word), SWAPS[word],
                     f"{SWAPS[word]} in "
                     + " ".join(self.text(left.start.offset,
                                          right.end.offset).split())[:60])

    def statement(self, cursor):
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        kinds = (K.CALL_EXPR, K.BINARY_OPERATOR, K.UNARY_OPERATOR,
                 K.COMPOUND_ASSIGNMENT_OPERATOR, K.CONTINUE_STMT,
                 K.BREAK_STMT, K.RETURN_STMT)
        old = self.text(start, end)
        if (cursor.kind in kinds and "LK_ASSERT" not in old
                and not old.startswith("lk_out_trace")
                and not old.startswith("DL_FOREACH")
                and (self.small or not re.match(r"[\w>.-]+_ms = ", old))):
            self.add(start, end, "((void) 0)", "left out")


def run(command, seconds, env=None):
    """True if it ended well and in time."""
    try:
        return subprocess.run(command, timeout=seconds, env=env, check=False,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def nameless(line):
    """Without the number of its line, which moves."""
    return re.sub(r":\d+:", ":", line, count=1)


class Bench:
    """The core as a library that one file can be put in front of."""

    def __init__(self, folder, longer, unit):
        self.folder = folder
        self.longer = longer
        self.unit = unit
        self.env = dict(os.environ, CK_FORK="no")
        link = ["-L" + folder, "-lcore", "-Wl,-rpath," + folder]
        self.library("core", *glob.glob(CORE + "/*/*.c"),
                     *glob.glob("src/util/*.c"), *glob.glob("src/wire/*.c"),
                     "-ljansson")
        self.library("tests", *(f"tests/lib/{name}.c" for name in SHARED),
                     *link)
        self.tests = []
        for source in sorted(glob.glob("tests/unit/core_*.c")):
            name = folder + "/" + os.path.basename(source)[:-2]
            if run(["gcc", "-O1", "-w", *FLAGS, "-o", name, source,
                    "-ltests", *link, "-lcheck", "-lsubunit", "-lrt", "-lm",
                    "-lpthread"], 120) and run([name], 60, self.env):
                self.tests.append(name)
            else:
                print(f"{source}: left out, it needs more than the core, or "
                      "processes of its own", file=sys.stderr)
        self.sim = folder + "/sim"
        with open("build/tests/sim/objects", encoding="utf-8") as stream:
            objects = [name for name in stream.read().split()
                       if not re.search(r"plugins/lock/core/|src/(util|wire)/",
                                        name)]
        self.must(["gcc", "-o", self.sim, *objects, *link, "-ljansson",
                   "-lm"])

    def library(self, name, *sources):
        self.must(["gcc", "-O2", "-w", "-fPIC", "-shared", *FLAGS, "-o",
                   f"{self.folder}/lib{name}.so", *sources])

    def must(self, command):
        subprocess.run(command, check=True)

    def commands(self):
        for name in self.tests:
            yield [name], 20
        if self.unit:
            return
        if not self.longer:
            yield [self.sim, "--runs", "100"], 60
            yield [self.sim, "--script", "all", "--runs", "2"], 60
        else:
            yield [self.sim, "--script", "all", "--runs", "40"], 200
            yield [self.sim, "--runs", "4000"], 200

    def noticed(self, number, source, mutant):
        """By whom; '' if nobody."""
        start, end, new, _ = mutant
        base = f"{self.folder}/{number}"
        with open(base + ".c", "wb") as stream:
            stream.write(source.bytes[:start] + new.encode()
                         + source.bytes[end:])
        if not run(["gcc", "-O1", "-w", "-fPIC", "-shared", *FLAGS, "-o",
                    base + ".so", base + ".c"], 60):
            return "compiler"
        env = dict(self.env, LD_PRELOAD=base + ".so")
        by = ""
        for command, seconds in self.commands():
            if not run(command, seconds, env):
                by = " ".join([os.path.basename(command[0]), *command[1:]])
                break
        os.unlink(base + ".so")
        os.unlink(base + ".c")
        return by


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--small", action="store_true",
                        help="limits off by one, sums, times not noted, too")
    parser.add_argument("--again")
    parser.add_argument("--only", default="", help="lines that match this")
    parser.add_argument("--unit", action="store_true",
                        help="the unit tests alone")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--log", help="who noticed each")
    parser.add_argument("sources", nargs="*")
    options = parser.parse_args()
    os.chdir(ROOT)
    again = None
    if options.again:
        with open(options.again, encoding="utf-8") as stream:
            again = {nameless(line.strip()) for line in stream}
    todo = []
    for path in options.sources or sorted(glob.glob(CORE + "/*/*.c")):
        source = Source(path, options.small)
        todo += [(source, mutant) for mutant in source.mutants()
                 if re.search(options.only, mutant[3])
                 and (again is None or nameless(mutant[3]) in again)]
    if options.list:
        for _, mutant in todo:
            print(mutant[3])
        return 0
    counts = {"noticed": 0, "not noticed": 0, "no mutant": 0}
    log = open(options.log, "w") if options.log else None
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        bench = Bench(folder, again is not None, options.unit)
        results = pool.map(lambda item: (item[1][1], bench.noticed(
            item[0], *item[1])), enumerate(todo))
        for mutant, by in results:
            word = ("no mutant" if by == "compiler" else
                    "noticed" if by else "not noticed")
            counts[word] += 1
            if not by:
                print(mutant[3], flush=True)
            if log:
                print(by or "-", mutant[3], sep="\t", file=log, flush=True)
    print(f"mutants {counts['noticed'] + counts['not noticed']}, "
          f"noticed {counts['noticed']}, "
          f"not noticed {counts['not noticed']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
