#   zones_local.py - a process of this host, that says what it is told to
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Run by zones_table.py; becomes another user, who need not be able to read
this file. A line of its input is [SERVICE, COMMAND, BODY], and one of its
output [COMMAND, BODY]: the answer."""

import json
import os
import sys

import far_client
from far_client import Client


NOBODY = 65534


def main():
    """Until the end of the input."""
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    one = Client(sys.argv[1], name=f"zones-{os.getpid()}")
    for line in sys.stdin:
        service, command, body = json.loads(line)
        if command == "REGISTER":
            answer = one.enter(pid=os.getpid())
        else:
            serial = one.say(command, body, f"{service}@.")
            answer = one.hear(far_client.HANG_S)
            while answer and answer.serial != serial:
                answer = one.hear(far_client.HANG_S)
        print(json.dumps(answer and [answer.command, answer.body]),
              flush=True)


if __name__ == "__main__":
    main()
