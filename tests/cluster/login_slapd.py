#   login_slapd.py - an LDAP server for tests in shell
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Run by login_tap.sh with names of users, all of them of the group `lockers`
but `dora`. Says its two ports and its folder, then does what lines say: `gone
USER`. Ends at the end of its input."""

import signal
import sys

from issuer_slapd import BASE, Slapd, certify, group, path, person, write


def leave(*_):
    """At the end of the test, which may say so twice."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit()


def main(users):
    """Until nobody wants it any more."""
    signal.signal(signal.SIGTERM, leave)
    certify("good")
    write("search-secret", "search-secret\n")
    members = [user for user in users if user != "dora"]
    slapd = Slapd("".join([*map(person, users), group("lockers", *members)]),
                  "good")
    print(slapd.encrypted, path(), flush=True)
    for line in sys.stdin:
        slapd.change("ldapdelete", f"cn={line.split()[1]},ou=people,{BASE}")
        print("done", flush=True)


main(sys.argv[1:])
