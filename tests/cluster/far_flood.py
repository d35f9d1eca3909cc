#   far_flood.py - connections of somebody who has no key that counts
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Usage: far_flood.py half|curve HOST PORT SERVER_KEY RATE SECONDS. So many
connections a second to a port of applications on other machines: `half` says
half a greeting and no more, `curve` knows the server's key, and has a new key
of its own each time. Says how many there were, and how many were let in."""

import socket
import sys
import time

import zmq

STAYS_S = 1.0  # so long one is not closed by us


def half(place, _key):
    """A descriptor; nothing is closed before its time."""
    one = socket.socket()
    one.setblocking(False)
    one.connect_ex((place[0], int(place[1])))
    return one


def say_half(one):
    """Half of what begins each connection of ZeroMQ."""
    try:
        one.send(b"\xff\0\0\0\0")
    except OSError:
        pass  # it is not there yet, or not any more
    return False


def curve(place, key):
    """Keys that nobody knows."""
    one = zmq.Context.instance().socket(zmq.DEALER)
    one.linger = 0
    one.reconnect_ivl = -1
    one.curve_serverkey = key.encode()
    one.curve_publickey, one.curve_secretkey = zmq.curve_keypair()
    one.connect("tcp://%s:%s" % place)
    one.send(b"x")
    return one


def was_heard(one):
    """It is not: whoever is let in hears that this makes no sense."""
    return one.poll(0) != 0


def flood(kind, place, key, rate, seconds, is_wanted=lambda: False):
    """How many there were, and how many were heard. It lasts for that time, and
    on as long as it is wanted."""
    begin, look = {"half": (half, say_half), "curve": (curve, was_heard)}[kind]
    began = time.monotonic()
    there, count, heard, said = [], 0, 0, 0
    while time.monotonic() < began + seconds or is_wanted():
        now = time.monotonic()
        while count < rate * (now - began):
            there.append((now, begin(place, key)))
            count += 1
        if kind == "half":
            while said < len(there) and there[said][0] < now - STAYS_S / 10:
                look(there[said][1])
                said += 1
        while there and there[0][0] < now - STAYS_S:
            one = there.pop(0)[1]
            said -= 1
            heard += look(one)
            one.close()
        time.sleep(0.002)
    for _, one in there:
        heard += look(one)
        one.close()
    return count, heard


def main(kind, host, port, key, rate, seconds):
    """Exit code 1: somebody was heard."""
    count, heard = flood(kind, (host, port), key, float(rate), float(seconds))
    print(f"connections {count} heard {heard}")
    return heard > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:7]))
