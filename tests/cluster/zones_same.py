#   zones_same.py - what a zone's client is told shows nothing of others
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Run by zones.sh. The same client says the same to a cluster of one host that
has no zone but its own, and to one whose other zones and hosts are busy: all
answers are the same, but tokens, keys, times and the list of servers."""

import json
import os
import random
import re
import sys
import threading
import time

from zones_world import CASES, HANG_S, Cluster, await_, check, issue, pair

SEED = int(os.environ.get("SEED", random.randrange(10**9)))
COUNT = int(os.environ.get("COUNT", "30"))

#   Differences from one run to the next one, too. How many requests there
#   were within a second is a time, too.
HEX = re.compile("[0-9a-f]{16}")
TIMES = {"left", "as_of", "sent", "credential_left", "requests", "pid"}
LEAKS = re.compile("h[23]|blue|z[12]|neighbour|Neighbour|secret")
LEASES = 2**40          # serials of what is no part of a script
SET = 128               # names of a set at most
MANY = 410              # such sets of others: more than a list looks at
VARYING = set()         # with what is being given back
ORDERED = {"events", "tickets"}   # all else is in the order of some table


def masked(value, name=""):
    """Without tokens, keys and times; names of clients stay."""
    if isinstance(value, dict):
        return {key: masked(item, key) for key, item in value.items()}
    if isinstance(value, list):
        items = [masked(item, name) for item in value]
        return items if name in ORDERED else sorted(items, key=str)
    if name in ("servers", "address"):
        return "LIST"
    if isinstance(value, str) and HEX.fullmatch(value):
        return "HEX" if value.strip("0") else "ZERO"
    is_time = name in TIMES | VARYING or name.endswith("_ms")
    return "TIME" if is_time and isinstance(value, int) and value >= 0 \
        else value


def shown(message):
    """All of a message that its receiver can tell from another one."""
    body = message.body or {}
    if message.command == "SERVERS":
        body = {name: "LIST" for name in body}
    if message.command == "LOCKTOP":    # names of the last ten seconds
        body = dict(body, names=[row for row in body.get("names", [])
                                 if LEAKS.search(str(row))])
    body = masked(body)
    return json.dumps([message.command, message.sender, message.to,
                       message.serial, body, message.ttl],
                      sort_keys=True)


def set_of(name, first):
    """Fields of a LOCK of so many names."""
    return {"wait": -1, "pid": 4711, "locks": [
        {"object": f"{name}-{number}"} for number in range(first, first + SET)]}


class Teller:
    """A client, and what it was told by each serial, in that order."""

    def __init__(self, cluster, line, keys, name, guide=None):
        # pylint: disable=too-many-arguments
        self.one = cluster.enter(line, keys, name)
        self.line = line
        self.said = {}
        self.told = {}
        self.count = 0      # of all messages that came
        self.locked = []    # token and key of each LOCKED
        self.guide = guide  # the one whose answers are to be waited for
        self.patience_s, self.leased_s = HANG_S, 0
        self.ahead = []     # how many had come, after each message
        self.take(self.one.ready)
        self.take(self.one.register(wait_s=0.05))

    def take(self, message):
        """One more. A lease is also told by itself."""
        if message.command == "LOCKLEASE" and message.serial not in self.said:
            return
        self.told.setdefault(message.serial, []).append(shown(message))
        self.count += 1
        if message.command == "LOCKED" and message.hex("token"):
            self.locked.append((message.text("token"), message.text("key")))

    def say(self, command, body, to="lock@.", serial=None, **more):
        """It, and what comes ahead of the next answer. As much is waited for
        as was told to `guide`: hosts of a cluster answer later."""
        # pylint: disable=too-many-arguments
        if to.startswith("lock@") and isinstance(body, dict) \
                and command != "LOCKREGISTER":
            body = dict(self.one.registered, **body)
        serial = self.one.say(command, body, to, serial, **more)
        self.said[serial] = f"{command} to {to}: {body}"
        body = body or {}
        self.settle(len(self.told.get(serial, [])), serial,
                    to in ("lock@.", "lock@h1") and command == "LOCKLEASE"
                    and isinstance(body.get("sent"), int), {
                        name: body[name] for name in ("object", "context")
                        if body.get(name) and isinstance(body[name], str)})
        return serial

    def settle(self, before, serial, is_slow, names):
        """Until its answer is there, and a later one of the same home."""
        probe = self.one.say("LOCKCHECK", dict(dict(
            self.one.registered, object="probe", token="0" * 16, wait=-1),
            **names))
        if time.monotonic() > self.leased_s + 1 and not is_slow:
            self.leased_s = time.monotonic()
            self.one.ask("LOCKLEASE", sent=self.one.clock(),
                         serial=LEASES + int(self.leased_s))
        step = len(self.ahead)
        due = self.guide.ahead[step] if self.guide else int(bool(is_slow))
        until = time.monotonic() + self.patience_s
        is_over = False
        while not is_over or len(self.told.get(serial, [])) - before < due:
            message = self.one.hear(max(0, until - time.monotonic()))
            if message is None:
                self.patience_s = 0.2   # that is wrong: no more waiting
                break
            if message.serial == probe:
                is_over = True
            else:
                self.take(message)
        self.ahead.append(len(self.told.get(serial, [])) - before)

    def await_said(self, serial, command, asked=None):
        """Until that is told of it; not if it, or what asked for it, was
        refused."""
        while not any(f'["{command}"' in told or '"denied"' in told
                      for told in self.told.get(serial, [])) and not any(
                          '"denied"' in told
                          for told in self.told.get(asked, [])):
            message = self.one.hear(self.patience_s)
            if message is None:
                return False
            self.take(message)
        return True

    def close(self):
        """It ends, and gives all back."""
        self.one.ask("LOCKGOODBYE")
        self.one.lease()
        self.one.close()


def once(tell, serial):
    """Its answers. The loss of a lock may be told again."""
    told = tell.told.get(serial, [])
    return [told[i] for i in range(len(told)) if told[i] not in told[:i]]


def differ(serial, first, second):
    """The first difference, and some of what is in front of it."""
    one, other = str(first), str(second)
    at = len(os.path.commonprefix([one, other]))
    begin = max(0, at - 200)
    return f"{serial}: alone {one[:60]} ... {one[begin:at + 150]}\n" \
        f"  beside others ... {other[begin:at + 150]}"


def compare(title, here, there):
    """Whether both were told the same, by each serial."""
    wrong = [f"{here.said.get(serial)}\n" + differ(serial, first, second)
             for serial in sorted(set(here.told) | set(there.told))
             for first, second in [(once(here, serial), once(there, serial))]
             if first != second]
    check(f"{title}: {here.count} answers are the same", not wrong
          and here.count > 10, "\n".join(wrong[:5]))


#   ------------------------------------------------------------ a script


def force(tell, name, request, **more):
    """By its operator; its holder gives it back when it hears so."""
    serial = tell.say("UNLOCK", dict(object=name, force=True, **more))
    if tell.await_said(request, "UNLOCKED", serial):
        tell.say("UNLOCK", {"request": request})
        tell.await_said(serial, "UNLOCKED")


def play(tell):
    """Words of a client of a zone, and some that none of ours says."""
    router = "router@."
    for body in ({"object": "a"}, {"object": "a"}, {"object": "b", "wait": 0},
                 {"object": "s", "type": "shared"},
                 {"object": "s", "type": "shared", "context": "c"},
                 {"object": "d", "duration": 100000}, {"object": "e" * 256},
                 {"locks": [{"object": "m"}, {"object": "n"}]},
                 {"object": "lim", "limit": 2}, {"object_hex": "00ff"}):
        tell.say("LOCK", dict({"wait": -1, "pid": 4711}, **body))
    first = 10 * 3
    tell.say("LOCKSTATUS", {})
    for body in ({}, {"object": "a"}, {"own": True}, {"cursor": 0},
                 {"cursor": -1}, {"cursor": 10**9}, {"object": "none"},
                 {"object": 5}, {"context": "c"}, {"table": True},
                 {"zone": "red"}, {"zone": "blue"}, {"zone": ""},
                 {"zone": "default"}, {"id": "0" * 15 + "1"},
                 {"served_by": "h2"}):
        for command in ("LOCKLIST", "LOCKHISTORY", "LOCKTOP", "LOCKSTATUS"):
            tell.say(command, body)
    token, key = (tell.locked or [("0" * 15 + "1",) * 2])[0]
    for body in ({"object": "a", "token": token}, {"object": "a"},
                 {"object": "a", "token": "0" * 15 + "1"}, {"token": token}):
        tell.say("LOCKCHECK", body)
    for body in ({"object": "none", "force": True}, {"key": key}, {},
                 {"object": "a", "key": "0" * 15 + "1"}, {"request": 5},
                 {"request": first + 20}):
        tell.say("UNLOCK", body)
    force(tell, "b", first + 40)
    force(tell, "d", first + 100, reason="so")
    for request in range(first, first + 200, 20):
        tell.say("UNLOCK", {"request": request})
    for command in ("LOCKMEMBERS", "LOCKSETTINGS", "LOCKOWNERS", "LOCKRECOVER",
                    "LOCKVOTE", "LOCKZONES", "NOSUCH", "LOCKED", "STATUS"):
        tell.say(command, {})
    for name in ("lock", "lock@h1", "lock@h2", "lock@h9", "router", "other",
                 tell.one.name):
        tell.say("SERVICESTATUS", {"service": name}, router)
    for command in ("SERVERS", "COMMANDS", "ALIVE", "ROUTERSTATUS", "STOP",
                    "CLUSTERSTATUS", "KEYS", "LOG", "FORGET", "RENEW",
                    "GOSSIP", "CONNECT", "LOGIN"):
        tell.say(command, {}, router)
    tell.say("LOGIN", {"zone": "red", "user": "x", "password": "y"}, router)
    tell.say("LOGIN", {"zone": "blue", "user": "x", "password": "y"}, router)
    for names in (["SERVERS"], ["STATUS:lock"], ["STATUS"], ["HOSTUP"],
                  ["LOCKREADY", "NOLOCK"], ["STATUS:router"]):
        tell.say("SUBSCRIBE", {"commands": names}, router)
    for to in ("lock@h1", "lock@h2", "lock@h9", "lock@?", "lock@*", "*@.",
               "*@*", "router@h1", "router@h2", "router@*", "issuer@h1",
               "other@h1", "other@h2", "other@?"):
        for command in ("LOCKSTATUS", "ALIVE", "STATUS"):
            tell.say(command, {}, to)
    tell.say("LOCKSTATUS", None, "lock@.", sender="lock@h2")
    tell.say("REGISTER", {"service": tell.one.name, "version": "9",
                          "pid": 4711, "application": True,
                          "credential": tell.line}, router)
    tell.say("LOCKLEASE", {"sent": tell.one.clock()})
    tell.say("LOCKREGISTER", {"registration": 0})
    for command in ("LOCKLIST", "LOCKHISTORY", "LOCKTOP", "LOCKSTATUS"):
        tell.say(command, {})


def play_long(tell):
    """A list in several answers, and what each tells to ask on with."""
    for first in range(0, 10 * SET, SET):
        tell.say("LOCK", set_of("long", first))
    cursor, pages = 0, 0
    while cursor >= 0 and pages < 20:
        serial = tell.say("LOCKLIST", {"cursor": cursor})
        answer = json.loads((tell.told.get(serial) or ["[0, 0, 0, 0, {}]"])[0])
        cursor = answer[4].get("cursor", -1)
        pages += 1
    check(f"a long list has an end: {pages} answers", 3 <= pages < 20)


#   ------------------------------------------------------------ any message

COMMANDS = ["LOCK"] * 8 + ["UNLOCK"] * 8 + [
    "LOCKCHECK", "LOCKLIST", "LOCKHISTORY", "LOCKTOP", "LOCKSTATUS",
    "LOCKMEMBERS", "LOCKSETTINGS", "LOCKOWNERS", "LOCKRECOVER", "LOCKLEASE",
    "LOCKZONES", "LOCKVOTE", "LOCKFORGET", "LOCKPING", "A", "INVALID"]
OBJECTS = ["o1", "o2", "o3", "p"]


def any_value(dice, tell, name):
    """Of a field, mostly one that makes sense."""
    if dice.random() < 0.06:
        return dice.choice([None, -1, 0, 2**63, "", "x" * 300, [], {}, True,
                            1.5, "\u00fc", [[]], {"a": 1}])
    token = dice.choice(tell.locked or [("0" * 16, "0" * 16)])
    serials = [serial for serial in tell.told if serial] or [1]
    return {
        "object": lambda: dice.choice(OBJECTS),
        "object_hex": lambda: "00",
        "context": lambda: dice.choice(["", "c"]),
        "zone": lambda: dice.choice(["red", "red", "blue", "x", "", "default"]),
        "type": lambda: dice.choice(["shared", "exclusive", "x"]),
        "policy": lambda: dice.choice(["fair", "readers", "x"]),
        "wait": lambda: dice.choice([0, 0, 0, -1, 2**46]),
        "duration": lambda: dice.choice([0, 10**8]),
        "limit": lambda: dice.randrange(4), "bound": lambda: dice.randrange(3),
        "quiet": lambda: dice.choice([0, 10**7]),
        "static": lambda: False, "lenient": lambda: dice.random() < .5,
        "turn": lambda: dice.randrange(3),
        "token": lambda: token[0], "key": lambda: token[1],
        "request": lambda: dice.choice(serials),
        "force": lambda: dice.random() < .5, "now": lambda: True,
        "reason": lambda: "so", "again": lambda: True, "own": lambda: True,
        "cursor": lambda: dice.randrange(3), "count": lambda: 3,
        "after": lambda: dice.randrange(3), "pid": lambda: 4711,
        "left": lambda: 5000, "user": lambda: "bob", "table": lambda: True,
        "id": lambda: "0" * 15 + "1", "served_by": lambda: "h2",
        "host": lambda: "h2", "stage": lambda: "x",
        "registration": lambda: dice.randrange(3),
        "locks": lambda: [{"object": name} for name in dice.sample(OBJECTS,
                                                                   2)],
        "owner": lambda: "lock@h2", "sent": lambda: 5, "add": lambda: "h9",
        "text": lambda: "x", "base": lambda: 0, "hosts": lambda: [1, 2],
    }[name]()


FIELDS = ["object", "object_hex", "context", "zone", "type", "policy", "wait",
          "duration", "limit", "bound", "quiet", "static", "lenient", "turn",
          "token", "key", "request", "force", "now", "reason", "again", "own",
          "cursor", "count", "after", "pid", "left", "user", "table", "id",
          "served_by", "host", "stage", "registration", "locks", "owner",
          "sent", "add", "text", "base", "hosts"]
USUAL = {"LOCK": ["object", "wait", "type"], "UNLOCK": ["object", "request"],
         "LOCKCHECK": ["object", "token"]}


def say_anything(tell, seed, count, but=()):
    """Messages of a seed, without the fields `but`."""
    dice = random.Random(seed)
    fields = [name for name in FIELDS if name not in but]
    for _ in range(count):
        command = dice.choice(COMMANDS)
        names = list(USUAL.get(command, []))
        if dice.random() < 0.4:
            names += dice.sample(fields, dice.randrange(1, 4))
        if command == "UNLOCK" and not but and dice.random() < 0.3:
            names = ["object", dice.choice(["force", "key"])]
        body = {name: any_value(dice, tell, name) for name in names}
        to = dice.choice(["lock@."] * 30 + ["lock@h1", "lock@h2", "x@h1"])
        tell.say(command, body, to)


#   ------------------------------------------------------------ the others


class Others:
    """Those of other zones and on other hosts, at work in the same names."""

    def __init__(self, cluster):
        self.is_over = False
        self.count = self.sets = 0
        self.cluster = cluster
        self.threads = [threading.Thread(
            target=self.work, args=who, daemon=True) for who in
                        (("blue", "h1"), ("blue", "h2"), ("z1", "h3"),
                         ("z2", "h1"))]
        for thread in self.threads:
            thread.start()
        before = -1
        while before < self.sets < MANY:
            before = self.sets
            await_(lambda: self.sets > before)

    def fill(self, one):
        """More locks than are looked at for an answer."""
        while self.sets < MANY and one.await_("LOCKED", serial=one.ask(
                "LOCK", **set_of("secret", self.sets * SET))):
            self.sets += 1
            one.lease()

    def work(self, zone, host):
        """Locks, lists and gives back."""
        one = self.cluster.come(zone, "Neighbour", "operator", host,
                                "neighbour")
        one.register(wait_s=0.05)
        dice = random.Random(zone + host)
        if host == "h2":
            self.fill(one)
        while not self.is_over:
            held = one.lock(dice.choice(OBJECTS + ["a", "secret"]), wait=0)
            for command in ("LOCKLIST", "LOCKHISTORY"):
                one.ask(command)
            if held and held.command == "LOCKED":
                one.unlock(held.serial)
                self.count += 1
            one.lease()
            time.sleep(0.03)
        one.close()

    def close(self):
        """They end."""
        self.is_over = True
        for thread in self.threads:
            thread.join()


#   Fields that end locks at a time that depends on how busy a machine is, or asks
#   several hosts at once.
RACING = ("force", "key", "locks", "now", "again")


HIDDEN = (".host", ".served_by", ".leaders", ".members", ".session", ".sees",
          ".cluster", ".term", ".serial", ".number", ".silent_ms")


def shows_others(tell):
    """Answers with a name of others in them: they echo nothing but names."""
    return [told for all_told in tell.told.values() for told in all_told
            if LEAKS.search(told)]


def rows_with_hosts(tell):
    """Lists with an address in them: the host of a client is none of them."""
    return [told for all_told in tell.told.values() for told in all_told
            if re.match(r'\["LOCK(LIST|HISTORY|TOP)"', told)
            and "@" in json.dumps(json.loads(told)[4])]


def fields_of(tell):
    """Each field of each answer."""
    found = set()

    def look(command, value, path):
        if isinstance(value, dict):
            for name, item in value.items():
                found.add((command, f"{path}.{name}"))
                look(command, item, f"{path}.{name}")
        elif isinstance(value, list):
            for item in value:
                look(command, item, path)
    for all_told in tell.told.values():
        for told in all_told:
            command, _, _, _, body, _ = json.loads(told)
            look(command, body, "")
    return found


def play_both(clusters, role, act):
    """The same in both; the first one leads."""
    keys = pair()
    line = issue("red", "alice", role, keys[0])
    tellers = []
    for cluster in clusters:
        tell = Teller(cluster, line, keys, role,
                      tellers[0] if tellers else None)
        tellers.append(tell)
        act(tell)
        tell.close()
    return tellers


def ask_of_another(cluster):
    """One that is told of a lock of its zone on another host."""
    one = cluster.come("red", "bob", "user", "h2", "elsewhere")
    one.register(wait_s=0.05)
    one.lock("at-h2")
    keys = pair()
    tell = Teller(cluster, issue("red", "alice", "operator", keys[0]), keys,
                  "asker")
    for command in ("LOCKTOP", "LOCKLIST", "LOCKHISTORY"):
        serial = tell.say(command, {})
        tell.await_said(serial, command)
        check(f"{command} tells of another host's lock", any(
            '"at-h2"' in told for told in tell.told.get(serial, [])),
              tell.told.get(serial))
    one.ask("LOCKGOODBYE")
    one.lease()
    one.close()
    tell.close()
    return tell


def main():
    """All of it."""
    clusters = (Cluster(os.environ["ALONE"]),
                Cluster(os.environ["LOCKKEEPER_SANDBOX"]))
    others = Others(clusters[1])
    known, addresses = set(), []
    for role in ("operator", "user", "observer"):
        here, there = play_both(clusters, role, play)
        compare(f"{role}, a script", here, there)
        known |= fields_of(here)
        addresses += rows_with_hosts(there)
    here, there = play_both(clusters, "user", play_long)
    compare("a long list", here, there)
    known |= fields_of(here)
    VARYING.update(("locks", "bytes"))
    here, there = play_both(clusters, "operator", lambda tell: say_anything(
        tell, SEED, COUNT, RACING))
    compare(f"any message of seed {SEED}", here, there)
    known |= fields_of(here)
    here, there = play_both(clusters, "operator", lambda tell: say_anything(
        tell, SEED + 1, COUNT))
    known |= fields_of(here)
    check("others' names are in no answer", not shows_others(there),
          shows_others(there)[:3])
    mixed = ask_of_another(clusters[1])
    hidden = [field for field in fields_of(there) | fields_of(mixed) | known
              if field[1].endswith(HIDDEN) and field[0] not in (
                  "READY", "SERVERS")]
    check("nor any field that tells of hosts", not hidden, hidden)
    addresses += rows_with_hosts(there) + rows_with_hosts(mixed)
    check("nor any address", not addresses, addresses[:1])
    check("nor any field that is not told alone",
          fields_of(there) <= known, sorted(fields_of(there) - known))
    others.close()
    check("others were busy", others.count > 10, others.count)
    check("and have many locks", others.sets == MANY, others.sets)
    return CASES["bad"] > 0


if __name__ == "__main__":
    sys.exit(main())
