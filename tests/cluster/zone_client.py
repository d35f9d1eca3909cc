#   zone_client.py - sessions of zones, with the Python module
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Run by cli_zone_client.sh: client files of people in the folder."""

import sys

import lockkeeper
from lockkeeper import errors

WORK = sys.argv[1]


def session(user, **options):
    """By that one's file."""
    return lockkeeper.Session(client=f"{WORK}/{user}", name="zoned", **options)


def refused(error, text, call):
    """That it is, and why."""
    try:
        call()
    except error as problem:
        assert text in str(problem), problem
        return
    raise AssertionError(f"not refused: {text}")


def main():
    """All of it."""
    with session("ann") as ann:
        refused(errors.Overloaded, "the zone may have 3 locks",
                lambda: ann.lock_all(["a", "b", "c", "d"]).acquire())
        refused(errors.Denied, "that needs the role operator, you are user",
                lambda: ann.force("held", reason="why", timeout=60))
        with ann.lock("mine", timeout=60) as lock:
            assert ann.check("mine", lock.token).held
            tickets = ann.list()
            assert ["mine"] == [ticket.name for ticket in tickets], tickets
            assert tickets[0].host == "" and tickets[0].state == "held"
        events = list(ann.history())
        assert "mine" in [event.name for event in events], events
    with session("eve") as eve:
        refused(errors.Denied, "that needs the role user, you are observer",
                lambda: eve.lock("mine").acquire(timeout=60))
    refused(errors.LockkeeperError, "the zone may have 1 sessions",
            lambda: session("sam", connect_timeout=2))


if __name__ == "__main__":
    main()
