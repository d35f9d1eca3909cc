#   issuer_passwords.py - log-ins by a file of passwords
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Run by issuer_passwords.sh. The issuer is real; the router is a pipe. Tells
its cases as TAP."""

import os
import time

from issuer_fake import (DESK, PASSWORD_FILE, Desk, await_, check, done,
                         is_refused, is_role, path, run, write)


def enter(user, password, role):
    """Into the file; it replaces one of that name."""
    run(DESK, "user", PASSWORD_FILE, user, password, role)


def main():
    """All of it, in one cluster of one."""
    write("authorities/corp.conf",
          f"authority\n    type = passwords\n    file = \"{PASSWORD_FILE}\"\n")
    enter("ann", "ann-secret", "acme:operator")
    enter("bob", "bob-secret", "acme:user")
    desk = Desk({"acme": "renew=1000 authority=corp", "lab": "authority=corp",
                 "away": "authority=corp"})
    desk.key("acme")
    desk.key("lab")
    desk.start()
    answer = desk.login("ann", "ann-secret")
    check("without settings it is too early, which is in the log",
          is_refused(answer, "overloaded") and desk.logs("why=not-ready"),
          answer)
    desk.settings()
    desk.tell("SETTINGS")
    answer = desk.login("ann", "ann-secret")
    check("the right password gives a credential",
          is_role(answer, "operator"), answer)
    wrong = [desk.say(user=user, password=password, zone=zone)
             for user, password, zone in (
                 ("ann", "bob-secret", "acme"), ("ann", "", "acme"),
                 ("zoe", "ann-secret", "acme"), ("ann", "ann-secret", "none"),
                 ("bob", "bob-secret", "lab"))]
    answers = [desk.answer(one) for one in wrong]
    check("wrong zone, user, password: the same refusal", all(
        is_refused(one) and one == answers[0] for one in answers), answers)
    check("and each is in the log by what it was", all(
        desk.logs(f"why={why}") for why in
        ("wrong-password", "no-password", "no-user", "no-zone", "no-role")))
    with open(PASSWORD_FILE, encoding="utf-8") as file:
        lines = file.read()
    write("passwords", lines.replace(":operator ", ":operator,away:user "))
    answer = desk.login("ann", "ann-secret", zone="away")
    check("another one may issue for a zone", is_refused(answer, "unknown"),
          answer)
    begun = time.monotonic()
    answer = desk.login("ann", "ann-secret", zone="away", last="yes")
    check("if none does it is refused as a zone that is not there",
          answer == answers[0] and time.monotonic() - begun >= 0.95
          and desk.logs("why=no-issuer"), answer)
    many = [desk.login("ann", "x", zone="away", last="yes")
            for _ in range(3)][-1]
    check("and slowed likewise", is_refused(many, "overloaded"), many)
    enter("bob", "other-secret", "acme:observer")
    answer = desk.login("bob", "other-secret")
    check("the file is read each time", is_role(answer, "observer"), answer)
    since = int(time.time()) - 500
    answer = desk.answer(desk.say("RENEW", user="bob", since=since))
    check("RENEW needs no password", is_role(answer, "observer"), answer)
    answer = desk.answer(desk.say("RENEW", user="zoe", since=since))
    check("but a user that is there", is_refused(answer), answer)
    lines = desk.logged().count("refused who=bob ")
    many = [desk.say(user="bob", password="other-secret", zone="acme",
                     address="10.9.9.9") for _ in range(80)]
    answers = [desk.answer(one) for one in many]
    check("of many at once each is answered", all(
        is_role(one, "observer") or is_refused(one, "overloaded")
        for one in answers) and is_role(answers[0], "observer"), answers)
    check("and each refusal is in the log", await_(
        lambda: desk.logged().count("refused who=bob ")
        == lines + sum(is_refused(one, "overloaded") for one in answers)))
    os.chmod(PASSWORD_FILE, 0o644)
    answer = desk.login("ann", "ann-secret")
    check("a file that others can read counts for nothing",
          is_refused(answer, "timedout")
          and desk.logs("does not answer zone=acme: "), answer)
    check("no password is in the log", "-secret" not in desk.logged())
    check("it ends well", desk.stop() == 0)
    check("keys stay with their owner",
          os.stat(path("keys/acme.key")).st_mode & 0o77 == 0)
    done()


main()
