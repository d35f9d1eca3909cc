#   issuer_ldap.py - log-ins by an LDAP server
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Run by issuer_ldap.sh. The issuer is real, and so is slapd; the router is a
pipe. Tells its cases as TAP."""

import os
import socket
import time

from issuer_fake import (KEY, Desk, await_, check, done, is_refused, is_role,
                         path, write)
from issuer_slapd import BASE, Slapd, certify, group, person

ROLES = ("acme user lockers", "acme observer cn=Watchers, ou=groups,dc=test",
         "acme admin chiefs", "default admin chiefs", "lab user others",
         "down user lockers", "hang user lockers", "wrong user lockers",
         "tls user lockers", "plain user lockers", "bare user lockers")

ENTRIES = "".join([
    *(person(one) for one in ("ann", "bob", "carl", "dora", "eve", "gone",
                              "moved")),
    person("twin1", uid="twin"), person("twin2", "ou=others,ou=people", "twin"),
    group("lockers", "ann", "carl", "gone", "moved"),
    group("watchers", "ann", "bob", "moved"), group("chiefs", "carl"),
    group("others", "ann"), group("none", "dora")])


def authority(name, url, *more, ca="good/ca.pem"):
    """Its file."""
    lines = ["authority", "    type = ldap", f"    url = \"{url}\"",
             f"    base = \"ou=people,{BASE}\"",
             f"    group-base = \"ou=groups,{BASE}\"",
             f"    bind-dn = \"cn=search,{BASE}\"",
             f"    bind-password-file = \"{path('search-secret')}\"",
             *(f"    {one}" for one in more),
             *(f"    role = \"{one}\"" for one in ROLES)]
    if ca:
        lines.append(f"    ca = \"{path(ca)}\"")
    write(f"authorities/{name}.conf", "\n".join(lines) + "\n")


def make_zones(slapd, deaf):
    """Zones and authorities of the same names but for `acme`, `lab` and
    `default`, whose authority is `corp`."""
    encrypted = f"ldaps://127.0.0.1:{slapd.encrypted}"
    plain = f"ldap://127.0.0.1:{slapd.plain}"
    authority("corp", encrypted)
    authority("tls", plain, "start-tls = yes")
    authority("plain", plain, ca=None)
    authority("wrong", encrypted, ca="other/ca.pem")
    authority("hang", f"ldaps://127.0.0.1:{deaf.getsockname()[1]}")
    write("search-secret", "search-secret\n")
    zones = {"acme": "ttl=3600 renew=100000 authority=corp",
             "lab": "authority=corp", "default": "authority=corp",
             "nobody": "ttl=60", "away": "authority=corp",
             "off": "authority=absent"}
    zones.update({one: f"authority={one}" for one in
                  ("tls", "plain", "wrong", "hang")})
    desk = Desk(zones)
    for zone in zones:
        if zone != "away":
            desk.key(zone)
    desk.settings()
    return desk


def log_in(desk):
    """Users that are let in."""
    answer = desk.login("ann", "ann-secret")
    fields = answer[1]
    check("ldaps: the right password gives a credential",
          is_role(answer, "user"), answer)
    check("of that zone, user and key, for the zone's time, of its issuer",
          fields.get("zone") == "acme" and fields.get("user") == "ann"
          and fields.get("key") == KEY and fields.get("ttl") == "3600"
          and abs(int(fields.get("since", 0)) - time.time()) < 600
          and fields.get("issuer") == desk.keys["acme"], answer)
    check("the log tells of it",
          desk.logs("audit: login ok who=ann zone=acme from="))
    for zone, title in ("tls", "StartTLS does"), ("plain", "loopback does"):
        answer = desk.login("ann", "ann-secret", zone=zone)
        check(f"{title}, too", is_role(answer, "user"), answer)
    answer = desk.login("bob", "bob-secret")
    check("a group by its whole DN, written otherwise, gives a role",
          is_role(answer, "observer"), answer)
    answer = desk.login("carl", "carl-secret", zone="default")
    check("of several groups the highest role counts",
          is_role(answer, "admin"), answer)
    answer = desk.login("carl", "carl-secret", zone=None)
    check("without a zone it is that one", is_role(answer, "admin")
          and answer[1]["zone"] == "default", answer)
    answer = desk.login("carl", "carl-secret")
    check("an admin is an operator in all others",
          is_role(answer, "operator"), answer)


def refuse(desk):
    """Users that are not, all of them by the same words."""
    wrong = [
        ("a wrong password", "ann", "bob-secret", "acme", "wrong-password"),
        ("an empty one", "ann", "", "acme", "no-password"),
        ("none", "bob", None, "acme", "no-password"),
        ("a group without a role", "dora", "dora-secret", "acme", "no-role"),
        ("no group", "eve", "eve-secret", "acme", "no-role"),
        ("the role of another zone", "bob", "bob-secret", "lab", "no-role"),
        ("no such user", "zoe", "zoe-secret", "acme", "no-user"),
        ("two of that name", "twin", "twin1-secret", "acme", "several-users"),
        ("a zone without authority", "ann", "ann-secret", "nobody", "no-zone"),
        ("no such zone", "ann", "ann-secret", "nowhere", "no-zone"),
        ("no zone's name", "ann", "ann-secret", "a b", "no-zone"),
        ("`*` as user", "*", "ann-secret", "acme", "no-user"),
        ("`an*` as user", "an*", "ann-secret", "acme", "no-user"),
        ("a filter as user", "a)(uid=*", "ann-secret", "acme", "no-user"),
        ("half a filter as user", "ann)(cn=ann", "ann-secret", "acme",
         "no-user"),
        ("an escape as user", "\\61nn", "ann-secret", "acme", "no-user"),
        ("a user with a blank", "ann ", "ann-secret", "acme", "no-user"),
    ]
    serials = [(desk.say(user=user, password=password, zone=zone), title, why)
               for title, user, password, zone, why in wrong]
    answers = [(desk.answer(serial), title, why)
               for serial, title, why in serials]
    for answer, title, why in answers:
        check(f"{title} is refused", is_refused(answer)
              and answer[1] == answers[0][0][1]
              and desk.logs(f"why={why}"), answer)
    for user in "a)(uid=*", "an*":
        check("the log has it as it was said",
              f"who={user} zone=" in desk.logged())
    for zone in "away", "off":
        answer = desk.login("ann", "ann-secret", zone=zone)
        check("a zone that this host does not issue for is for another one",
              is_refused(answer, "unknown"), answer)


def has_to_wait(desk):
    """On a busy machine the second may be over: one more wrong one then."""
    answer = desk.login("Carl", "carl-secret", zone="acme")
    if is_refused(answer, "overloaded"):
        return int(answer[1].get("wait", 0)) >= 1
    for _ in range(3):
        desk.login("carl", "x")
    return False


def is_slowed(desk, network):
    """After three wrong ones of it; the second may be over likewise."""
    for user in "u1", "u2", "u3":
        desk.login(user, "x", address=f"2001:db8:0:{network}::{user[1]}")
    answer = desk.login("ann", "ann-secret",
                        address=f"2001:db8:0:{network}:5::9")
    return is_refused(answer, "overloaded")


def slow_down(desk):
    """Guesses of passwords."""
    answers = [desk.login("carl", "x") for _ in range(3)]
    check("three wrong ones are answered",
          all(is_refused(one) for one in answers), answers)
    check("after that the user has to wait, from any address",
          any(has_to_wait(desk) for _ in range(6)))
    answer = desk.login("ann", "ann-secret")
    check("others do not", is_role(answer, "user"), answer)
    check("and then it goes on", await_(lambda: is_role(
        desk.login("carl", "carl-secret"), "operator")))
    check("so has an address, and all of its network",
          any(is_slowed(desk, network) for network in range(6)))


def renew(desk, slapd):
    """Without a password, as long as the user has a role."""
    now = int(time.time())

    def ask(user, since, **more):
        return desk.answer(desk.say("RENEW", user=user, since=since, **more))

    answer = ask("moved", now - 5000)
    check("RENEW gives a credential, of the same log-in",
          is_role(answer, "user")
          and answer[1]["since"] == str(now - 5000), answer)
    for since, title in ((now - 100001, "too long ago"), (0, "never"),
                         (now + 9999, "tomorrow")):
        check(f"not if the log-in was {title}",
              is_refused(ask("ann", since)))
    check("not in a zone that is gone", is_refused(ask("ann", now,
                                                       zone="nowhere")))
    slapd.change("ldapmodify", text=(
        f"dn: cn=lockers,ou=groups,{BASE}\nchangetype: modify\n"
        f"delete: member\nmember: cn=moved,ou=people,{BASE}\n"))
    slapd.change("ldapdelete", f"cn=gone,ou=people,{BASE}")
    answer = ask("moved", now)
    check("who is in fewer groups has a lower role",
          is_role(answer, "observer"), answer)
    answer = ask("gone", now)
    check("who is gone is not renewed", is_refused(answer), answer)
    check("and the log tells of both", desk.logs("audit: renew ok")
          and desk.logs("audit: renew refused who=gone zone=acme"))


def fail(desk, slapd):
    """Servers that do not answer, or are others."""
    answer = desk.login("ann", "ann-secret", zone="wrong")
    check("a server whose certificate another one signed is none",
          is_refused(answer, "timedout")
          and desk.logs("does not answer zone=wrong"), answer)
    hung = [desk.say(user=f"hung{i}", password="x", zone="hang")
            for i in range(12)]
    answer = desk.login("ann", "ann-secret")
    late = [desk.has(one) for one in hung]
    check("a server that hangs holds up nobody of another one",
          is_role(answer, "user"), answer)
    check("(it did hang)", not any(late), late)
    answers = [desk.answer(one) for one in hung]
    check("its own are told when their time is over",
          all(is_refused(one, "timedout") for one in answers), answers)
    slapd.stop()
    answer = desk.login("ann", "ann-secret")
    check("no server, no log-in", is_refused(answer, "timedout"), answer)
    slapd.start()
    answer = desk.login("ann", "ann-secret")
    check("and when it is back it goes on", is_role(answer, "user"), answer)


def reload(desk):
    """Files and settings that change."""
    write("authorities/corp.conf", "authority\n    type = ldap\n    typ = 1\n")
    desk.tell("RELOAD")
    check("a mistake in a file is told with its line",
          desk.logs("corp.conf', line 3:"), desk.logged()[-600:])
    answer = desk.login("ann", "ann-secret")
    check("and what was there before goes on", is_role(answer, "user"), answer)
    os.unlink(path("authorities/corp.conf"))
    desk.tell("RELOAD")
    answer = desk.login("ann", "ann-secret")
    check("without the file there is no authority",
          is_refused(answer, "unknown"), answer)
    desk.settings(without=["plain"])
    desk.tell("SETTINGS")
    answer = desk.login("ann", "ann-secret", zone="plain")
    check("a key that the settings do not have signs nothing",
          is_refused(answer, "unknown")
          and desk.logs("issues nothing zone=plain: the settings do not have "
                        "its key"), answer)


def strangers(desk):
    """Senders that are no router."""
    for sender in "app@h1", "app@h2", "lock@h2", "routers@h1":
        command, fields = desk.answer(desk.say(sender=sender,
                                               password="ann-secret"), 5)
        check(f"{sender} may not say LOGIN",
              (command == "INVALID"
               and fields["reason"] == "that is not yours to say")
              or (sender == "lock@h2" and command == "NOTHING"), command)
    answer = desk.login("ann", "ann-secret", sender="router@h2")
    check("another host's router may", is_role(answer, "user"), answer)
    check("what it does not know it says so",
          desk.answer(desk.say("HELLO", sender="app@h1"))[0] == "UNKNOWN")
    answer = desk.login("ann", "ann-secret", key="nonsense")
    check("without a client's key there is nothing to sign",
          is_refused(answer, "invalid"), answer)


def main():
    """All of it, in one cluster of one."""
    certify("good")
    certify("other")
    deaf = socket.create_server(("127.0.0.1", 0), backlog=64)
    slapd = Slapd(ENTRIES, "good")
    desk = make_zones(slapd, deaf)
    desk.start()
    log_in(desk)
    strangers(desk)
    refuse(desk)
    slow_down(desk)
    renew(desk, slapd)
    fail(desk, slapd)
    reload(desk)
    logged = desk.logged()
    check("no password is in the log", "-secret" not in
          logged.replace("search-secret'", ""), logged)
    check("it ends well", desk.stop() == 0)
    done()


main()
