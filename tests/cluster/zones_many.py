#   zones_many.py - many zones at once, limits, and logs
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Run by zones.sh: its zones z1 to z100 have one issuer, and each of few, thin,
lone and slow has a limit."""

import os
import re
import sys

from zones_world import CASES, Cluster, await_, check, issue, pair

HOSTS = ("h1", "h2", "h3")


def come(cluster, zone, name, host="h1", role="user"):
    """One that has a registration."""
    one = cluster.come(zone, f"{zone}-user", role, host, name)
    one.register(wait_s=0.05)
    return one


def holds(one, held):
    """Whether it still does."""
    serial = one.ask("LOCKCHECK", object="same", token=held.text("token"))
    answer = one.await_("LOCKCHECK", "LOCKFAILED", serial=serial)
    return answer is not None and answer.flag("held")


def hundred(cluster):
    """One name in a hundred zones."""
    keys = pair()
    all_of = []
    for number in range(1, 101):
        zone = f"z{number}"
        one = cluster.enter(issue(zone, zone, "operator", keys[0]), keys, zone,
                            HOSTS[number % 3])
        one.register(wait_s=0.05)
        all_of.append((one, one.lock("same", wait=0)))
    check("a hundred zones of one issuer hold one name", all(
        held and held.command == "LOCKED" for _, held in all_of), [
            held for _, held in all_of if held is None
            or held.command != "LOCKED"][:3])
    rows = [one.await_("LOCKLIST", serial=one.ask("LOCKLIST", object="same"))
            for one, _ in all_of[::10]]
    check("each is told of its own alone", all(
        [row.get("own") for row in answer.body["tickets"]] == [True]
        for answer in rows), rows)
    by_force, _ = all_of[41]
    serial = by_force.ask("UNLOCK", object="same", force=True)
    lost = by_force.await_("UNLOCKED", serial=all_of[41][1].serial)
    check("forced in one of them", lost and lost.text("error") == "forced",
          lost)
    by_force.unlock(lost.serial)
    check("it is free there", by_force.await_(
        "UNLOCKED", serial=serial) is not None)
    check("and held in the others", all(
        holds(one, held) for one, held in all_of if one is not by_force))
    check("of a former holder it is not", not holds(*all_of[41]))
    for one, _ in all_of:
        one.close()


#   ------------------------------------------------------------ limits


def is_limit(answer, limit, text):
    """The words at that limit."""
    return answer is not None and answer.command == "LOCKFAILED" \
        and answer.text("error") == "overloaded" \
        and answer.text("limit") == limit and answer.text("text") == text


def is_locked(one, name):
    """Once there is room: a host hears of others' once a second."""
    answers = []

    def ask():
        answers.append(one.lock(name, wait=0))
        return answers[-1].command == "LOCKED"
    return await_(ask) and answers[-1]


def limit_of_locks(cluster):
    """Three, over two hosts."""
    text = "the zone may have 3 locks"
    here = come(cluster, "few", "here")
    there = come(cluster, "few", "there", "h2")
    held = [here.lock(name, wait=0) for name in "abc"]
    check("so many locks as it may have", all(
        answer.command == "LOCKED" for answer in held), held)
    answer = here.lock("d", wait=0)
    check("and no more", is_limit(answer, "locks", text), answer)
    seen = []

    def is_full():
        """As soon as h2 has heard of it."""
        seen.append(there.lock("e", wait=0))
        if seen[-1].command == "LOCKED":
            there.unlock(seen[-1].serial)
        return is_limit(seen[-1], "locks", text)
    check("nor by another host", await_(is_full), seen[-1:])
    here.unlock(held[0].serial)
    check("what is given back makes room", is_locked(here, "d"))
    check("but for one", is_limit(here.lock("f", wait=0), "locks", text))
    other = come(cluster, "blue", "other")
    check("and none of it is another zone's",
          other.lock("d", wait=0).command == "LOCKED")
    for held in held[1:]:
        here.unlock(held.serial)
    check("also at the other host", is_locked(there, "g"))
    for one in here, there, other:
        one.close()


def limit_of_bytes(cluster):
    """60, of names with their zone and context."""
    text = "the zone may have 60 bytes of names"
    one = come(cluster, "thin", "one")
    held = one.lock("x" * 40, wait=0)
    check("a name that has room", held.command == "LOCKED", held)
    answer = one.lock("y" * 20, wait=0)
    check("one that has none", is_limit(answer, "bytes", text), answer)
    one.unlock(held.serial)
    check("then it has", is_locked(one, "y" * 20))
    one.close()


def limit_of_sessions(cluster):
    """Two, over two hosts."""
    text = "the zone may have 2 sessions"
    some = [come(cluster, "lone", f"s{i}") for i in (1, 2)]
    check("so many sessions as it may have", all(
        one.registered for one in some))
    third = cluster.come("lone", host="h1", name="s3")
    answer = third.register(wait_s=0.05)
    check("and no more", is_limit(answer, "sessions", text), answer)
    fourth = cluster.come("lone", host="h2", name="s4")
    answers = []

    def is_full():
        """As above."""
        answers.append(fourth.register(len(answers) + 1, wait_s=0.05))
        if fourth.registered:
            fourth.ask("LOCKGOODBYE")
            fourth.registered = {}
        return is_limit(answers[-1], "sessions", text)
    check("nor by another host", await_(is_full), answers[-1:])
    some[0].ask("LOCKGOODBYE")
    check("one that leaves makes room", await_(
        lambda: third.register(2, wait_s=0.05).command == "LOCKREGISTER"))
    for one in some + [third, fourth]:
        one.close()


def limit_of_requests(cluster):
    """Six a second."""
    one = come(cluster, "slow", "one")
    serials = [one.ask("LOCKSTATUS") for _ in range(30)]
    answers = [one.await_("LOCKREADY", "LOCKFAILED", serial=serial)
               for serial in serials]
    said = [is_limit(answer, "requests", "the zone may ask 6 times a second")
            for answer in answers]
    served = [answer.command for answer in answers].count("LOCKREADY")
    check("some questions are answered, and the others not",
          1 <= served <= 12 and said.count(True) == 30 - served, answers[-1])
    check("those that give back are", one.lease().command == "LOCKLEASE")
    check("later they are again", is_locked(one, "x"))
    one.close()


#   ------------------------------------------------------------ logs


def logs(folder):
    """Each zone's own."""
    text = {}
    for name in os.listdir(folder):
        with open(f"{folder}/{name}", encoding="utf-8") as file:
            text[name[:-len(".log")]] = file.read()
    check("there is a log of each of them", {
        "few", "thin", "lone", "slow", "z42"} <= set(text), list(text))
    strange = [f"{zone}: {line}" for zone, lines in text.items()
               for line in lines.splitlines()
               for named in re.findall(r"\bzone=(\S+)", line) if named != zone]
    check("with lines of no other zone", not strange, strange[:3])
    users = [f"{zone}: {line}" for zone, lines in text.items()
             for line in lines.splitlines()
             for named in re.findall(r"=(\w+)-user\b", line) if named != zone]
    check("nor of its users", not users, users[:3])
    check("a forced end is in that of its zone", re.search(
        r"audit: force .*lock=same", text.get("z42", "")), text.get("z42"))
    check("and a refusal at a limit", "the zone may have 3 locks" in text.get(
        "few", ""), text.get("few"))
    check("not readable for all", all(
        os.stat(f"{folder}/{name}").st_mode & 0o777 == 0o640
        for name in os.listdir(folder)))


def main():
    """All of it."""
    cluster = Cluster(os.environ["LOCKKEEPER_SANDBOX"])
    for part in (hundred, limit_of_locks, limit_of_bytes, limit_of_sessions,
                 limit_of_requests):
        part(cluster)
    logs(os.environ["LOGS"])
    return CASES["bad"] > 0


if __name__ == "__main__":
    sys.exit(main())
