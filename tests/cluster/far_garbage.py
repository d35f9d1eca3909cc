#   far_garbage.py - what other machines send that no program of ours says
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Run by far_garbage.sh, in a sandbox of one host. Tells its cases as TAP."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time

import zmq

from far_client import HANG_S, Client

WORK, LOCKKEEPER = os.environ["WORK"], os.environ["LOCKKEEPER"]
SERVER_KEY = os.environ["SERVER_KEY"]
SERVER = ("10.77.2.1", 7412)
CASES = {"count": int(os.environ["CASES"]), "bad": 0}
RATE, FLOOD_S, ROUNDS = 200, 2.0, 3
LOCKS = 4           # within a flood, at least
LEASE_MS = 20000   # wanted: it has as much as its host


def check(title, holds, told=""):
    """A case; what is not so tells what was there."""
    CASES["count"] += 1
    if holds:
        print(f"ok {CASES['count']} - {title}", flush=True)
        return
    CASES["bad"] += 1
    print(f"not ok {CASES['count']} - {title}\n# {told}", flush=True)


def await_(holds):
    """Whether it becomes so."""
    until = time.monotonic() + HANG_S
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


def pair(name):
    """Of a machine that the settings have."""
    with open(f"{WORK}/{name}", encoding="utf-8") as file:
        text = file.read()
    return tuple(re.search(f'{kind}-key = "(.*)"', text).group(1)
                 for kind in ("public", "secret"))


def stranger():
    """Keys that they do not have."""
    return tuple(key.decode() for key in zmq.curve_keypair())


def client(number, keys, name="one"):
    """A connection from 10.77.2.NUMBER."""
    return Client(f"tcp://10.77.2.{number}:0;{SERVER[0]}:{SERVER[1]}",
                  SERVER_KEY, keys, name)


def status():
    """The router's."""
    local = Client(f"ipc://{os.environ['LOCKKEEPER_SANDBOX']}/h1/router",
                   name=f"status-{os.getpid()}")
    local.enter(pid=os.getpid())
    local.say("ROUTERSTATUS", None, "router@.")
    body = local.await_("ROUTERSTATUS").body
    local.say("UNREGISTER", None, "router@.")
    local.close()
    return body


def offender(kind, name):
    """The row of one that is shut out."""
    return next((row for row in status().get("offenders", ())
                 if row.get(kind) == name), None)


def is_turned_away(number):
    """A connection from there is closed ahead of any word: whoever is taken is
    greeted."""
    with socket.create_connection(SERVER, HANG_S,
                                  (f"10.77.2.{number}", 0)) as one:
        try:
            return one.recv(10) == b""
        except ConnectionResetError:
            return True


#   ------------------------------------------------------------ keys


def nonsense(one):
    """A frame that cannot be read."""
    one.socket.send(b"nonsense", zmq.DONTWAIT)


def is_heard(one):
    """Its session goes on."""
    serial = one.say("ALIVE", None, "router@.")
    answer = one.await_("ABSOLUTELY", "INVALID", serial=serial)
    return answer is not None and answer.command == "ABSOLUTELY"


def is_back(number, keys):
    """A new connection is heard."""
    one = client(number, keys)
    answer = one.enter(wait_s=1)
    one.close()
    return answer is not None and answer.command == "READY"


def broken_frames(honest):
    """By a key of the settings: it alone is shut out."""
    keys = pair("broken")
    one, other = client(2, keys), client(2, keys, "other")
    check("one by a key that counts", one.enter() is not None)
    check("and another", other.enter() is not None)
    nonsense(one)
    check("sends a frame that is none: its key is shut out",
          await_(lambda: offender("key", keys[0])), status())
    row = offender("key", keys[0]) or {}
    check("for ten seconds", row.get("times") == 1
          and 0 < row.get("left_ms", 0) <= 10000, row)
    check("its address is not", not offender("address", "10.77.2.2"))
    check("its session is over", one.enter(wait_s=1) is None)
    check("a new connection is not heard", not is_back(2, keys))
    check("the other session is", is_heard(other))
    check("another machine's at that address is", is_back(2, pair("honest")))
    said = subprocess.run([LOCKKEEPER, "status"], stdout=subprocess.PIPE,
                          text=True, check=False).stdout
    check("status tells of it", "shuts out 1 keys or addresses" in
          " ".join(said.split()), said)
    one.close()
    check("then it may come again", await_(lambda: is_back(2, keys)))
    one = client(2, keys)
    one.enter()
    nonsense(one)
    await_(lambda: offender("key", keys[0]))
    row = offender("key", keys[0]) or {}
    check("the second time for twice as long", row.get("times") == 2
          and 10000 < row.get("left_ms", 0) <= 20000, row)
    one.close()
    other.close()
    check("an honest one hears nothing of it", is_heard(honest))


def messages(honest):
    """Three that make no sense."""
    for name, says in (
            ("lies", lambda one: one.say("LOCK", {}, sender="lock@h1")),
            ("unknown", lambda one: one.say("NONSENSE", {}, "router@."))):
        keys = pair(name)
        one = client(3, keys)
        one.enter()
        says(one)
        says(one)
        serial = one.say("ALIVE", None, "router@.")
        check(f"two messages ({name}) are answered",
              one.await_("ABSOLUTELY", serial=serial) is not None)
        check("and not more", not offender("key", keys[0]))
        for _ in range(200):
            says(one)
        check("a third one shuts out", await_(
            lambda key=keys[0]: offender("key", key)))
        one.close()
    check("an honest one hears nothing of it", is_heard(honest))


#   ------------------------------------------------------------ addresses


def strangers():
    """A key that costs nothing takes its address along."""
    one = client(4, stranger(), "far-x")
    serial = one.say("SERVERS", None, "router@.")
    check("a stranger is told the servers",
          one.await_("SERVERS", serial=serial) is not None)
    check("its address is taken", not is_turned_away(4))
    nonsense(one)
    check("garbage shuts the address out",
          await_(lambda: offender("address", "10.77.2.4")))
    check("which is turned away ahead of any word",
          await_(lambda: is_turned_away(4)))
    check("no other address is", not is_turned_away(5))
    one.close()
    check("then it may come again", await_(lambda: not is_turned_away(4)))
    two = client(6, stranger(), "far-x")

    def hurries():
        for _ in range(30):
            two.say("SERVERS", None, "router@.")
        return offender("address", "10.77.2.6")
    check("nor may it hurry", await_(hurries))
    two.close()


def bad_handshake(number):
    """Something else than we speak."""
    with socket.socket() as one:
        try:
            one.bind((f"10.77.2.{number}", 0))
            one.settimeout(HANG_S)
            one.connect(SERVER)
            one.sendall(b"GET / HTTP/1.1\r\n\r\n")
        except OSError:
            pass  # it was hung up on


def handshakes(honest):
    """Ten that go nowhere."""
    def are_too_many():
        bad_handshake(7)
        return offender("address", "10.77.2.7")
    check("handshakes that go nowhere shut an address out",
          await_(are_too_many))
    check("which is turned away", await_(lambda: is_turned_away(7)))
    check("an honest one hears nothing of it", is_heard(honest))
    keys = pair("honest")
    for i in range(15):
        one = client(8, keys, f"c{i}")
        one.enter()
        one.close()
    check("those that go well do not", not is_turned_away(8))


#   ------------------------------------------------------------ beside it


def latencies(honest, seconds):
    """Of some locks at least, sorted; and what was no lock."""
    times, until, leased = [], time.monotonic() + seconds, 0
    while time.monotonic() < until or len(times) < LOCKS:
        began = time.monotonic()
        answer = honest.lock("beside")
        if not answer or answer.command != "LOCKED":
            return sorted(times), answer
        times.append(time.monotonic() - began)
        honest.unlock(answer.serial)
        if leased < began - 1:
            leased = began
            honest.lease()
    return sorted(times), None


def flood():
    """So many a second, of thirty addresses, until its input ends: half of them
    handshakes, half of them messages of strangers. Says how many."""
    over = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), over.set()),
                     daemon=True).start()
    began, count, there = time.monotonic(), 0, []
    while not over.is_set():
        if count < RATE * (time.monotonic() - began):
            count += 1
            number = 10 + count % 30
            if count % 2:
                bad_handshake(number)
            else:
                there.append(client(number, stranger(), "far-x"))
                nonsense(there[-1])
            if len(there) > 100:
                there.pop(0).close()
        else:
            time.sleep(0.001)
    print(count / (time.monotonic() - began), flush=True)
    os._exit(0)


def beside(honest):
    """Its cost for others."""
    honest.register(lease=LEASE_MS)
    for turn in range(ROUNDS):
        for is_flood in (False, True):
            other = subprocess.Popen(
                [sys.executable, __file__, "flood" if is_flood else "none"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            times, failed = latencies(honest, FLOOD_S)
            rate = float(other.communicate()[0])
            check(f"locks go on ({turn + 1})",
                  not failed and len(times) >= LOCKS, failed)
            if times:
                print(f"# LOCK beside {rate:.0f} bad ones a second: median "
                      f"{1000 * times[len(times) // 2]:.2f} ms, 99 in 100 "
                      f"{1000 * times[len(times) * 99 // 100]:.2f} ms, of "
                      f"{len(times)}", flush=True)
    honest.ask("LOCKGOODBYE")
    told = status()
    check("it is counted", told["shut_outs"] > 10 and told["shut_out"] > 0,
          json.dumps(told))


def main():
    """All of it."""
    honest = client(9, pair("honest"), "honest")
    check("an honest one", honest.enter() is not None)
    broken_frames(honest)
    messages(honest)
    strangers()
    handshakes(honest)
    beside(honest)
    honest.close()
    return CASES["bad"] > 0


if sys.argv[1:] == ["flood"]:
    flood()
elif sys.argv[1:] == ["none"]:
    print(0)
else:
    sys.exit(main())
