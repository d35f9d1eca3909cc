#   audit_rude.py - a machine that logs in, and then says nonsense
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Run by audit.sh: audit_rude.py FILE, a client file with a credential beside
it."""

import re
import sys

import zmq

from far_client import HANG_S, Client


def main(path):
    """A session, and a frame that is none."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path + ".credential", encoding="utf-8") as file:
        credential = file.read().strip()
    server, server_key = re.search('^ +server = "(.*) (.*)"', text,
                                   re.MULTILINE).groups()
    pair = [re.search(f'{kind}-key = "(.*)"', text).group(1)
            for kind in ("public", "secret")]
    one = Client(server, server_key, pair, "rude")
    one.socket.linger = HANG_S * 1000
    answer = one.enter(credential=credential)
    if not answer or answer.command != "READY":
        sys.exit(f"no session: {answer}")
    one.socket.send(b"nonsense")
    one.close()
    zmq.Context.instance().term()


main(sys.argv[1])
