#   zones_table.py - each command, of each role, for its own zone and others
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Run by zones.sh. All commands of src/wire/role.c, and one that there is not,
each for the zone of its sender, for another one, for one that does not exist,
and for none."""

import json
import os
import re
import subprocess
import sys

from far_client import clock_ms
from zones_world import (ANOTHER_ZONE, CASES, NOT_YOURS, Cluster, check,
                         hear_one, issue, pair, reason_of)

HERE = os.path.dirname(os.path.abspath(__file__))
ROLES = ["none", "observer", "user", "operator", "admin"]
STRANGER = "register first"

#   Commands to the router for sessions of any zone, and their answers.
ROUTER_OF_ZONES = {
    "ABSOLUTELY": None, "ALIVE": "ABSOLUTELY", "COMMANDS": "COMMANDS",
    "INVALID": None, "LOGIN": "LOGINFAILED", "REGISTER": "READY",
    "RENEW": "LOGINFAILED", "SERVERS": "SERVERS", "SERVICESTATUS": "STATUS",
    "SUBSCRIBE": None, "TRANSMISSIONREPORT": None, "UNKNOWN": None,
    "UNREGISTER": None}

#   Those that a test without an end should not say with success.
HARMFUL = {"CLIENTKEYS", "CLUSTER", "HOSTKEYS", "INVITE", "RELOADCONFIG",
           "ROTATEKEYS", "SHUTDOWN", "STOP", "UNREGISTER", "LOCKRECOVER"}

#   Answers of the lock service to one who may; None: nothing.
LOCK = {
    "LOCK": "LOCKED", "LOCKCHECK": "LOCKCHECK", "LOCKGOODBYE": None,
    "LOCKHISTORY": "LOCKHISTORY", "LOCKLEASE": "LOCKLEASE",
    "LOCKLIST": "LOCKLIST", "LOCKREGISTER": "LOCKREGISTER",
    "LOCKSTATUS": "LOCKREADY", "LOCKTOP": "LOCKTOP",
    "UNLOCK": "LOCKFAILED unknown", "UNLOCK force": "LOCKFAILED unknown",
    "LOCKMEMBERS": "LOCKMEMBERS", "LOCKOWNERS": "LOCKOWNERS",
    "LOCKSETTINGS": "LOCKSETTINGS", "LOCKMEMBERS change": "LOCKFAILED invalid",
    "LOCKSETTINGS change": "LOCKFAILED invalid"}
FOR_ZONES = {"LOCK", "UNLOCK", "LOCKCHECK", "LOCKGOODBYE", "LOCKHISTORY",
             "LOCKLEASE", "LOCKLIST", "LOCKREGISTER", "LOCKSTATUS", "LOCKTOP"}
BODIES = {
    "LOCK": {"object": "table", "wait": 0}, "LOCKCHECK": {
        "object": "free", "token": "0" * 15 + "1"},
    "UNLOCK": {"object": "free", "key": "0" * 15 + "1"},
    "UNLOCK force": {"object": "free", "force": True},
    "LOCKMEMBERS change": {"add": "no host"},
    "LOCKSETTINGS change": {"text": "x", "base": -5},
    "LOCKLEASE": {"sent": 1}, "FORGET": {"name": "h9"},
    "SERVICESTATUS": {"service": "lock"},
    "LOCKREGISTER": {"lease": 5000, "sent": 1, "registration": 7,
                     "secret": "0" * 16, "secret2": "0" * 16},
    "LOGIN": {"user": "x", "password": "y"}, "LOCKOWNERS": {"tickets": []}}


def rows():
    """Of src/wire/role.c: service, command, deed, the role."""
    with open(f"{HERE}/../../src/wire/role.c", encoding="utf-8") as text:
        found = re.findall(
            r'\{"(\w+)", "(\w+)", "(\w*)", LK_ROLE_(\w+)\}', text.read())
    return [row[:3] + (row[3].lower(),) for row in found] + [
        ("router", "NOSUCH", "", "admin"), ("lock", "LOCKNOSUCH", "", "admin")]


class Speaker:
    """One of a role: it says a command and hears what is answered."""

    def __init__(self, title, role, zone, one, far):
        # pylint: disable=too-many-arguments
        self.title, self.role, self.zone = title, role, zone
        self.one, self.far = one, far

    def say(self, service, command, body):
        """The answer; None: nothing ahead of that of ALIVE."""
        if service == "lock" and self.far and command != "LOCKREGISTER":
            body = dict(self.one.registered, **body)
        if command == "REGISTER":
            return self.one.enter(**dict(self.more(), **body))
        serial = self.one.say(command, body, f"{service}@.")
        probe = self.one.say("ALIVE", None, "router@.")
        if service == "lock":
            probe = self.one.say("LOCKSTATUS", {}, "lock@.")
        first = None
        for _ in range(20):
            message = self.one.hear()
            if message is None or message.serial == serial:
                return message
            if message.serial == probe:
                first = message
                break
        assert first, f"{self.title} {command}: neither answered nor the next"
        #   A lock of another host is answered later than what is asked next.
        return hear_one(self.one, serial, 5) if command in (
            "LOCK", "UNLOCK", "LOCKCHECK", "LOCKLEASE", "LOCKLIST", "LOCKTOP",
            "LOCKHISTORY", "LOGIN", "LOCKREGISTER") else None

    def more(self):
        """Its own fields of REGISTER."""
        line = getattr(self.one, "line", None)
        return {"credential": line} if line else {"pid": os.getpid()}


class LocalUser:
    """A process of h1 of another user, by zones_local.py."""

    def __init__(self, folder):
        self.title, self.role, self.zone = "a local user", "user", ""
        self.child = subprocess.Popen(
            ["/usr/bin/python3", f"{HERE}/zones_local.py",
             f"ipc://{folder}/h1/router"], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        self.ready = self.say("router", "REGISTER", {})

    def say(self, service, command, body):
        """As Speaker does."""
        self.child.stdin.write(json.dumps([service, command, body]) + "\n")
        self.child.stdin.flush()
        told = json.loads(self.child.stdout.readline())
        return told and Told(*told)

    def close(self):
        """It ends."""
        self.child.stdin.close()
        self.child.wait()


class Told:
    """An answer that zones_local.py heard."""

    def __init__(self, command, body):
        self.command, self.body = command, body or {}

    def text(self, name):
        """A field that is a text."""
        return self.body.get(name, "")

    def __repr__(self):
        return f"{self.command} {self.body}"


#   ------------------------------------------------------------ what is due


def refusal(needed, role):
    """To one whose role is too low."""
    return f"that needs the role {needed}, you are {role}"


def due_of_router(speaker, command, needed):
    """The kind of the answer, and its reason if it is refused."""
    if command == "NOSUCH":
        return "UNKNOWN", "the router knows no such command"
    if speaker.zone or speaker.title.startswith("a far"):
        if command not in ROUTER_OF_ZONES:
            return "INVALID", NOT_YOURS
    elif command not in ROUTER_OF_ZONES and ROLES.index(
            speaker.role) < ROLES.index(needed):
        return "INVALID", refusal(needed, speaker.role)
    return {"CLUSTERSTATUS": "CLUSTERUP", "RENEW": "LOGINFAILED",
            "LOGINFAILED": None}.get(
        command, ROUTER_OF_ZONES.get(command, command)), ""


def due_of_lock(speaker, command, deed, needed, zone):
    """The same of the lock service."""
    # pylint: disable=too-many-arguments
    is_far = speaker.title.startswith("a far")
    if speaker.zone and command not in FOR_ZONES:
        return "INVALID", NOT_YOURS
    if command == "LOCKNOSUCH":
        return "UNKNOWN", "the lock service knows no 'LOCKNOSUCH'"
    if is_far and not speaker.zone and command == "LOCKRECOVER":
        return "LOCKFAILED denied", "that is for hosts of the cluster"
    if ROLES.index(speaker.role) < ROLES.index(needed):
        return "LOCKFAILED denied", refusal(needed, speaker.role)
    if zone not in (None, speaker.zone) and speaker.role != "admin" and (
            zone or "default") != (speaker.zone or "default"):
        return "LOCKFAILED denied", ANOTHER_ZONE
    if not is_far and command in ("LOCKGOODBYE", "LOCKLEASE", "LOCKREGISTER"):
        return "LOCKFAILED invalid", "that is for applications on other machines"
    return LOCK.get(f"{command} {deed}".strip()), ""


def kind_of(answer):
    """The command, with its error if it is one."""
    if answer is None:
        return None
    error = answer.text("error")
    return f"{answer.command} {error}" if answer.command == "LOCKFAILED" \
        else answer.command


def shown(answer):
    """The part of a refusal that its sender sees."""
    return answer and (answer.command, dict(answer.body or {}))


def try_command(speaker, row):
    """It, for each zone."""
    service, command, deed, needed = row
    said, wrong = {}, []
    for zone in (None, speaker.zone or "default", "blue", "nowhere"):
        body = dict(BODIES.get(f"{command} {deed}".strip(),
                               BODIES.get(command, {})))
        if zone is not None:
            body["zone"] = zone
        kind, reason = due_of_router(speaker, command, needed) \
            if service == "router" \
            else due_of_lock(speaker, command, deed, needed, zone)
        if kind is None or command in HARMFUL and not reason:
            continue
        if command == "NOSUCH" and zone in ("blue", "nowhere"):
            continue    # the third one would be the last
        if command == "LOCK":
            body["object"] = f"{speaker.title} {zone in (None, speaker.zone)}" \
                + ("" if reason else str(zone))
        if command == "LOCKLEASE":
            body["sent"] = clock_ms()
        answer = said[zone] = speaker.say(service, command, body)
        if kind_of(answer) != kind or reason not in (
                reason_of(answer), ""):
            wrong.append(f"zone {zone}: {answer}, and not {kind} {reason}")
    if reason and "nowhere" in said and shown(said["blue"]) != shown(said["nowhere"]):
        wrong.append(f"blue {said['blue']} nowhere {said['nowhere']}")
    name = f"{command} {deed}".strip()
    check(f"{speaker.title}: {name} to the {service}", not wrong,
          "\n".join(wrong))


def far_speakers(cluster):
    """Of the zone gold each role, and an admin."""
    for role, zone in (("observer", "gold"), ("user", "gold"),
                       ("operator", "gold"), ("admin", "default")):
        keys = pair()
        line = issue(zone, "alice", role, keys[0])
        one = cluster.enter(line, keys)
        one.line = line
        one.register(wait_s=0.05)
        yield Speaker(f"a far {role}" if zone == "gold" else "a far admin",
                      role, "gold" if zone == "gold" else "", one, True)


def local_speakers(cluster):
    """Of the host h1."""
    one = cluster.local()
    yield Speaker("a local admin", "admin", "", one, False)
    one.close()
    if os.getuid() == 0:
        other = LocalUser(cluster.folder)
        yield other
        other.close()


#   ------------------------------------------------------------ nobody


def without_credential(cluster):
    """Few messages each: who hurries is not heard."""
    wrong, one, count = [], None, 0
    answers = {"ALIVE": "ABSOLUTELY", "LOGIN": "LOGINFAILED",
               "SERVERS": "SERVERS", "REGISTER": "REFUSE",
               "NOSUCH": "UNKNOWN"}
    for service, command, _, _ in rows():
        if service == "router" and ROUTER_OF_ZONES.get(command, 1) is None:
            continue
        if count % 6 == 0:
            one = cluster.client(pair(), source=f"127.2.{count + 1}.1:0;")
        count += 1
        if command == "REGISTER":
            answer = one.enter()
        else:
            serial = one.say(command, BODIES.get(command), f"{service}@.",
                             sender=one.address)
            answer = hear_one(one, serial)
        kind = answers.get(command, "INVALID") if service == "router" \
            else "INVALID"
        if kind_of(answer) != kind:
            wrong.append(f"{service} {command}: {answer}, not {kind}")
    check("without a credential there is nearly nothing to say", not wrong,
          "\n".join(wrong))


#   ------------------------------------------------------------ others


def same(title, answers):
    """All of these were answered with the same words."""
    first = shown(answers[0])
    check(title, first is not None and all(
        shown(answer) == first for answer in answers[1:]), answers)


def others(cluster):
    """Neither hosts, services nor sessions of others can be told from what is
    not there; nor their locks."""
    here, there = cluster.come("gold", role="operator"), cluster.come("blue")
    for one in here, there:
        one.register(wait_s=0.05)
    held = there.lock("theirs")
    for command, body in (("LOCKSTATUS", {}), ("ALIVE", None), ("X", {})):
        answers = [hear_one(here, here.say(command, body, to)) for to in (
            "lock@h2", "lock@h9", "router@h2", "router@h9", there.address,
            "nobody@h1", "nobody@h9", "lock@?", "router@?")]
        same(f"{command} to others", answers)
        check("is not its to say", reason_of(answers[0]) == NOT_YOURS,
              answers[0])
    same("SERVICESTATUS of others", [hear_one(here, here.say(
        "SERVICESTATUS", {"service": name}, "router@.")) for name in (
            "lock@h2", "lock@h9", "router@h2", there.address, there.name,
            "nobody", "issuer@h1")])
    same("SUBSCRIBE to others", [hear_one(here, here.say(
        "SUBSCRIBE", {"commands": [name]}, "router@.")) for name in (
            "STATUS", "NOLOCK", "HOSTUP", f"STATUS:{there.name}",
            "STATUS:nobody", "LOCKALERT", "NOSUCH")])
    key, token = held.text("key"), held.text("token")
    for title, command, known, unknown in (
            ("a key of theirs", "UNLOCK", {"object": "theirs", "key": key},
             {"object": "theirs", "key": "0123456789abcdef"}),
            ("a token of theirs", "LOCKCHECK",
             {"object": "theirs", "token": token},
             {"object": "theirs", "token": "000000000000ffff"}),
            ("their lock by force", "UNLOCK", {"object": "theirs",
                                               "force": True},
             {"object": "theirs", "force": True, "token": token})):
        one, other = (hear_one(here, here.ask(command, **body))
                      for body in (known, unknown))
        for answer in one, other:
            answer.body.pop("token", None)
        same(f"{title} is worth nothing", [one, other])
    answer = hear_one(here, here.ask("LOCKLIST", object="theirs"))
    check("nor has their lock any row", not (
        answer.body or {}).get("tickets"), answer)
    check("they still have it", hear_one(there, there.ask(
        "LOCKCHECK", object="theirs", token=token)).flag("held"))
    answer = here.lock("theirs", wait=0)
    check("which has one of its own of that name",
          answer.command == "LOCKED", answer)
    here.close()
    there.close()


def main():
    """All of it."""
    cluster = Cluster(os.environ["LOCKKEEPER_SANDBOX"])
    for speakers in far_speakers, local_speakers:
        for speaker in speakers(cluster):
            for row in rows():
                try_command(speaker, row)
    without_credential(cluster)
    others(cluster)
    return CASES["bad"] > 0


if __name__ == "__main__":
    sys.exit(main())
