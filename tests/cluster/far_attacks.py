#   far_attacks.py - who attacks the port of applications on other machines
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Run by far.sh behind far_scenes.py, on the same hosts. Tells its cases as TAP;
$ROUTER is the process of h1's router."""

import os
import socket
import subprocess
import sys
import threading
import time

from far_flood import flood
from far_scenes import (CASES, LOCKKEEPER, NET, await_, check, client, endpoint,
                        entered, hears, pair, run, server_key)
from far_client import HANG_S, Client

ROUTER = int(os.environ["ROUTER"])
KEYS = pair()
RATE, FLOOD_S = 200, 1.5
LEASE_MS = 20000   # wanted: it has as much as its host
LINES_A_MINUTE = 32
LOCKS = 6           # within a flood


def descriptors():
    """That the router has open."""
    return len(os.listdir(f"/proc/{ROUTER}/fd"))


def memory_kib():
    """That it has."""
    with open(f"/proc/{ROUTER}/status", encoding="utf-8") as status:
        return int(next(line for line in status
                        if line.startswith("VmRSS")).split()[1])


def logged_refusals():
    """Lines of the router's log."""
    with open(f"{os.environ['WORK']}/h1/router.log", encoding="utf-8") as log:
        return sum("clients: refused" in line for line in log)


#   ------------------------------------------------------------ floods


def floods():
    """Connections of nobody cost others little, and leave nothing."""
    one = entered(keys=KEYS, name="floods", lease=LEASE_MS)
    refused = logged_refusals()
    place, key = (f"{NET}.1", 7412), server_key("h1")
    before, kib = descriptors(), memory_kib()
    for kind in ("half", "curve"):
        said, times, failed = [], [], []

        def is_wanted(times=times, failed=failed):
            return not failed and len(times) < LOCKS

        thread = threading.Thread(target=lambda kind=kind: said.append(
            flood(kind, place, key, RATE, FLOOD_S, is_wanted)))
        thread.start()
        while thread.is_alive():
            began = time.monotonic()
            answer = one.lock("flood")
            if not answer or answer.command != "LOCKED":
                failed.append(answer)
                break
            times.append(time.monotonic() - began)
            one.unlock(answer.serial)
            one.lease()
        thread.join()
        count, heard = said[0]
        times.sort()
        print(f"# {kind}: {count} connections, a lock in "
              f"{1000 * times[len(times) // 2] if times else 0:.1f} ms",
              flush=True)
        check(f"{kind}: a flood of them", count > RATE * FLOOD_S * 0.5, count)
        check(f"{kind}: none is heard", heard == 0, heard)
        check(f"{kind}: locks go on", not failed and len(times) >= LOCKS,
              (failed, times))
    check("no descriptor is left of them", await_(
        lambda: descriptors() <= before + 2), (before, descriptors()))
    check("and little memory", memory_kib() < kib + 16384,
          (kib, memory_kib()))
    hears("who was there is there", one.lease(), "LOCKLEASE")
    lines = logged_refusals() - refused
    check("which fill no log", lines <= 2 * LINES_A_MINUTE, lines)
    one.ask("LOCKGOODBYE")
    one.close()


#   ------------------------------------------------------------ replay


class Tap:
    """Between a client and h1: notes what it says."""

    def __init__(self):
        self.said = b""
        self.listener = socket.create_server((f"{NET}.101", 7412))
        threading.Thread(target=self.join, daemon=True).start()

    def join(self):
        """One connection."""
        ours = self.listener.accept()[0]
        theirs = socket.create_connection((f"{NET}.1", 7412))
        threading.Thread(target=self.pump, args=(theirs, ours, False),
                         daemon=True).start()
        self.pump(ours, theirs, True)

    def pump(self, source, to, is_noted):
        """One direction."""
        try:
            while data := source.recv(65536):
                if is_noted:
                    self.said += data
                to.sendall(data)
        except OSError:
            pass
        for one in (source, to):
            one.close()


def say_again(said, size=None):
    """These bytes, at once or in pieces; until it is hung up on."""
    with socket.create_connection((f"{NET}.1", 7412)) as thief:
        thief.settimeout(HANG_S)
        try:
            for i in range(0, len(said), size or len(said)):
                thief.sendall(said[i:i + (size or len(said))])
                time.sleep(0.01)
            while thief.recv(65536):
                pass
        except ConnectionError:
            pass
        except TimeoutError:
            return False
    return True


def replay():
    """Recorded bytes are of no use."""
    tap = Tap()
    one = Client(f"tcp://{NET}.101:7412", server_key("h1"), KEYS, "recorded")
    hears("a session that is recorded", one.enter(), "READY")
    one.register(lease=LEASE_MS)
    held = hears("holds a lock", one.lock("recorded"), "LOCKED")
    given = hears("and another", one.lock("given"), "LOCKED")
    hears("that it gives back", one.unlock(given.serial), "UNLOCKED")
    said = tap.said
    check("all of it", len(said) > 1000, len(said))
    for title, size in (("at once", None), ("in pieces", 64)):
        check(f"its bytes {title} are hung up on", say_again(said, size))
    code, listed = run("h1", "list")
    check("nothing comes of them", code == 0 and "recorded" in listed
          and "given" not in listed, listed)
    hears("who was recorded is there", one.lease(), "LOCKLEASE")
    hears("with its lock", one.unlock(held.serial), "UNLOCKED")
    one.ask("LOCKGOODBYE")
    one.close()


#   ------------------------------------------------------------ stolen files


def stolen_public():
    """The public keys prove nothing."""
    wrong = Client(endpoint("h1"), server_key("h1"), (KEYS[0], pair()[1]))
    check("a public key without its secret is not heard",
          wrong.enter(wait_s=1) is None)
    wrong.close()
    path = f"{os.environ['WORK']}/stolen"
    with open(path, "w", encoding="utf-8", opener=lambda name, flags: os.open(
            name, flags, 0o600)) as stolen:
        stolen.write(f'client\n    public-key = "{KEYS[0]}"\n    server = '
                     f'"{endpoint("h1")} {server_key("h1")}"\n')
    done = subprocess.run([LOCKKEEPER, "--client", path, "run", "x", "--",
                           "true"], stderr=subprocess.PIPE, text=True,
                          check=False)
    check("nor is a file without it a client's", done.returncode == 125
          and "client/secret-key" in done.stderr, done)


def stolen_secret():
    """The same key elsewhere is the same machine; not the same process."""
    one = entered(keys=KEYS, name="owner")
    held = hears("one holds a lock", one.lock("owned"), "LOCKED")
    thief = client(keys=KEYS, name="thief")
    hears("a copy of its file comes in", thief.enter(), "READY")
    thief.register()
    mine = dict(thief.registered)
    thief.registered = dict(one.registered)
    hears("but not into its registration", thief.lease(), "LOCKUNREGISTERED")
    hears("which goes on", one.lease(), "LOCKLEASE")
    hears("nor has it that lock", thief.unlock(held.serial),
          "LOCKUNREGISTERED")
    thief.ask("LOCKGOODBYE")
    thief.registered = mine
    thief.register(2)
    thief.ask("LOCK", serial=held.serial, object="owned", type="exclusive",
              wait=-1, pid=4711, again=True, left=4000,
              token=held.text("token"), key=held.text("key"))
    hears("which goes on", one.lease(), "LOCKLEASE")
    hears("it cannot claim it, whatever it knows",
          thief.await_("LOCKED", "LOCKFAILED", "UNLOCKED"), "UNLOCKED",
          request=held.serial, error="lost")
    serial = thief.ask("UNLOCK", request=held.serial, object="owned")
    thief.await_("UNLOCKED", "LOCKFAILED", serial=serial)
    hears("nor give it back", one.lease(), "LOCKLEASE")
    code, said = run("h2", "run", "owned", "--wait", "0", "--", "true")
    check("and is held", code != 0, said)
    hears("its owner gives it back", one.unlock(held.serial), "UNLOCKED")
    for each in (one, thief):
        each.ask("LOCKGOODBYE")
        each.close()


def main():
    """All of it."""
    code, said = run("h1", "clients", "add", "m3", KEYS[0])
    check("a client is added", code == 0, said)
    await_(lambda: client(keys=KEYS).enter(wait_s=1) is not None)
    stolen_public()
    stolen_secret()
    replay()
    floods()
    return CASES["bad"] > 0


sys.exit(main())
