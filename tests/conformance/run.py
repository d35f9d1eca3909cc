#!/usr/bin/python3
"""Plays the conformance cases with clients of any language (TAP).

Part of lockkeeper: locks for a cluster.
SPDX-License-Identifier: MPL-2.0

README beside this file has the form of the cases, and what a client's driver
understands. The runner knows nothing of locks: it starts drivers, tells them
lines, and compares what they answer.
"""

import argparse
import fnmatch
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import time

FOLDER = pathlib.Path(__file__).resolve().parent
PAGE = FOLDER.parent.parent / "man/lockkeeper-protocol.7"
CLIENTS = FOLDER.parent / "clients"
BUILD = pathlib.Path(os.environ.get("BUILD", FOLDER.parent.parent / "build"))
LOCKKEEPER = str(BUILD.resolve() / "lockkeeper")
PLACES = {"a": ("h1", 0), "b": ("h2", 1), "c": ("h3", 2), "d": ("h1", 1)}
HOSTS = ("h1", "h2", "h3")
REMOTE = "remote:"
SETTINGS = ("lock/dead-after=500", "lock/leader-lease=1000",
            "lock/host-lease=4000", "router/listen-clients=tcp://127.0.0.1:*")


class Failed(Exception):
    """A step had another answer than the case says."""


class Actor:
    """A process with a client; its driver obeys lines, each with an answer."""

    def __init__(self, client, host, patience_s):
        self.patience_s = patience_s
        self.read_so_far = b""
        way = local_way(host)
        if client.startswith(REMOTE):
            way = remote_way(host)
        driver = driver_of(client.removeprefix(REMOTE))
        try:
            self.process = subprocess.Popen(
                [driver], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                bufsize=0, env=way)
        except OSError as why:
            sys.exit(f"cannot start the driver '{driver}': {why.strerror}; "
                     "`./install-deps.sh check` has what drivers need")

    def tell(self, line, more_s=0):
        """Its answer to a line, for which it may take so much longer."""
        try:
            self.process.stdin.write(line.encode() + b"\n")
        except BrokenPipeError:
            return "it has ended"
        limit = time.monotonic() + self.patience_s + more_s
        while b"\n" not in self.read_so_far:
            left = max(0, limit - time.monotonic())
            if not select.select([self.process.stdout], [], [], left)[0]:
                return f"no answer in {self.patience_s} s"
            more = self.process.stdout.read(65536)
            if not more:
                return "it has ended"
            self.read_so_far += more
        answer, self.read_so_far = self.read_so_far.split(b"\n", 1)
        return answer.decode(errors="replace").rstrip()

    def end(self):
        """In good order if it can."""
        self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def driver_of(client):
    """The program that is that client's driver."""
    if client == "c":
        return str(BUILD.resolve() / "tests/cluster/actor")
    return str(CLIENTS / client / "driver")  # a path stays


def within(seconds, test):
    """Whether that becomes true in time."""
    limit = time.monotonic() + seconds
    while not test():
        if time.monotonic() > limit:
            return False
        time.sleep(0.02)
    return True


def sandbox():
    """Its folder."""
    return pathlib.Path(os.environ["LOCKKEEPER_SANDBOX"])


def local_way(host):
    """The environment of an application on that host."""
    way = dict(os.environ,
               LOCKKEEPER_ENDPOINT=f"ipc://{sandbox()}/{host}/router")
    way.pop("LOCKKEEPER_CLIENT", None)
    return way


def remote_way(host):
    """That of one on a machine without a router, which tries that host
    first."""
    way = dict(os.environ, LOCKKEEPER_CLIENT=str(client_file(host)))
    way.pop("LOCKKEEPER_ENDPOINT", None)
    return way


def client_file(host):
    """Where that machine has its keys and its servers."""
    return sandbox() / f"machine-{host}.conf"


def lockkeeper(host, *words):
    """What the command line tool prints on that host; None if it fails."""
    run = subprocess.run([LOCKKEEPER, *words], capture_output=True, text=True,
                         check=False, env=local_way(host))
    return run.stdout if run.returncode == 0 else None


def make_machines():
    """A client file for each host, unless there are some. Servers keep their
    ports when they are restarted."""
    if client_file("h1").exists():
        return
    keys = [f"{host} " + lockkeeper("h1", "client", "new",
                                    str(client_file(host))).strip()
            + " operator" for host in HOSTS]
    if lockkeeper("h1", "settings", "set", "clients/key", *keys) is None:
        sys.exit("the machines' keys cannot be set")
    servers = dict(re.findall(r"^server +(\S+) +(\S+ \S+) ",
                              lockkeeper("h1", "clients", "list"),
                              re.MULTILINE))
    for turn, host in enumerate(HOSTS):
        with client_file(host).open("a") as file:
            file.write("    order = listed\n")
            for server in HOSTS[turn:] + HOSTS[:turn]:
                file.write(f'    server = "{servers[server]}"\n')
        settings = sandbox() / host / "lockkeeper.conf"
        settings.write_text(re.sub(
            "listen-clients = .*",
            f"listen-clients = {servers[host].split(' ')[0]}",
            settings.read_text()))


class Stage:
    """The actors of a case, the cluster, and what the case remembers."""

    def __init__(self, clients, patience_s):
        self.clients = clients
        self.patience_s = patience_s
        self.hurt = {}
        self.actors = {}
        self.kept = {}
        self.deeds = {"listed": self.listed, "killed": self.killed,
                      "stopped": self.stopped, "left": self.left,
                      "paused": self.paused, "resumed": self.resumed,
                      "restarted": self.restarted, "ready": self.ready}

    def clear(self):
        """Ends all actors: what they held is free."""
        for name in list(self.actors):
            for pid in self.pids(name):
                os.kill(pid, signal.SIGCONT)
            self.actors.pop(name).end()

    def mend(self, case):
        """Has hosts again as they were, and static locks free, after a case
        that was left."""
        for who, deed in list(self.hurt.items()):
            deed(*who)
        self.ready(*HOSTS)
        for step in case["steps"]:
            for name in re.findall(r"^\w (?:get|ask) \w+ (\S+) static", step):
                lockkeeper("h1", "unlock", name, "--force", "--now",
                           "--reason", "its case was left")

    def actor(self, name):
        """The actor of that name, which is started when it is first told."""
        if name not in self.actors:
            self.actors[name] = Actor(self.client_of(name), PLACES[name][0],
                                      self.patience_s)
        return self.actors[name]

    def client_of(self, name):
        """Of the actor of that name."""
        return self.clients[PLACES[name][1] % len(self.clients)]

    def is_for(self, case):
        """Whether its actors are local or remote as the case wants them."""
        names = case["only"].split()
        if not names:
            return True
        is_remote = names.pop() == "remote"
        return all(self.client_of(name).startswith(REMOTE) == is_remote
                   for name in names)

    # --------------------------------------------------------- deeds

    def pids(self, name, *daemons):
        """Of an actor, or of daemons of a host."""
        if name in self.actors:
            return [self.actors[name].process.pid]
        folder = sandbox() / name
        if not daemons or os.environ.get("LK_HOSTED"):
            daemons = ("router",) if os.environ.get("LK_HOSTED") else (
                "lockd", "router")
        return [int((folder / f"{daemon}.pid").read_text())
                for daemon in daemons]

    def signal(self, number, who):
        """Sends it to each of them."""
        for pid in self.pids(*who):
            os.kill(pid, number)

    def listed(self, word, name, count="1"):
        """So many tickets of that name are listed so."""
        def is_there():
            listed = lockkeeper("h1", "list", "--object", name)
            return listed is not None and listed.count(word) >= int(count)
        if within(60, is_there):
            return True
        print("# list:", lockkeeper("h1", "list"))
        return False

    def killed(self, *who):
        """At once, without a word."""
        self.signal(signal.SIGKILL, who)
        if who[0] in self.actors:
            self.actors.pop(who[0]).end()
        else:
            self.hurt[who] = self.restarted
        return True

    def left(self, name):
        """An actor ends in good order."""
        self.actors.pop(name).end()
        return True

    def stopped(self, *who):
        """In good order."""
        self.signal(signal.SIGTERM, who)
        self.hurt[who] = self.restarted
        return True

    def paused(self, *who):
        """They stand still."""
        self.signal(signal.SIGSTOP, who)
        if who[0] not in self.actors:
            self.hurt[who] = self.resumed
        return True

    def resumed(self, *who):
        """They go on."""
        self.signal(signal.SIGCONT, who)
        self.hurt.pop(who, None)
        return True

    def restarted(self, host, *daemon):
        """What was killed is started again."""
        self.hurt.pop((host, *daemon), None)
        if os.environ.get("LK_HOSTED"):
            daemon = ("router",)
        return lockkeeper(host, "sandbox", "restart", host,
                          *daemon) is not None

    def ready(self, *hosts):
        """Locks can be had there."""
        return all(within(60, lambda host=host: lockkeeper(host, "status"))
                   for host in hosts)

    def upheavals(self):
        """What befell the cluster, by its logs: elections, sessions lost."""
        return [f"{log.parent.name}: {line}"
                for log in sorted(sandbox().glob("h?/*.log"))
                for line in log.read_text(errors="replace").splitlines()
                if re.search("decree in force|session over|reclaim", line)]

    # --------------------------------------------------------- steps

    def filled_in(self, line):
        """With what $NAME, {TEXT*COUNT} and {TEXT#COUNT} stand for."""
        line = re.sub(r"\{(\w+)\*(\d+)\}",
                      lambda it: it[1] * int(it[2]), line)
        line = re.sub(r"\{(\w+)#(\d+)\}", lambda it: " ".join(
            f"{it[1]}{i}" for i in range(int(it[2]))), line)
        return re.sub(r"\$(\w+)", lambda it: self.kept.get(it[1], "?"), line)

    def is_as(self, answer, wanted):
        """Whether the answer is one of those that are wanted."""
        if wanted.startswith("="):
            self.kept[wanted[1:]] = answer
            return bool(re.fullmatch("[0-9a-f ]+", answer)) and answer != "0"
        if wanted.startswith(">"):
            return answer.isdigit() and int(answer) > int(wanted[1:])
        return any(fnmatch.fnmatchcase(answer, one)
                   for one in wanted.split(" or "))

    def heard(self, name, limit_ms):
        """The next event that is no warning."""
        limit = time.monotonic() + int(limit_ms) / 1000
        while True:
            left = max(0, int(1000 * (limit - time.monotonic())))
            answer = self.actor(name).tell(f"event {left}", left / 1000)
            if answer.split(" ")[0] not in ("jeopardy", "safe"):
                return answer

    def answer(self, line):
        """What comes of a line."""
        name, words = line.split(" ", 1)
        if name in self.deeds:
            done = self.deeds[name](*words.split())
            return "ok" if done else "could not be had"
        if words.startswith("hears "):
            return self.heard(name, words.split()[1])
        return self.actor(name).tell(words)

    def perform(self, step):
        """One step of a case; raises Failed."""
        line, _, wanted = map(str.strip, step.rpartition("->"))
        answer = self.answer(self.filled_in(line))
        if not self.is_as(answer, self.filled_in(wanted)):
            raise Failed(f"{step}: '{answer}'")

    def play(self, case):
        """All steps, and nobody may have heard what nobody asked about."""
        for step in case["steps"]:
            self.perform(step)
        for name in self.actors:
            rest = self.heard(name, 0)
            if rest != "none":
                raise Failed(f"{name} has heard '{rest}', too")


def cases_of(path):
    """Those of a file."""
    cases = []
    sections = re.findall(r"^\.S[hs] ([0-9.]+) ", PAGE.read_text(),
                          re.MULTILINE)
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.strip()
        if line.startswith("case: "):
            cases.append({"title": f"{path.stem}: {line[6:]}", "only": "",
                          "steps": []})
        elif line.startswith("page: "):
            cases[-1]["page"] = line[6:]
            if line[6:].split(",")[0] not in sections:
                sys.exit(f"{path}:{number}: the page has no such section")
        elif line.startswith("only: "):
            cases[-1]["only"] = line[6:]
        elif line and line[0] != "#":
            if " -> " not in line:
                sys.exit(f"{path}:{number}: a step needs ' -> '")
            cases[-1]["steps"].append(line)
    return cases


def went_well(stage, case):
    """Plays it; once more after an election or the end of a session that it
    did not cause itself: only then may be forgotten who gave back what, as
    9.11 says."""
    own_faults = any(deed in step for step in case["steps"]
                     for deed in ("killed ", "stopped ", "paused "))
    for _ in range(4):
        before = stage.upheavals()
        try:
            stage.play(case)
            return True
        except Failed as why:
            print(f"# {why}\n# lockkeeper-protocol(7), {case['page']}")
            stage.clear()
            stage.mend(case)
        news = [line for line in stage.upheavals() if line not in before]
        for line in news:
            print(f"# {line}", flush=True)
        if own_faults or not news:
            break
    return False


def play_all(options):
    """Prints how each case went; whether all went well."""
    stage = Stage(options.clients, options.patience)
    bad = 0
    cases = [case for path in options.cases for case in cases_of(path)
             if stage.is_for(case)]
    for number, case in enumerate(cases, 1):
        good = went_well(stage, case)
        bad += not good
        print(f"{'ok' if good else 'not ok'} {number} - {case['title']}",
              flush=True)
    stage.clear()
    print(f"1..{len(cases)}")
    print(f"# {'+'.join(options.clients)}: {len(cases) - bad} passed, "
          f"{bad} failed")
    return bad == 0


def main():
    """Begins in a sandbox, and makes one if it is in none."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="+", type=pathlib.Path,
                        default=sorted(FOLDER.glob("*.case")), metavar="FILE",
                        help="only these")
    parser.add_argument("--patience", type=int, default=40, metavar="S",
                        help="how long to wait for an answer")
    parser.add_argument("--remote", action="store_true", help="all clients "
                        "are on machines without a router")
    parser.add_argument("clients", nargs="+", metavar="CLIENT", help="c, a "
                        "folder of tests/clients, or the path of one; a, b "
                        "and c have one each; remote:CLIENT is on a machine "
                        "without a router")
    options = parser.parse_args()
    if options.remote:
        options.clients = [REMOTE + one.removeprefix(REMOTE)
                           for one in options.clients]
    if "LOCKKEEPER_SANDBOX" not in os.environ:
        sets = [word for one in SETTINGS for word in ("--set", one)]
        hosted = ["--hosted"] if os.environ.get("LK_HOSTED") else []
        os.execv(LOCKKEEPER, [LOCKKEEPER, "sandbox", "--hosts", "3", *hosted,
                              *sets, "--", sys.executable, *sys.argv])
    if any(one.startswith(REMOTE) for one in options.clients):
        make_machines()
    sys.exit(not play_all(options))


main()
