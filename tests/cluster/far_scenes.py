#   far_scenes.py - what an application on another machine may say, and not
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Run by far.sh, whose hosts h1 and h2 serve. Tells its cases as TAP."""

import os
import re
import socket
import subprocess
import sys
import time

import zmq

from far_client import HANG_S, Client

WORK, NET = os.environ["WORK"], os.environ["NET"]
LOCKKEEPER = os.environ["LOCKKEEPER"]
CASES = {"count": int(os.environ["CASES"]), "bad": 0}


def check(title, holds, told=""):
    """A case; what is not so tells what was there."""
    CASES["count"] += 1
    if holds:
        print(f"ok {CASES['count']} - {title}", flush=True)
        return
    CASES["bad"] += 1
    print(f"not ok {CASES['count']} - {title}\n# {told}", flush=True)


def hears(title, answer, command, **fields):
    """The answer is that, with these fields."""
    body = (answer.body or {}) if answer else {}
    check(title, answer is not None and answer.command == command
          and all(body.get(name) == value for name, value in fields.items()),
          answer)
    return answer


def refused(title, answer, reason, command="INVALID"):
    """It is not taken, and why."""
    text = answer and (answer.text("reason") or answer.text("text"))
    check(title, answer is not None and answer.command == command
          and reason in text, answer)


def at(host, *arguments, **more):
    """lockkeeper, as on that host."""
    return dict({"args": [LOCKKEEPER, *arguments], "env": dict(
        os.environ, LOCKKEEPER_ENDPOINT=f"ipc://{WORK}/{host}/router")},
        **more)


def run(host, *arguments):
    """The same until its end: its exit code, and all it said."""
    done = subprocess.run(**at(host, *arguments), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def await_(holds, hang_s=HANG_S):
    """Whether it becomes so."""
    until = time.monotonic() + hang_s
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def logged(host, text):
    """Whether its router says so."""
    with open(f"{WORK}/{host}/router.log", encoding="utf-8") as log:
        return text in log.read()


def endpoint(host):
    """Its port."""
    return f"tcp://{NET}.{host[1:]}:7412"


def server_key(host):
    """By which it is known."""
    with open(f"{WORK}/{host}/state/clients-keys", encoding="utf-8") as keys:
        return re.search(r'public-key = "(.*)"', keys.read()).group(1)


def pair():
    """One of one's own."""
    public = b"-"   # would be an option of `lockkeeper clients add`
    while public.startswith(b"-"):
        public, secret = zmq.curve_keypair()
    return public.decode(), secret.decode()


M1, M2, OTHER = pair(), pair(), pair()


def client(host="h1", keys=M1, name="one"):
    """A connection by these keys."""
    return Client(endpoint(host), server_key(host), keys, name)


def entered(host="h1", keys=M1, name="one", number=1, lease=5000):
    """The same, registered with router and lock service."""
    one = client(host, keys, name)
    one.enter()
    one.register(number, lease)
    return one


#   ------------------------------------------------------------ the door


def without_keys():
    """Whoever cannot be known does not come in."""
    def is_mute():
        """One more; whether that is logged. Sometimes it hangs up first."""
        check("in clear nobody is heard", Client(
            endpoint("h1"), name="far-x").enter(wait_s=0.5) is None)
        return logged("h1", "clients: refused: it does not know our key")
    check("which is logged", await_(is_mute))
    plain = Client(endpoint("h1"), name="far-x")
    plain.socket.plain_username = b"m1"
    plain.socket.plain_password = b"x"
    plain.socket.connect(endpoint("h1"))
    check("nor by a password", plain.enter(wait_s=1) is None)
    wrong = Client(endpoint("h1"), server_key("h2"), M1)
    check("nor who takes it for another host", wrong.enter(wait_s=1) is None)
    check("nor by a key that the settings lack",
          client().enter(wait_s=1) is None)
    check("which is logged, with the key", await_(
        lambda: logged("h1", f"the settings do not have its key {M1[0]}")))
    with socket.create_connection((f"{NET}.1", 7412)) as silent:
        silent.settimeout(HANG_S)
        said = b"x"
        try:
            while said:
                said = silent.recv(1000)
        except ConnectionResetError:
            said = b""
        check("who says nothing is hung up on", said == b"")


def clients_command():
    """Keys come into the settings."""
    code, said = run("h1", "clients", "add", "m1", M1[0])
    check("a client is added", code == 0, said)
    for host in ("h1", "h2"):
        check(f"it is told how to find {host}",
              f"    server = \"tcp://{NET}.{host[1:]}:7412 {server_key(host)}\"\n"
              in said, said)
    code, said = run("h1", "clients", "add", "m1", M1[0])
    check("which may be said again",
          code == 0 and "has that key already" in said, said)
    code, said = run("h1", "clients", "add", "m3", M1[0])
    check("not by another name",
          code == 1 and "client 'm1' has that key already" in said, said)
    code, said = run("h1", "clients", "add", "m2", "short")
    check("no key", code == 125 and "is no public key" in said, said)
    code, said = run("h2", "clients", "add", "m2", M2[0])
    check("another one, elsewhere", code == 0, said)
    code, said = run("h1", "clients", "list")
    check("both are listed", code == 0 and re.search(
        f"^client +m1 +{re.escape(M1[0])} 0$", said, re.M) and re.search(
        f"^client +m2 +{re.escape(M2[0])} 0$", said, re.M), said)


def names():
    """A name is of the key."""
    one = client()
    hears("a name of its own", one.enter(), "READY", host="h1")
    hears("once more", one.enter(), "READY")
    liar = client(name="two")
    mine = liar.name
    for name in ("backup", "lock", one.name_of("").rstrip("-"),
                 "far-0000000000000000-x"):
        refused(f"not as {name}", liar.enter(name), "your name is to be",
                "REFUSE")
    refused("nor as the router", liar.enter("router"), "is the router's",
            "REFUSE")
    refused("nor as a service", liar.enter(mine, application=False),
            "an application only", "REFUSE")
    thief = client(keys=M2)
    refused("not by another's name", thief.enter(one.name),
            "your name is to be", "REFUSE")
    hears("who was there is there", one.enter(), "READY")
    heir = client()
    hears("by the same key it takes over", heir.enter(), "READY")
    one.kept.clear()
    one.say("LOCKSTATUS", {}, sender=heir.address)
    refused("the former connection has none of it", one.hear(),
            "register first")
    heir.close()
    local = Client(f"ipc://{WORK}/h1/router", name="x")
    refused("nor a process of the host", local.enter(
        "far-0000000000000000-x", pid=os.getpid()),
        "are for other machines", "REFUSE")


def what_may_be_said():
    """To the own router little, and to lock services."""
    one = client()
    one.say("LOCKSTATUS", {})
    refused("not ahead of REGISTER", one.await_("INVALID"), "register first")
    one.enter()
    for command in ("STOP", "SHUTDOWN", "LOG", "KEYS", "INVITE", "ROTATEKEYS",
                    "CLIENTKEYS", "HOSTKEYS", "FORGET", "RELOADCONFIG",
                    "ROUTERSTATUS", "CONNECT", "ENROL", "CLUSTER"):
        serial = one.say(command, {}, "router@.")
        refused(f"not {command}", one.await_("INVALID", serial=serial),
                "not yours to say")
    for to in ("router@h2", "greeter@.", "backup@h2", one.address):
        one.say("LOCKSTATUS", {}, to)
        refused(f"not to {to}", one.hear(), "that is not yours to say")
    for to in ("router@*", "lock@*", "*@*", "*@."):
        one.say("LOCKSTATUS", {}, to)
    serial = one.say("ALIVE", None, "router@.")
    check("nor to all, which is not answered",
          one.hear().serial == serial)
    one.say("LOCKSTATUS", {}, sender="backup@h1")
    refused("not as somebody else", one.await_("INVALID"), "is not yours")
    one.say("ALIVE", None, "router@.")
    hears("but ALIVE", one.await_("ABSOLUTELY", "INVALID"), "ABSOLUTELY")
    one.say("SERVICESTATUS", {"service": one.name}, "router@.")
    hears("its own STATUS has its key", one.await_("STATUS"), "STATUS",
          status="up", key=M1[0], client="m1", application=True)
    for host in ("h1", "h2"):
        one.say("LOCKSTATUS", {}, f"lock@{host}")
        hears(f"the lock service of {host}",
              one.await_("LOCKREADY", "INVALID"), "LOCKREADY")
    for command, body in (("LOCKSETTINGS", {}), ("LOCKRECOVER", {}),
                          ("LOCKMEMBERS", {"remove": "h2"})):
        for host in ("h1", "h2"):
            serial = one.say(command, body, f"lock@{host}")
            hears(f"not {command} to {host}",
                  one.await_(command, "LOCKFAILED", serial=serial),
                  "LOCKFAILED", error="denied",
                  text="that is for hosts of the cluster")
    serial = one.say("LOCKMEMBERS", {})
    hears("but who is a member", one.await_("LOCKMEMBERS", serial=serial),
          "LOCKMEMBERS")
    code, said = run("h1", "status", "--json")
    check("status tells of it to programs", code == 0 and re.search(
        r'"clients": ?[1-9]', said), said)
    code, said = run("h1", "status")
    check("and to people", code == 0 and re.search(
        "^clients +[1-9][0-9]* on other machines, 0 registered for locks, by "
        + re.escape(f"{NET}.1:7412"), said, re.M), said)
    check("and by its key", await_(lambda: re.search(
        f"^client +m1 +{re.escape(M1[0])} 1$",
        run("h2", "clients", "list")[1], re.M)))
    one.register()
    check("and once it may have locks", await_(
        lambda: ", 1 registered for locks, by" in run("h1", "status")[1]))
    one.close()


#   ------------------------------------------------------------ locks


def fields_of_requests():
    """What makes no sense is answered."""
    one = entered(name="fields")
    for title, command, fields, problem in (
            ("no registration", "LOCK", {"registration": None},
             "the field 'registration' is missing"),
            ("nothing drawn", "LOCK", {"drawn": None},
             "the field 'drawn' is missing"),
            ("no clock", "LOCKLEASE", {}, "the field 'sent' is missing"),
            ("no time left", "LOCK", {"token": "0" * 15 + "1", "again": True,
                                      "key": "0" * 15 + "1"},
             "the field 'left' is missing, and 'token' is there"),
            ("a lease of the host", "LOCK", {"lease_until": 5},
             "the field 'lease_until' is for applications of this host")):
        body = dict(one.registered, object="x", **fields) \
            if command == "LOCK" else dict(one.registered)
        body = {name: value for name, value in dict(
            body, **fields).items() if value is not None}
        serial = one.say(command, body)
        hears(f"{command} with {title}",
              one.await_("LOCKFAILED", "LOCKED", "LOCKLEASE", serial=serial),
              "LOCKFAILED", error="invalid", text=problem)
    one.say("LOCKREGISTER", {"registration": 2, "sent": 1, "lease": 5000})
    hears("no secret", one.await_("LOCKREGISTER", "LOCKFAILED"), "LOCKFAILED",
          text="the field 'secret' is missing")
    one.registered = dict(one.registered, drawn="0123456789abcdef")
    hears("another registration", one.lease(), "LOCKUNREGISTERED",
          **one.registered)
    hears("and no lock of it", one.lock("x"), "LOCKUNREGISTERED")
    one.close()


def locked():
    """A lock of one on another machine, and whose turn it is then."""
    one = client(name="locks")
    one.enter()
    answer = hears("registers", one.register(), "LOCKREGISTER",
                   registration=1, lease=8000)
    hears("again", one.register(), "LOCKREGISTER",
          drawn=answer.text("drawn"))
    hears("a lease", one.lease(), "LOCKLEASE", left=5000, **one.registered)
    answer = hears("a lock", one.lock("one"), "LOCKED", left=-1,
                   type="exclusive", **one.registered)
    check("without what is of a host", not {"session", "lease_until", "lease",
          "lease_page", "until"} & set(answer.body), answer)
    code, said = run("h2", "list", "--object", "one")
    check("all see it", f"{one.name}" in said, said)
    code, said = run("h2", "lock", "one", "--wait", "0")
    check("nobody else has it", code != 0, said)
    hears("which goes on", one.lease(), "LOCKLEASE")
    hears("given back", one.unlock(answer.serial), "UNLOCKED",
          **one.registered)
    answer = hears("with a duration", one.lock("one", duration=30000),
                   "LOCKED", **one.registered)
    check("of which most is left", 25000 < answer.number("left") <= 30000,
          answer)
    check("after a time that it told", answer.number("as_of") in one.clocks,
          answer)
    spy = entered(keys=M2, name="spy")
    spy.registered = dict(one.registered)
    hears("its registration is nobody else's", spy.unlock(answer.serial),
          "LOCKUNREGISTERED")
    spy.close()
    waiter = subprocess.Popen(**at("h2", "run", "one", "--", "echo", "mine"),
                              stdout=subprocess.PIPE)
    check("one of a host waits", await_(lambda: one.lease() and "waiting" in
                                        run("h1", "list", "--object",
                                            "one")[1]))
    hears("it is held all the time", one.lease(), "LOCKLEASE")
    one.ask("LOCKGOODBYE")
    began = time.monotonic()
    waiter.communicate()
    check("frees at once", waiter.returncode == 0
          and time.monotonic() - began < 3, time.monotonic() - began)
    hears("and is the end", one.lease(), "LOCKUNREGISTERED")
    one.close()


def silence():
    """Nobody sees it end."""
    one = entered(name="silent", lease=2000)
    hears("holds a lock", one.lock("two"), "LOCKED")
    hears("by a lease", one.lease(), "LOCKLEASE", left=2000)
    began = time.monotonic()
    one.close()
    waiter = subprocess.run(**at("h1", "run", "two", "--", "true"),
                            check=False)
    took = time.monotonic() - began
    check("a connection that is closed ends nothing, silence does",
          waiter.returncode == 0 and took > 2, took)
    again = client(name="silent")
    again.enter()
    again.registered = one.registered
    hears("which it hears when it comes", again.lease(), "LOCKUNREGISTERED")
    again.close()


def moves():
    """To another server, with its lock."""
    one = entered(name="moves", lease=5000)
    held = hears("holds at one", one.lock("three"), "LOCKED")
    hears("by a lease", one.lease(), "LOCKLEASE")
    two = client("h2", name="moves")
    two.secret = one.secret
    two.serial = 1000
    two.enter()
    hears("registers at another", two.register(2), "LOCKREGISTER")
    two.ask("LOCK", serial=held.serial, object="three", type="exclusive",
            wait=-1, pid=4711, again=True, left=4000,
            token=held.text("token"), key=held.text("key"))
    hears("which takes over the lock",
          two.await_("LOCKED", "LOCKFAILED", serial=held.serial), "LOCKED",
          token=held.text("token"), **two.registered)
    one.close()
    two.close()


def main():
    """All of it."""
    without_keys()
    clients_command()
    names()
    what_may_be_said()
    fields_of_requests()
    locked()
    silence()
    moves()
    withdrawn()
    return CASES["bad"] > 0


def withdrawn():
    """A key that is gone."""
    one = entered(name="gone")
    other = entered(keys=M2, name="stays")
    hears("holds a lock", one.lock("four"), "LOCKED")
    code, said = run("h2", "clients", "remove", "m1")
    check("a client is removed", code == 0 and M1[0] in said, said)
    check("that is logged", await_(
        lambda: logged("h1", f"clients: withdrawn: {M1[0]} client=m1")))
    #   An election in between, or a busy machine, may end its registration.
    check("another client is heard", other.lease() is not None)
    check("it is not heard any more", one.lease(wait_s=3) is None)
    check("the other one is", other.lease() is not None)
    check("nor let in", client().enter(wait_s=1) is None)
    waiter = subprocess.run(**at("h1", "run", "four", "--", "true"),
                            check=False)
    check("what it held is free in the end", waiter.returncode == 0)
    code, said = run("h1", "clients", "remove", "m1")
    check("not twice", code == 1 and "no client is called 'm1'" in said, said)
    other.close()


if __name__ == "__main__":
    sys.exit(main())
