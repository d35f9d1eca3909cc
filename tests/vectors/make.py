#!/usr/bin/env python3
#   make.py - writes the example messages, and the fuzzers' first inputs
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   A second, independent writer of frames: what lockkeeper-protocol(7) says,
#   in Python; the fields of packed bodies it takes from that page's own tables.
#   Run by hand after a change of the protocol (from anywhere); what it writes
#   is kept in the repository. With a FOLDER it writes there, as to tests/;
#   tests/style/messages.sh compares.

import ctypes
import json
import os
import re
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..")
VECTORS = os.path.join(TESTS, "vectors")
CORPUS = os.path.join(TESTS, "fuzz", "corpus")
PAGE = os.path.join(HERE, "..", "..", "man", "lockkeeper-protocol.7")

ID = {"h1": "1f0e6a5b9c3d2871", "h2": "2ad94c07e1b85f36",
      "h3": "3b72f8d05e4961ca", "h4": "44e10d92b7af6c53"}
H1, H2, H3 = (f"{name}:{ID[name]}" for name in ("h1", "h2", "h3"))
TERM = f"7:{ID['h1']}"
NEXT = f"8:{ID['h2']}"
NOTERM = "0:0000000000000000"
MEMBERS = [H1, H2, H3]
GENESIS = {"term": NOTERM, "members": MEMBERS, "leaders": [],
           "reclaim": False}
DECREE = {"term": TERM, "members": MEMBERS, "leaders": [H2, H1, H3],
          "reclaim": False}
SETTINGS = {"version": 3, "hash": "9e1c5ad2037b84f6",
            "hash2": "0123456789abcdef"}
SETTLED = {**DECREE, "settings": SETTINGS}
RECLAIM = {"term": NEXT, "members": MEMBERS, "leaders": [H2, H3],
           "reclaim": True}
CANDIDATE = {"priority": 8, "random": 190427651,
             "address": "00000000000000000000ffff0a000002",
             "port": 7201, "pid": 4021}
#   Of LOCKSTARTED, written around the core.
CLUSTER = {"protocol": 7, "cluster": "demo",
           "leader_lease": 2000, "host_lease": 8000,
           "genesis": ["h1", "h2", "h3"], "packed": 2}
HASH = "9e1c5ad2037b84f6"
KEY = "c0ffee5eed1e55a7"
#   Two pairs of CURVE's keys, of libzmq's own tests.
PUBLIC = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
SECRET = "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6"
PUBLIC2 = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
PUBLIC3 = "+&!P8&^cT:f)kkvz4Jrjb[*tM&:!vpt$>[I94FoC"
SECRET2 = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"
TOKEN = "0000000700000004"

#   ------------------------------------------------------------ frames


def frame(to, sender, command, serial=0, body=None, crossed=False,
          packed=None, ttl=0):
    text = b"" if body is None else json.dumps(
        body, separators=(",", ":"), ensure_ascii=False).encode()
    text = packed or text
    parts = [to.encode(), sender.encode(), command.encode()]
    size = 20 + sum(map(len, parts)) + len(text)
    flags = 2 if packed else 1 if text else 0
    flags |= 4 if crossed else 0
    head = struct.pack(">2sBBIQBBBB", b"LK", 1, flags, size, serial,
                       *map(len, parts), ttl)
    return head + b"".join(parts) + text


def hex_lines(data):
    for at in range(0, len(data), 32):
        line = data[at:at + 32].hex()
        yield " ".join(line[i:i + 4] for i in range(0, len(line), 4))


def write(name, about, to, sender, command, serial=0, body=None,
          crossed=False, packed=None, ttl=0):
    data = frame(to, sender, command, serial, body, crossed, packed, ttl)
    lines = [f"# {about}", "", f"to       {to}", f"from     {sender}",
             f"command  {command}", f"serial   {serial}"]
    if crossed:
        lines.append("crossed  yes")
    if ttl:
        lines.append(f"ttl      {ttl}")
    if body is not None:
        lines += ["", json.dumps(body, indent=2, ensure_ascii=False)]
    lines += ["", *hex_lines(data), ""]
    with open(os.path.join(VECTORS, name + ".txt"), "w", encoding="utf-8") as f:
        f.write("\n".join(lines))
    return data


#   ------------------------------------------------------------ the bus

R1, R2, G1, APP, LOCK1 = ("router@h1", "router@h2", "greeter@h1",
                          "backup-4711@h1", "lock@h1")
#   On another machine, by the second key.
ISSUER = "d04ab232742bb4ab3a1368bd4615e4e6d0224ab71a016baf8520a332c9778737"
CREDENTIAL = ("lockkeeper-credential-1 red alice operator " + PUBLIC2
              + " 1795000000 1795043200 1795000000 5d3c8a9e01f72b64 "
              + ISSUER
              + " bb75e6b3b51ad09499fdfe89210d204999f34d69ae73a53b76a731c3a5889e"
              "870228b2387c2b1107f4d3c065666befb961b58d8f1926723c9d17514bec739a"
              "0d")
FARNAME = "far-bb88471d65e2659b-backup-4711"
FAR = FARNAME + "@h1"
HOST1 = {"host": "h1", "address": "10.0.0.1:7200", "version": "0.1.0",
         "incarnation": "5d3c8a9e01f72b64"}
HOST2 = {"host": "h2", "address": "10.0.0.2:7200", "version": "0.1.0",
         "incarnation": "e07b4412c9aa6d18"}
#   Their first and second ones.
CHANNEL1, CHANNEL2 = "a9e01f72b6400001", "412c9aa6d1800002"
STATUS = {"service": "lock@h2", "status": "up", "pid": 4021,
          "version": "0.1.0", "application": False}
ROUTERS = ["ABSOLUTELY", "ACCEPT", "ALIVE", "CLIENTKEYS", "CLUSTER",
           "CLUSTERSTATUS", "COMMANDS", "CONNECT", "COUNT", "DISCONNECTED",
           "ENROL", "FORGET", "GOSSIP", "HOSTKEYS", "INVALID", "INVITE",
           "KEYS", "LOG", "LOGIN", "LOGINFAILED", "NEWKEY", "REFUSE",
           "REGISTER", "RELOADCONFIG", "RENEW", "ROTATEKEYS", "ROUTERSTATUS",
           "SERVERS", "SERVICESTATUS", "SHUTDOWN", "STATUS", "STOP", "SUBSCRIBE",
           "TRANSMISSIONREPORT", "UNKNOWN", "UNREGISTER"]

#   ------------------------------------------------------------ relayed frames

Z85 = ("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
       ".-:+=^!/*?&<>()[]{}@%$#")
SODIUM = ctypes.CDLL("libsodium.so.23")
NONCE = bytes.fromhex("3f5ac2889be4107d6611d0b34c92fe050000000000000001")


def raw_key(text):
    numbers = (sum(Z85.index(c) * 85 ** (4 - i) for i, c in enumerate(five))
               for five in (text[i:i + 5] for i in range(0, 40, 5)))
    return struct.pack(">8I", *numbers)


def seal(data, public, secret):
    box = ctypes.create_string_buffer(16 + len(data))
    failed = SODIUM.crypto_box_easy(box, data, ctypes.c_ulonglong(len(data)),
                                    NONCE, raw_key(public), raw_key(secret))
    assert not failed
    return box.raw


def relayed(kind, to, sender, rest):
    return bytes([1, kind, len(to), len(sender)]) + (to + sender).encode() + rest


#   From h1, by the first pair, to h3, by the second one; its third frame.
INSIDE = struct.pack(">5Q", 0x5d3c8a9e01f72b64, 0x9d20b7c35e18f46a,
                     0x71c6a4e80d52b93f, 3, 2) + frame(
    "greeter@h3", APP, "HELLO", 15, {"name": "h3"})

#   tests/unit/vectors_router.c has routers hear and say all of these, but
#   those of RELAY, which are tests/unit/relayed.c's.
BUS = [
    ("register", "a service attaches to its host's router, whose name it "
     "does not know yet", "router@.", "greeter@.", "REGISTER", 1,
     {"service": "greeter", "version": "1", "pid": 4711,
      "application": False,
      "subscribe": ["CLUSTERUP", "CLUSTERDOWN", "CLUSTERCOMPLETE",
                    "CLUSTERINCOMPLETE"]}),
    ("ready", "the router takes it in", "greeter@.", R1, "READY", 1,
     {"host": "h1", "version": "0.1.0", "address": "10.0.0.1:7200",
      "role": "admin"}),
    ("refuse", "the router does not take it in", "greeter@.", R1, "REFUSE",
     1, {"reason": "name is taken by process 4711"}),
    ("unregister", "a service leaves", "router@.", G1, "UNREGISTER", 2),
    ("subscribe", "a service wants more broadcasts", "router@.", G1,
     "SUBSCRIBE", 3, {"commands": ["STATUS", "HANGUP", "DISCONNECTED",
                                   "NEWREMOTECONNECTION"]}),
    ("alive", "are you there", "router@.", G1, "ALIVE", 4),
    ("absolutely", "I am", G1, R1, "ABSOLUTELY", 4),
    ("commands", "which commands do you know", "router@.", G1, "COMMANDS",
     5),
    ("commands-answer", "these", G1, R1, "COMMANDS", 5, {"list": ROUTERS}),
    ("clusterstatus", "how is the cluster", "router@.", G1, "CLUSTERSTATUS",
     6),
    ("clusterup", "most hosts are there", G1, R1, "CLUSTERUP", 6,
     {"total": 3, "live": 2}),
    ("clusterdown", "most hosts are not there", G1, R1, "CLUSTERDOWN", 0,
     {"total": 3, "live": 1}),
    ("clustercomplete", "all hosts are there", G1, R1, "CLUSTERCOMPLETE", 0,
     {"total": 3, "live": 3}),
    ("clusterincomplete", "some host is not there", G1, R1,
     "CLUSTERINCOMPLETE", 6, {"total": 3, "live": 2}),
    ("servicestatus", "is that service there", "router@.", G1,
     "SERVICESTATUS", 7, {"service": "lock@h2"}),
    ("status", "it is", G1, R1, "STATUS", 7, STATUS),
    ("status-down", "a service of this host is gone, and why", G1, R1,
     "STATUS", 0, {**STATUS, "service": "lock@h1", "status": "down",
                   "pid": 4020, "reason": "process ended"}),
    ("status-mesh", "a router tells its neighbour of a service", R1, R2,
     "STATUS", 0, STATUS),
    ("routerstatus", "how is the router", "router@.", G1, "ROUTERSTATUS", 8),
    ("routerstatus-answer", "hosts as 'name state address version', services "
     "as 'name pid kind version'", G1, R1, "ROUTERSTATUS", 8,
     {"host": "h1", "address": "10.0.0.1:7200", "version": "0.1.0",
      "security": "none", "total": 3, "live": 2, "sessions": 2,
      "clients": 0, "hosts": ["h2 live 10.0.0.2:7200 0.1.0",
                "? dialing 10.0.0.3:7200 ?"],
      "links": [{"host": "h2", "state": "live", "address": "10.0.0.2:7200",
                 "version": "0.1.0", "origin": "configuration",
                 "since_ms": 0},
                {"host": "", "state": "dialing", "address": "10.0.0.3:7200",
                 "version": "", "origin": "configuration", "since_ms": 0}],
      "refusals": [{"what": "refused", "host": "h2",
                    "address": "10.0.0.9:7200",
                    "reason": "another live host is called 'h2'",
                    "since_ms": 0, "times": 1}],
      "services": ["greeter 4711 service 1", "lock 4020 service 0.1.0"],
      "shut_out": 0, "shut_outs": 0,
      "waiting": 0, "waiting_size": 0,
      "frames": 1402, "messages": 1833, "forwarded": 1214, "broken": 0,
      "lies": 0, "unknown": 2, "cached": 0, "expired": 0, "overloaded": 0,
      "lost": 1, "repeated": 0, "refused": 0}),
    ("stop", "stop this router", "router@.", G1, "STOP", 9),
    ("stop-service", "the router stops: stop, too", "lock@h1", R1, "STOP",
     0),
    ("shutdown", "stop every router", "router@.", G1, "SHUTDOWN", 10),
    ("shutdown-mesh", "as one router tells the others", "router@h2", R1,
     "SHUTDOWN", 0),
    ("reloadconfig", "read the configuration again", "router@.", G1,
     "RELOADCONFIG", 11),
    ("log", "log more", "router@.", G1, "LOG", 12, {"level": "debug"}),
    ("log-answer", "the level is that now", G1, R1, "LOG", 12,
     {"level": "debug"}),
    ("forget", "forget a host that is gone", "router@.", G1, "FORGET", 18,
     {"name": "h3"}),
    ("forget-answer", "it was known at one address", G1, R1, "FORGET", 18,
     {"name": "h3", "forgotten": ["10.0.0.3:7200"]}),
    ("keys", "which keys are there", "router@.", G1, "KEYS", 19, None),
    ("keys-answer", "one in use, one accepted, nobody invited", G1, R1, "KEYS",
     19, {"security": "curve", "keys": [
         {"host": "h1", "key": PUBLIC, "state": "in use"},
         {"host": "h2", "key": PUBLIC2, "state": "accepted"}], "invited": 0}),
    ("invite", "let one host in", "router@.", G1, "INVITE", 20,
     {"minutes": 30}),
    ("invite-answer", "by these keys", G1, R1, "INVITE", 20,
     {"address": "10.0.0.1:7200", "cluster": "demo", "server_key": PUBLIC,
      "secret_key": SECRET2, "minutes": 30}),
    ("rotatekeys", "a new pair for this host", "router@.", G1, "ROTATEKEYS", 21,
     None),
    ("rotatekeys-answer", "it is made", G1, R1, "ROTATEKEYS", 21,
     {"key": PUBLIC3}),
    ("hostkeys", "those that the settings have", "router@.", LOCK1, "HOSTKEYS",
     0, {"keys": ["h1 " + PUBLIC, "h2 " + PUBLIC2],
         "arbiters": ["a1 10.0.0.7:7200 " + PUBLIC3], "open": True}),
    ("hostkeys-pending", "one that they lack, and the others", LOCK1, R1,
     "HOSTKEYS", 0, {"pending": ["h4 " + PUBLIC3],
                     "accepted": ["h1 " + PUBLIC, "h2 " + PUBLIC2]}),
    ("clientkeys", "other machines whose applications may come", "router@.",
     LOCK1, "CLIENTKEYS", 0, {"keys": ["m1 " + PUBLIC2]}),
    ("clientkeys-zones", "whose credentials count", "router@.", LOCK1,
     "CLIENTKEYS", 0,
     {"zones": ["red locks=1000"], "issuers": ["red " + ISSUER],
      "revoked": ["00000000000000ff 1795043200"]}),
    ("register-far", "an application on such a machine registers", "router@.",
     FARNAME + "@.", "REGISTER", 1,
     {"service": FARNAME, "version": "0.1.0", "pid": 4711,
      "application": True}),
    ("register-credential", "one that shows who it is", "router@.",
     FARNAME + "@.", "REGISTER", 1,
     {"service": FARNAME, "version": "0.1.0", "pid": 4711,
      "application": True, "credential": CREDENTIAL}),
    ("ready-credential", "it is taken in, ten minutes ahead of its end",
     FARNAME + "@.", R1, "READY", 1,
     {"host": "h1", "version": "0.1.0", "address": "10.0.0.1:7200",
      "zone": "red", "role": "operator", "user": "alice",
      "credential_left": 600}),
    ("status-credential", "the lock service hears of it", LOCK1, R1, "STATUS",
     0, {"service": FAR, "status": "up", "pid": 4711, "version": "0.1.0",
         "application": True, "key": PUBLIC2, "zone": "red", "user": "alice",
         "role": "operator", "until": 1795043200}),
    ("status-far", "the lock service hears of it", LOCK1, R1, "STATUS", 0,
     {"service": FAR, "status": "up", "pid": 4711, "version": "0.1.0",
      "application": True, "key": PUBLIC2, "client": "m1", "user": "m1",
      "role": "user"}),
    ("servers", "where can applications on other machines go", "router@.", APP,
     "SERVERS", 8, None),
    ("servers-answer", "of two", APP, R1, "SERVERS", 8,
     {"servers": [{"host": "h1", "address": "10.0.0.1:7412", "key": PUBLIC,
                   "domain": "au.perth.dh4"},
                  {"host": "h2", "address": "10.0.0.2:7412", "key": PUBLIC2,
                   "domain": ""}]}),
    ("login", "somebody on another machine logs in", "router@.",
     FARNAME + "@.", "LOGIN", 3,
     {"zone": "lab", "user": "ann", "password": "correct horse"}),
    ("login-issuer", "who issues is asked", "issuer@h1", R1, "LOGIN", 1,
     {"zone": "lab", "user": "ann", "key": PUBLIC2, "address": "10.0.0.9",
      "password": "correct horse"}),
    ("login-last", "nobody else can be asked", "issuer@h1", R1, "LOGIN", 1,
     {"zone": "lab", "user": "ann", "key": PUBLIC2, "address": "10.0.0.9",
      "password": "correct horse", "last": True}),
    ("login-answer", "it is issued", FARNAME + "@.", R1, "LOGIN", 3,
     {"credential": CREDENTIAL}),
    ("loginfailed", "it is not", FARNAME + "@.", R1, "LOGINFAILED", 3,
     {"error": "overloaded", "reason": "too many wrong log-ins: wait",
      "wait": 8}),
    ("renew", "a session's credential ends soon", "router@.", FAR, "RENEW", 4,
     None),
    ("renew-issuer", "who issues is asked", "issuer@h1", R1, "RENEW", 3,
     {"zone": "lab", "user": "ann", "key": PUBLIC2, "address": "10.0.0.9",
      "since": 1790000000}),
    ("cluster", "a service is of that cluster", "router@.", LOCK1, "CLUSTER",
     0, {"name": "demo"}),
    ("unknown", "the router knows no such command", G1, R1, "UNKNOWN", 13,
     {"command": "HELLO", "reason": "the router knows no such command"}),
    ("transmissionreport", "nobody takes that", G1, R1, "TRANSMISSIONREPORT",
     13, {"command": "HELLO", "to": "nobody@.", "error": "unknown",
          "reason": "no service 'nobody' on host 'h1'"}),
    ("invalid", "that was not yours to say", "*@.", R1, "INVALID", 14,
     {"reason": "the sender's address is not yours"}),
    ("hangup", "the link to a host is lost", G1, R1, "HANGUP", 0,
     {"host": "h3", "reason": "silent for 1000 ms"}),
    ("disconnected", "a host left in good order", G1, R1, "DISCONNECTED", 0,
     {"host": "h2"}),
    ("newremoteconnection", "a host is linked", G1, R1,
     "NEWREMOTECONNECTION", 0, {"host": "h2", "address": "10.0.0.2:7200"}),
    ("connect", "a router dials another, whose name it does not know "
     "yet", "router@.", R1, "CONNECT", 0, {**HOST1, "privileged": True,
                                              "ways": True}),
    ("accept", "it is taken in", "router@.", R2, "ACCEPT", 0,
     {**HOST2, "privileged": True, "ways": True}),
    ("accept-arbiter", "an arbiter takes it in, and dials nobody", "router@.",
     "router@a1", "ACCEPT", 0,
     {"host": "a1", "address": "10.0.0.7:7200", "version": "0.1.0",
      "incarnation": "000000000000a1a1", "privileged": True,
      "one_way": True}),
    ("refuse-mesh", "it is not", "router@.", R2, "REFUSE", 0,
     {**HOST2, "reason": "another live host is called 'h1'"}),
    ("alive-mesh", "a heartbeat", "router@.", R1, "ALIVE", 0),
    ("alive-heard", "a heartbeat, and what was heard", "router@.", R1, "ALIVE",
     0, {"channel": CHANNEL1, "peer": CHANNEL2,
         "heard": 0}),
    ("count-first", "frames will have numbers", "router@.", R1, "COUNT", 0,
     {"channel": CHANNEL1, "heard": 0}),
    ("count", "which frame comes next on this connection", "router@.", R2,
     "COUNT", 0, {"channel": CHANNEL2, "peer": CHANNEL1,
                  "next": 1, "heard": 0}),
    ("gossip", "whom else a router is linked with", "router@.", R1, "GOSSIP",
     0, {**HOST1, "cluster": "demo",
         "hosts": [{"host": "h3", "address": "10.0.0.3:7200",
                    "incarnation": "0000000000000033"}]}),
    ("gossip-question", "who is there, asked by who is no neighbour",
     "router@.", "router@.", "GOSSIP", 1),
    ("gossip-answer", "the router and its neighbours", "router@.", R1,
     "GOSSIP", 1,
     {**HOST1, "cluster": "demo",
      "hosts": [{"host": "h2", "address": "10.0.0.2:7200",
                 "incarnation": "e07b4412c9aa6d18"}]}),
    ("relay-sealed", "what only h3 can read, on its way over h2", "router@.",
     R1, "RELAY", 0, None, False,
     relayed(0, "h3", "h1", NONCE + seal(INSIDE, PUBLIC2, SECRET))),
    ("relay-plain", "the same where there are no keys", "router@.", R1,
     "RELAY", 0, None, False, relayed(1, "h3", "h1", INSIDE)),
    ("relay-refused", "h2 is not linked with h3", "router@.", R2, "RELAY", 0,
     None, False, relayed(2, "h1", "h3", b"")),
    ("disconnected-mesh", "a router leaves in good order", "router@h1", R2,
     "DISCONNECTED", 0, {"host": "h2"}),
    ("newkey", "the key of a host that has joined", "router@h1", R2, "NEWKEY",
     0, {"host": "h4", "key": PUBLIC3}),
    ("enrol", "a host that is invited", "router@.", "router@.", "ENROL", 1,
     {"host": "h4", "key": PUBLIC3}),
    ("enrol-answer", "the keys of others", "router@.", R1, "ENROL", 1,
     {"cluster": "demo", "hosts": [
         {"host": "h1", "key": PUBLIC, "address": "10.0.0.1:7200"},
         {"host": "h2", "key": PUBLIC2, "address": "10.0.0.2:7200"}]}),
    ("hello", "a command of a service's own, greeter's here", "greeter@h1",
     APP, "HELLO", 15, {"name": "Grüß \"Gott\""}),
    ("greeting", "and its answer", APP, G1, "GREETING", 15,
     {"text": "Hello, Grüß \"Gott\". This is h1.", "hosts": 3}),
    ("hello-mesh", "the same to the greeters of all hosts, as it crosses the "
     "mesh", "greeter@*", APP, "HELLO", 16, {"name": "all"}, True),
    ("hello-later", "the same to a greeter that may come within 30 s",
     "greeter@h1", APP, "HELLO", 17, {"name": "later"}, False, None, 30),
]

OBJECT = {"object": "backup/db-1"}
#   What each LOCKED has.
LEASE = {"left": -1, "until": -1, "session": 3, "lease_until": 86408000,
         "lease": 8000, "lease_page": "/run/lockkeeper/lock.lease"}

#   Of an application on another machine, and its lock service's own number.
REGISTRATION = {"registration": 2, "drawn": "5ca1ab1e0ddba115"}

APPLICATION = [
    ("app-lock", "an application asks for a lock; the serial is its number "
     "of the request", "lock@.", APP, "LOCK", 1,
     {"object": "backup/db-1", "wait": 10000, "duration": 0, "pid": 4711,
      "type": "exclusive"}, False, None, 10),
    ("app-locked", "and gets it", APP, LOCK1, "LOCKED", 1,
     {"object": "backup/db-1", "type": "exclusive", "token": TOKEN,
      "key": KEY, "ordinal": 1, **LEASE}),
    ("lockzones", "a lock service tells what zones use of its host",
     "lock@*", LOCK1, "LOCKZONES", 0,
     {"id": ID["h1"], "zones": [
         {"zone": "red", "locks": 2, "bytes": 40, "kept": 3,
          "kept_bytes": 60, "sessions": 1}]}),
    ("app-lock-bytes", "by a name that is no text", "lock@.", APP, "LOCK", 1,
     {"object_hex": "00ff6b65790a", "zone": "red", "context": "nightly"}),
    ("app-locked-bytes", "and gets it", APP, LOCK1, "LOCKED", 1,
     {"object_hex": "00ff6b65790a", "type": "exclusive", "token": TOKEN,
      "key": KEY, "ordinal": 1, **LEASE}),
    ("app-lock-semaphore", "one of five units, or of three if somebody said "
     "so first; at once or not at all", "lock@.", APP, "LOCK", 1,
     {"object": "backup/db-1", "type": "semaphore", "limit": 5, "bound": 3,
      "wait": 0, "duration": 60000, "lenient": True}),
    ("app-locked-semaphore", "the second of them", APP, LOCK1, "LOCKED", 1,
     {"object": "backup/db-1", "type": "semaphore", "token": TOKEN,
      "key": KEY, "ordinal": 2, **LEASE, "left": 60000, "until": 70000}),
    ("app-lock-soft", "when nobody has read it for half a second", "lock@.",
     APP, "LOCK", 1,
     {"object": "backup/db-1", "policy": "soft", "quiet": 500}),
    ("app-lock-static", "to be kept when the application ends", "lock@.", APP,
     "LOCK", 1, {"object": "backup/db-1", "static": True}),
    ("app-locked-static", "and it will be", APP, LOCK1, "LOCKED", 1,
     {"object": "backup/db-1", "type": "exclusive", "token": TOKEN,
      "key": KEY, "ordinal": 1, "static": True, **LEASE}),
    ("app-lock-key", "takes over a lock that lingers, to linger again",
     "lock@.", APP, "LOCK", 1,
     {"object": "backup/db-1", "key": KEY, "linger": 5000}),
    ("app-lock-resume", "held of a lock service that has ended, to go on with",
     "lock@.", APP, "LOCK", 1,
     {"object": "backup/db-1", "type": "exclusive", "token": TOKEN, "key": KEY,
      "lease_until": 86408000, "duration": 0, "pid": 4711}),
    ("app-lock-turn", "a lock of its own is to be shared from now on",
     "lock@.", APP, "LOCK", 1,
     {"object": "backup/db-1", "type": "shared", "turn": 1}),
    ("app-locked-turn", "and is", APP, LOCK1, "LOCKED", 1,
     {"object": "backup/db-1", "type": "shared", "token": TOKEN,
      "key": KEY, "ordinal": 1, "turn": 1, **LEASE}),
    ("app-lockfailed-turn", "or stays what it was", APP, LOCK1, "LOCKFAILED",
     1, {"object": "backup/db-1", "request": 1, "turn": 1,
         "error": "deadlock",
         "text": "both would wait for each other for ever"}),
    ("app-lock-set", "all of these or none", "lock@.", APP, "LOCK", 1,
     {"locks": [{"object": "backup/db-1"}, {"object": "backup/db-2"}],
      "wait": 10000, "pid": 4711}),
    ("app-locked-set", "all of them", APP, LOCK1, "LOCKED", 1,
     {"locks": [
         {"object": "backup/db-1", "token": TOKEN, "key": KEY},
         {"object": "backup/db-2", "token": "0000000700000005",
          "key": HASH}],
      "type": "exclusive", **LEASE}),
    ("app-lockfailed", "or does not", APP, LOCK1, "LOCKFAILED", 1,
     {"object": "backup/db-1", "request": 1, "error": "timedout",
      "text": "the time for it is over"}),
    ("app-lockfailed-limit", "or its zone may have no more", APP, LOCK1,
     "LOCKFAILED", 1,
     {"object": "backup/db-1", "error": "overloaded", "limit": "locks",
      "text": "the zone may have 100 locks"}),
    ("app-lockfailed-set", "none of them", APP, LOCK1, "LOCKFAILED", 1,
     {"request": 1, "error": "full",
      "text": "somebody else holds the lock"}),
    ("app-unlock", "it gives it back", "lock@.", APP, "UNLOCK", 2,
     {"object": "backup/db-1", "request": 1, "key": KEY}),
    ("app-unlock-key", "somebody gives it back with its key", "lock@.", APP,
     "UNLOCK", 3, {"object": "backup/db-1", "key": KEY}),
    ("app-unlock-set", "it gives back all of a set", "lock@.", APP, "UNLOCK",
     2, {"request": 1}),
    ("app-unlock-force", "an operator takes it away", "lock@.", APP, "UNLOCK",
     3, {"object": "backup/db-1", "force": True, "token": TOKEN,
         "reason": "hung since noon"}),
    ("app-unlocked", "as asked for", APP, LOCK1, "UNLOCKED", 2,
     {"object": "backup/db-1", "request": 1}),
    ("app-unlocked-late", "likewise, but its duration was over", APP, LOCK1,
     "UNLOCKED", 2, {"object": "backup/db-1", "request": 1, "late": True}),
    ("app-unlocked-set", "all of a set", APP, LOCK1, "UNLOCKED", 2,
     {"request": 1}),
    ("app-unlocked-key", "somebody else's lock, by its key or by force", APP,
     LOCK1, "UNLOCKED", 3, {"object": "backup/db-1"}),
    ("app-unlocked-forced", "it was taken away; the serial is that of the "
     "LOCK", APP, LOCK1, "UNLOCKED", 1,
     {"object": "backup/db-1", "request": 1, "error": "forced",
      "text": "an operator took the lock away",
      "reason": "hung since noon"}, False, None, 255),
    ("app-unlocked-lost", "it was lost; the serial is that of the LOCK", APP,
     LOCK1, "UNLOCKED", 1,
     {"object": "backup/db-1", "request": 1, "error": "isolated",
      "text": "this host lost touch with the leaders"}, False, None, 255),
    ("app-lockjeopardy", "it may be lost soon; the serial is that of the "
     "LOCK", APP, LOCK1, "LOCKJEOPARDY", 1,
     {"object": "backup/db-1", "request": 1, "danger": True}),
    ("app-lockstopping", "its holder is asked to stop, and has 2 s left", APP,
     LOCK1, "LOCKSTOPPING", 3,
     {"object": "backup/db-1", "host": "h2", "left": 2000}),
    ("app-lockstopping-silent", "its holder's host is not heard", APP,
     LOCK1, "LOCKSTOPPING", 3,
     {"object": "backup/db-1", "host": "h3", "left": 7100, "silent": 3900}),
    ("app-lockcheck", "is that the token of a holder", "lock@.", APP,
     "LOCKCHECK", 3, {"object": "backup/db-1", "token": TOKEN}),
    ("app-lockcheck-answer", "it was once", APP, LOCK1, "LOCKCHECK", 3,
     {"object": "backup/db-1", "token": TOKEN, "held": False,
      "newest": "0000000700000009"}),
    ("app-lockregister", "an application on another machine registers",
     "lock@.", FAR, "LOCKREGISTER", 1,
     {"registration": 2, "lease": 8000, "sent": 70000, "secret": HASH,
      "secret2": KEY}),
    ("app-lockregister-answer", "it is served", FAR, LOCK1, "LOCKREGISTER", 1,
     {"lease": 8000, "version": "0.1.0", **REGISTRATION}),
    ("app-locklease", "until when may it believe", "lock@.", FAR, "LOCKLEASE",
     2, {**REGISTRATION, "sent": 71000}),
    ("app-locklease-answer", "so long from what it has sent", FAR, LOCK1,
     "LOCKLEASE", 2, {"sent": 71000, "left": 8000, **REGISTRATION}),
    ("app-lock-far", "it asks for a lock", "lock@.", FAR, "LOCK", 1,
     {"object": "backup/db-1", "wait": 10000, "duration": 30000, "pid": 4711,
      "type": "exclusive", "sent": 71200, **REGISTRATION}),
    ("app-lock-claim", "it has one of a former registration", "lock@.", FAR,
     "LOCK", 1,
     {"object": "backup/db-1", "type": "exclusive", "duration": 30000,
      "pid": 4711, **REGISTRATION, "again": True,
      "token": TOKEN, "key": KEY, "left": 5500}),
    ("app-locked-far", "and holds it, at the latest until 71200 + 29500 by its "
     "clock", FAR, LOCK1, "LOCKED", 1,
     {"object": "backup/db-1", "token": TOKEN, "key": KEY, "ordinal": 1,
      "type": "exclusive", "left": 29500, "as_of": 71200, **REGISTRATION}),
    ("app-unlock-far", "it gives it back", "lock@.", FAR, "UNLOCK", 2,
     {"request": 1, **REGISTRATION}),
    ("app-unlock-far-set", "it gives back a set, maybe of another server",
     "lock@.", FAR, "UNLOCK", 2,
     {"request": 1,
      "locks": [{"object": "backup/db-1"}, {"object": "backup/db-2"}],
      **REGISTRATION}),
    ("app-unlocked-far", "as asked for", FAR, LOCK1, "UNLOCKED", 2,
     {"object": "backup/db-1", "request": 1, **REGISTRATION}),
    ("app-lockgoodbye", "it needs nothing any more", "lock@.", FAR,
     "LOCKGOODBYE", 0, REGISTRATION),
    ("app-lockmove", "the lock service stops: register with another one", FAR,
     LOCK1, "LOCKMOVE", 0, REGISTRATION),
    ("app-lockunregistered", "that registration is over", FAR, LOCK1,
     "LOCKUNREGISTERED", 0, REGISTRATION),
    ("app-lockunregistered-credential", "its credential has ended", FAR, LOCK1,
     "LOCKUNREGISTERED", 0,
     {"error": "credential", "text": "its credential has ended",
      **REGISTRATION}),
    ("app-lockstatus", "how is the lock service", "lock@.", APP,
     "LOCKSTATUS", 4),
    ("app-lockready", "it serves", APP, LOCK1, "LOCKREADY", 4,
     {"host": "h1", "cluster": "demo", "member": True, "ready": True,
      "since_ms": 0, "leads": True, "may_lead": True, "leaders_max": 3,
      "phase": "elected", "term": 7, "proposer": "h1",
      "leaders": ["h2", "h1", "h3"], "members": ["h1", "h2", "h3"],
      "sees": ["h1", "h2", "h3"], "journal": "off", "session": 3,
      "lease_left": 7800,
      "requests": 1, "registrations": 0, "tickets": 2, "grants": 1,
      "releases": 0, "grants_lately": 1, "releases_lately": 0, "alerts": 1,
      "alert": "2026-11-20T12:00:00Z wrong table: host=h3",
      "waiting": 4, "waited_for": 2, "jeopardy": 1, "answering": True}),
    ("app-lockalert", "a leader's table was wrong", "*@.", LOCK1, "LOCKALERT",
     0, {"host": "h3", "cause": "stream", "home": "h2", "term": 7,
         "sequence": 9, "hash": HASH, "expected": KEY, "found_by": "h2",
         "alerts": 1}),
    ("app-nolock", "it does not", APP, LOCK1, "NOLOCK", 4,
     {"host": "h1", "cluster": "demo", "member": True, "ready": False,
      "since_ms": 0, "leads": False, "may_lead": True, "leaders_max": 3,
      "phase": "pause", "term": 7, "proposer": "h1",
      "leaders": ["h2", "h1", "h3"], "members": ["h1", "h2", "h3"],
      "sees": ["h1"], "journal": "off", "session": 3, "lease_left": 0,
      "requests": 1, "registrations": 0,
      "tickets": 2, "grants": 0, "releases": 0, "grants_lately": 0,
      "releases_lately": 0, "alerts": 0, "jeopardy": 0, "answering": True,
      "reason": "sees 1 of 3 members, needs 2"}),
    ("app-nolock-zone", "it does not, says it to a zone", APP, LOCK1,
     "NOLOCK", 4,
     {"zone": "red", "ready": False, "since_ms": 0, "answering": True,
      "reason": "locks cannot be had just now", "locks": 2, "locks_max": 100,
      "bytes": 40, "sessions": 0, "requests": 0}),
    ("app-locklist-zone", "these, says it to a zone", APP, LOCK1, "LOCKLIST",
     5,
     {"tickets": [
         {"object": "backup/db-1", "owner": "backup-4711", "user": "ann",
          "own": True, "state": "held", "since_ms": 1500, "type": "exclusive",
          "token": TOKEN}]}),
    ("app-locklist", "who holds and who waits", "lock@.", APP, "LOCKLIST", 5,
     {"cursor": 0}),
    ("app-locklist-answer", "these", APP, LOCK1, "LOCKLIST", 5,
     {"served_by": "h1", "tickets": [
         {"object": "backup/db-1", "host": "h1", "owner": APP, "pid": 4711,
          "state": "held", "since_ms": 5210, "token": TOKEN, "session": 3,
          "serial": 1, "type": "exclusive", "ordinal": 1, "duration": 60000,
          "left_ms": 59999},
         {"object": "backup/db-1", "zone": "red", "context": "nightly",
          "host": "h2", "owner": "run-88@h2", "pid": 88, "state": "waiting",
          "since_ms": 310, "token": "0000000000000000", "session": 9,
          "serial": 1, "type": "exclusive", "policy": "soft", "quiet": 500,
          "silent_ms": 4000, "free_ms": 7900},
         {"object": "backup/db-2", "host": "h2", "owner": "run-89@h2",
          "pid": 89, "state": "held", "since_ms": 310, "token": TOKEN,
          "session": 9, "serial": 2, "type": "shared", "static": True, "ordinal": 3,
          "turn": 1, "upgrade": True, "duration": 250, "left_ms": 0,
          "grace_ms": 59940, "silent_ms": 4000},
         {"object_hex": "00ff6b65790a", "host": "h2", "owner": "run-90@h2",
          "pid": 90, "state": "later", "since_ms": 310,
          "token": "0000000000000000", "session": 9, "serial": 3,
          "type": "semaphore", "limit": 5, "bound": 3, "lenient": True,
          "silent_ms": 4000, "free_ms": 7900}]}),
    ("app-locklist-elsewhere", "it does not lead, ask one of these", APP,
     LOCK1, "LOCKLIST", 5, {"served_by": "h1", "leaders": ["h2", "h3"]}),
    ("app-locklist-one", "who holds and who waits for one", "lock@h2", APP,
     "LOCKLIST", 5, {"object": "backup/db-1", "context": "nightly"}),
    ("app-lockowners", "whose tickets of yours are these", "lock@h1", APP,
     "LOCKOWNERS", 6, {"tickets": [{"session": 3, "serial": 1, "pid": 4711},
                                   {"session": 2, "serial": 9, "pid": 0}]}),
    ("app-lockowners-answer", "a program's; of a process that is gone", APP,
     LOCK1, "LOCKOWNERS", 6, {"served_by": "h1", "owners": [
         {"session": 3, "serial": 1, "pid": 4711, "uid": 1000,
          "command": "backup.sh",
          "arguments": "/bin/sh /opt/backup.sh --full", "jeopardy": True},
         {"session": 2, "serial": 9, "pid": 0}]}),
    ("app-lockhistory", "what happened to it", "lock@h1", APP, "LOCKHISTORY",
     7, {"object": "backup/db-1", "count": 2}),
    ("app-lockhistory-after", "what happened since then", "lock@h1", APP,
     "LOCKHISTORY", 7, {"after": 1}),
    ("app-lockhistory-answer", "an operator took it away", APP, LOCK1,
     "LOCKHISTORY", 7, {"served_by": "h1", "events": [
         {"number": 2, "event": "forced", "ago_ms": 500,
          "object": "backup/db-1", "host": "h1", "owner": "cli-8@h1",
          "pid": 0, "token": TOKEN, "waited_ms": 0, "held_ms": 0,
          "reason": "db-1 is broken"},
         {"number": 3, "event": "lost", "ago_ms": 0, "object": "backup/db-1",
          "host": "h1", "owner": APP, "pid": 4711, "token": TOKEN,
          "waited_ms": 0, "held_ms": 1500, "error": "forced",
          "reason": "db-1 is broken"}], "after": 3}),
    ("app-locktop", "what is asked for most", "lock@h1", APP, "LOCKTOP", 8),
    ("app-locktop-answer", "that, and who is waited for", APP, LOCK1,
     "LOCKTOP", 8, {"served_by": "h1", "leads": True, "window_ms": 10000,
                    "names": [{"object": "backup/db-1", "grants": 1, "releases": 1,
                               "waited_ms": 0, "held_ms": 1500}],
                    "waits": [{"object": "backup/db-1", "holders": 1,
                               "waiters": 3, "longest_ms": 1500},
                              {"object": "backup/db-2", "holders": 2,
                               "waiters": 1, "longest_ms": 90}]}),
    ("app-lockmembers", "who is a member", "lock@.", APP, "LOCKMEMBERS", 6),
    ("app-lockmembers-answer", "these, and who is heard besides", APP, LOCK1,
     "LOCKMEMBERS", 6,
     {"served_by": "h1", "term": 7, "members": [
         {"host": "h2", "id": ID["h2"], "role": "first leader",
          "domain": "au.perth.dh4", "seen": True},
         {"host": "h1", "id": ID["h1"], "role": "leader", "seen": True},
         {"host": "h3", "id": ID["h3"], "role": "member", "seen": False},
         {"host": "h4", "id": ID["h4"], "role": "proxy", "seen": True}],
      "leaders": ["h2", "h1"]}),
    ("app-lockmembers-add", "may this host be one", "lock@h2", APP,
     "LOCKMEMBERS", 7, {"add": "h4"}),
    ("app-lockmembers-remove", "or this one none", "lock@h2", APP,
     "LOCKMEMBERS", 8, {"remove": "h3"}),
    ("app-lockmembers-elsewhere", "it is not the first leader, ask that one",
     APP, LOCK1, "LOCKMEMBERS", 7,
     {"served_by": "h1", "term": 7, "leaders": ["h2", "h1"]}),
    ("app-lockmembers-failed", "it cannot be", APP, LOCK1, "LOCKFAILED", 8,
     {"host": "h3", "error": "refused", "text": "it is the last member"}),
    ("app-lockrecover", "the cluster is to begin anew, with h1 and h2",
     "lock@.", APP, "LOCKRECOVER", 9, {"hosts": ["h2"], "cluster": "demo"}),
    ("app-lockrecover-answer", "it does", APP, LOCK1, "LOCKRECOVER", 9,
     {"served_by": "h1", "cluster": "demo", "begun": True, "generation": 1,
      "members": ["h1", "h2"], "without": ["h3"],
      "token": "0001000900000000", "settings": 0, "wait_ms": 12500}),
    ("app-lockdrain", "others are to lead",
     "lock@.", APP, "LOCKDRAIN", 10,
     {"drain": True, "force": False, "for": 600000}),
    ("app-lockdrain-answer", "they do not yet", APP, LOCK1, "LOCKDRAIN", 10,
     {"host": "h1", "state": "draining", "leads": True, "remotes": 0,
      "held": 3, "host_lease": 8000}),
    ("app-locksettings", "the settings of the cluster are asked for",
     LOCK1, APP, "LOCKSETTINGS", 11),
    ("app-locksettings-answer", "and told", APP, LOCK1, "LOCKSETTINGS", 11,
     {"served_by": "h1", "version": 2,
      "hash": "9e1c5ad2037b84f60123456789abcdef", "since": 1795000000,
      "text": "settings\n    lock = h1\n", "leaders": ["h2", "h1"]}),
    ("app-locksettings-elsewhere", "another host makes changes", APP, LOCK1,
     "LOCKSETTINGS", 11,
     {"served_by": "h1", "version": 2,
      "hash": "9e1c5ad2037b84f60123456789abcdef", "since": 1795000000,
      "leaders": ["h2", "h1"]}),
    ("app-locksettings-set", "another text is asked for", LOCK1, APP,
     "LOCKSETTINGS", 11,
     {"base": 2, "hash": "9e1c5ad2037b84f60123456789abcdef",
      "text": "settings\n    lock = h1\n    lock = h2\n"}),
    ("app-locksettings-failed", "somebody else was faster", APP, LOCK1,
     "LOCKFAILED", 11,
     {"error": "outdated",
      "text": "the settings were changed meanwhile: they are not those that "
              "were edited"}),
    ("app-locksettings-history", "which versions there were", APP, LOCK1,
     "LOCKSETTINGS", 11,
     {"served_by": "h1", "version": 2,
      "hash": "9e1c5ad2037b84f60123456789abcdef",
      "versions": [
          {"version": 1, "hash": "0123456789abcdef9e1c5ad2037b84f6",
           "since": 1794000000, "size": 0, "active": False},
          {"version": 2, "hash": "9e1c5ad2037b84f60123456789abcdef",
           "since": 1795000000, "size": 23, "active": True}]}),
]

#   ------------------------------------------------------------ lock services


#   The order in which a lock service writes a ticket.
TICKET = ["request", "zone", "context", "object", "object_hex", "owner", "pid",
          "duration_ms", "type", "soft", "quiet_ms", "limit", "bound",
          "lenient", "static", "rest", "number", "token", "key", "age_ms",
          "ordinal", "turn", "upgrade", "kept", "remote"]


def ticket(request, token, **more):
    fields = {"request": request, "owner": APP, "pid": 4711,
              "duration_ms": 0, "number": "0000000700000003", "token": token,
              "key": KEY, "age_ms": 5210, **more}
    if "object_hex" not in more:
        fields["object"] = "backup/db-1"
    return {name: fields[name] for name in TICKET if name in fields}


HELD = f"{H1}/3/1"
WAITS = f"{H2}/9/18446744073709551615"
TICKETS = [ticket(HELD, TOKEN),
           ticket(WAITS, "0000000000000000", zone="red", context="nightly")]
REMOTE = {"owner": HASH, "owner2": KEY, "serial": 12, "number": 3}
#   A reader, a unit of a semaphore, one that waits to write, and a static lock
#   whose application knows of it, by a name that is no text.
KINDS = [
    ticket(HELD, TOKEN, type="shared", ordinal=2, upgrade=True),
    ticket(f"{H2}/9/2", TOKEN, type="semaphore", limit=5, bound=3,
           lenient=True, ordinal=3, rest=2),
    ticket(WAITS, "0000000000000000", soft=True, quiet_ms=500, turn=2),
    ticket(f"{H3}/5/8", TOKEN, static=True, ordinal=1, kept=True,
           object_hex="00ff6b65790a"),
    ticket(f"{H3}/5/9", TOKEN, zone="far", remote=REMOTE),
]
BYTES = {"object_hex": "00ff6b65790a"}
GONE = [{"host": H3, "session": 4}]
HOLDS = {"term": TERM, "reclaim": False, "length": 812}

#   (kind, command, sender, has a term, fields)
LOCK = [
    ("started", "LOCKSTARTED", "h2", 0,
     {"answer": False, "candidate": CANDIDATE, "eligible": True,
      "incarnation": 9, "active": GENESIS, **CLUSTER}),
    ("ping", "LOCKPING", "h2", 0,
     {"at": 86400250, "incarnation": 9,
      "echo": {"at": 512250, "incarnation": 3}, "active": DECREE,
      "promised": TERM, "table": DECREE, "ready": True, "well": True,
      "reclaim": 0, "eligible": True, "sees": MEMBERS, "session": 9,
      "closed": 8, "vouch": 3}),
    ("date", "ELECTION_DATE", "h2", 0,
     {"in_ms": 300, "promised": TERM, "reason": "lost"}),
    ("agreed", "ELECTION_DATE", "h3", 0, {"in_ms": 120}),
    ("vote", "VOTE", "h2", NEXT, {}),
    ("voted", "VOTE", "h3", NEXT,
     {"candidate": CANDIDATE, "eligible": True, "active": DECREE,
      "holds": HOLDS, "hears": [H2], "sees": [H1, H2, H3]}),
    ("desist", "DESIST", "h3", TERM, {"promised": NEXT}),
    ("retire", "RETIRE", "h2", NEXT, {}),
    ("rerun", "RERUN", "h2", NEXT, {}),
    ("elected", "LOCKLEADERS", "h2", NEXT,
     {"decree": RECLAIM, "previous": TERM, "genesis": False, "holder": H3}),
    ("sitting", "LOCKLEADERS", "h2", TERM, {"decree": DECREE}),
    ("active", "LOCKLEADERS", "h2", NEXT, {"decree": RECLAIM}),
    ("active-settings", "LOCKLEADERS", "h2", TERM, {"decree": SETTLED}),
    ("activated", "LOCKLEADERS", "h3", NEXT, {}),
    ("entering", "LOCKENTERING", "h2", NEXT, {}),
    ("entered", "LOCKENTERED", "h3", NEXT, {"holds": HOLDS}),
    ("getmax", "GETMAXTICKET", "h2", NEXT, {"previous": TERM, "chunk": 0}),
    ("maxticket", "MAXTICKET", "h3", NEXT,
     {"table": TERM, "incarnation": 5, "chunk": 0, "more": False,
      "tickets": TICKETS, "reclaim": 0, "gone": GONE, "releases": [
          {"request": f"{H1}/3/9", "up_to": TOKEN},
          {"request": f"{H2}/9/12", "up_to": "0000000000000000"}]}),
    ("fill", "ADDTICKET", "h2", NEXT,
     {"decree": RECLAIM, "offer": "0000000000000000", "chunk": 1, "more": True,
      "tickets": TICKETS, "reclaim": 3, "gone": GONE}),
    ("filled", "TICKETADDED", "h3", NEXT,
     {"chunk": 1, "hash": HASH, "offer": "0000000000000000"}),
    ("fill-onto", "ADDTICKET", "h2", NEXT,
     {"decree": RECLAIM, "offer": "0000000000000000", "chunk": 1, "more": False,
      "tickets": TICKETS, "reclaim": 0, "gone": GONE, "onto": KEY}),
    ("filled-lacks", "TICKETADDED", "h3", NEXT,
     {"chunk": 0, "hash": HASH, "offer": KEY,
      "lacks": [{"slice": 3}, {"slice": 959}]}),
    ("exiting", "LOCKEXITING", "h2", NEXT, {}),
    ("ready", "LOCKREADY", "h2", NEXT, {"decree": RECLAIM}),
    ("ops", "ADDTICKET", "h2", TERM,
     {"home": 0, "first": 3, "hash": HASH, "ops": [
         {"op": "add", "request": HELD, "zone": "red", **OBJECT,
          "owner": APP, "pid": 4711, "duration_ms": 60000, "key": KEY,
          "age_ms": 12},
         {"op": "drop", "request": HELD, **OBJECT, "by": WAITS},
         {"op": "gone", "host": H3, "session": 4},
         {"op": "report", "host": H1, "session": 3, "part": 0, "more": False,
          "tickets": TICKETS},
         {"op": "open"},
         {"op": "confirm", "request": HELD, **OBJECT, "token": TOKEN,
          "age_ms": 340},
         {"op": "digest"}]}),
    ("ops-drop", "DROPTICKET", "h2", TERM,
     {"home": 1, "first": 4, "hash": HASH,
      "ops": [{"op": "drop", "request": HELD, **OBJECT}]}),
    ("ops-confirm", "ACTIVATELOCK", "h2", TERM,
     {"home": 4, "first": 5, "hash": HASH,
      "ops": [{"op": "confirm", "request": HELD, **OBJECT,
               "token": "0000000000000000", "age_ms": 0}, {"op": "open"}]}),
    ("ops-kinds", "ADDTICKET", "h2", TERM,
     {"home": 2, "first": 6, "hash": HASH, "ops": [
         {"op": "add", "request": HELD, **OBJECT, "owner": APP, "pid": 4711,
          "duration_ms": 0, "rest": 1, "key": KEY, "age_ms": 12,
          "tickets": [{"request": f"{H1}/3/2", **BYTES, "owner": APP,
                       "pid": 4711, "duration_ms": 0, "type": "shared",
                       "key": HASH, "age_ms": 12}]},
         {"op": "ripe", "request": HELD, **OBJECT},
         {"op": "convert", "request": HELD, **OBJECT, "type": "shared",
          "turn": 1},
         {"op": "convert", "request": HELD, **OBJECT, "turn": 2},
         {"op": "keep", "request": HELD, **BYTES},
         {"op": "resume", "request": f"{H1}/4/1", **BYTES, "type": "shared",
          "age_ms": 340, "former": HELD},
         {"op": "resume", "request": f"{H1}/4/2", **OBJECT, "age_ms": 0,
          "former": f"{H3}/5/9", "remote": REMOTE, "owner": APP, "pid": 4711},
         {"op": "confirm", "request": f"{H3}/5/9", **OBJECT,
          "token": "0000000000000000", "age_ms": 0, "remote": REMOTE},
         {"op": "add", "request": f"{H3}/5/10", **OBJECT, "owner": APP,
          "pid": 4711, "duration_ms": 0, "key": KEY, "age_ms": 12,
          "remote": REMOTE},
         {"op": "check", "request": f"{H1}/3/9", **BYTES, "token": TOKEN}]}),
    ("acked", "TICKETADDED", "h3", TERM,
     {"home": 0, "sequence": 9, "hash": HASH}),
    ("host", "LOCKHOST", "h2", TERM, {"host": H3, "session": 4}),
    ("silent", "LOCKHOST", "h3", TERM, {"host": H3, "session": 4}),
    ("lock", "LOCK", "h2", TERM,
     {"origin": H3, "destination": H1, "request": f"{H3}/5/77",
      "context": "nightly", **OBJECT, "owner": "run-88@h3", "pid": 88,
      "duration_ms": 0, "age_ms": 12, "queue": True, "at": 86400250}),
    ("lock-semaphore", "LOCK", "h2", TERM,
     {"request": f"{H2}/9/4", **BYTES, "owner": "run-88@h2", "pid": 88,
      "duration_ms": 60000, "type": "semaphore", "limit": 5, "bound": 3,
      "lenient": True, "age_ms": 0, "queue": False, "at": 86400250}),
    ("lock-soft", "LOCK", "h2", TERM,
     {"request": f"{H2}/9/5", **OBJECT, "owner": "run-88@h2", "pid": 88,
      "duration_ms": 0, "soft": True, "quiet_ms": 500, "age_ms": 0,
      "queue": True, "at": 86400250}),
    ("lock-turn", "LOCK", "h2", TERM,
     {"request": f"{H2}/9/4", **OBJECT, "owner": "run-88@h2", "pid": 88,
      "duration_ms": 0, "type": "shared", "age_ms": 0, "turn": 2,
      "queue": True, "at": 86400250}),
    ("lock-static", "LOCK", "h2", TERM,
     {"request": f"{H2}/9/6", **OBJECT, "owner": "run-88@h2", "pid": 88,
      "duration_ms": 0, "static": True, "age_ms": 0, "queue": True,
      "keep": True, "at": 86400250}),
    ("lock-resume", "LOCK", "h2", TERM,
     {"request": f"{H2}/10/1", **OBJECT, "owner": "run-88@h2", "pid": 88,
      "duration_ms": 60000, "age_ms": 0, "queue": False, "resume": True,
      "token": TOKEN, "key": KEY, "heir": True, "at": 86400250}),
    ("lock-claim", "LOCK", "h2", TERM,
     {"request": f"{H2}/10/2", **OBJECT, "owner": "far", "pid": 0,
      "duration_ms": 0, "age_ms": 0, "queue": True, "resume": True,
      "token": TOKEN, "key": KEY, "remote": REMOTE, "at": 86400250}),
    ("lock-set", "LOCK", "h2", TERM,
     {"request": f"{H2}/9/7", **OBJECT, "owner": "run-88@h2", "pid": 88,
      "duration_ms": 0, "rest": 2, "age_ms": 0, "tickets": [
          ticket(f"{H2}/9/{serial}", "0000000000000000", **more)
          for serial, more in ((8, {"zone": "red", "rest": 1}),
                               (9, {"type": "shared", "zone": "rot"}))],
      "queue": True, "at": 86400250}),
    ("unlock", "UNLOCK", "h2", TERM,
     {"origin": H2, "request": WAITS, **OBJECT, "by_key": True, "key": KEY,
      "owner": "run-88@h2", "at": 86400250}),
    ("unlock-keep", "UNLOCK", "h2", TERM,
     {"origin": H2, "request": WAITS, **OBJECT, "keep": True, "by_key": False,
      "key": "0000000000000000", "owner": "", "at": 86400250}),
    ("unlock-resume", "UNLOCK", "h2", TERM,
     {"origin": H2, "request": f"{H2}/10/1", **OBJECT, "resume": True,
      "by_key": False, "key": KEY, "owner": "run-88@h2", "at": 86400250}),
    ("unlock-claim", "UNLOCK", "h2", TERM,
     {"request": f"{H2}/10/2", **OBJECT, "by_key": False,
      "key": "0000000000000000", "owner": "far", "remote": REMOTE,
      "at": 86400250}),
    ("unlock-force", "UNLOCK", "h2", TERM,
     {"origin": H2, "request": WAITS, **OBJECT, "by_key": False,
      "force": True, "token": TOKEN, "reason": "hung since noon",
      "key": "0000000000000000", "owner": "", "at": 86400250}),
    ("unlock-now", "UNLOCK", "h2", TERM,
     {"origin": H2, "request": WAITS, **OBJECT, "by_key": True, "now": True,
      "key": KEY, "owner": "", "at": 86400250}),
    ("locked", "LOCKED", "h2", TERM,
     {"request": HELD, **OBJECT, "token": TOKEN, "key": KEY,
      "as_of": 512000, "left_ms": -1}),
    ("locked-shared", "LOCKED", "h2", TERM,
     {"request": HELD, **BYTES, "token": TOKEN, "key": KEY,
      "as_of": 512000, "left_ms": 1000, "type": "shared", "ordinal": 2,
      "turn": 1}),
    ("locked-kept", "LOCKED", "h2", TERM,
     {"request": HELD, **OBJECT, "token": TOKEN, "key": KEY,
      "as_of": 512000, "left_ms": -1, "ordinal": 1, "kept": True}),
    ("unlocked", "UNLOCKED", "h2", TERM,
     {"request": HELD, **OBJECT, "error": "ok", "token": TOKEN}),
    ("unlocked-forced", "UNLOCKED", "h2", TERM,
     {"request": HELD, **OBJECT, "error": "forced", "token": TOKEN,
      "reason": "hung since noon"}),
    ("unlocked-moved", "UNLOCKED", "h2", TERM,
     {"request": HELD, **OBJECT, "error": "ok", "token": "0000000000000000",
      "moved": True}),
    ("lockfailed", "LOCKFAILED", "h2", TERM,
     {"request": HELD, **OBJECT, "error": "full"}),
    ("lockfailed-turn", "LOCKFAILED", "h2", TERM,
     {"request": HELD, **OBJECT, "error": "deadlock", "turn": 1}),
    ("check", "LOCKCHECK", "h2", TERM,
     {"origin": H2, "request": WAITS, **OBJECT, "token": TOKEN}),
    ("checked", "LOCKCHECK", "h2", TERM,
     {"request": WAITS, **OBJECT, "token": TOKEN, "held": False,
      "newest": "0000000700000009"}),
    ("report", "LOCKTICKETS", "h2", NEXT,
     {"origin": H3, "destination": H1, "session": 9, "home": 1,
      "part": 2, "more": True, "tickets": TICKETS}),
    ("report-kinds", "LOCKTICKETS", "h2", NEXT,
     {"session": 9, "home": 0, "part": 0, "more": False, "tickets": KINDS}),
    ("reported", "LOCKTICKETS", "h2", NEXT,
     {"destination": H3, "session": 3, "home": 1, "part": 2}),
    ("audit", "LOCKTICKETS", "h2", TERM,
     {"request": HELD, **OBJECT, "number": "0000000700000003",
      "token": TOKEN}),
    ("audited", "LOCKTICKETS", "h2", TERM,
     {"request": HELD, **OBJECT, "number": "0000000700000003",
      "token": "0000000000000000"}),
    ("alert", "LOCKALERT", "h2", TERM,
     {"incarnation": 9, "number": 1, "cause": "stream", "host": H3,
      "home": H2, "sequence": 9, "hash": HASH, "expected": KEY}),
    ("alerted", "LOCKALERT", "h3", TERM, {"incarnation": 9, "number": 1}),
    ("stopping", "LOCKSTOPPING", "h2", TERM,
     {"origin": H2, "request": HELD, **OBJECT, "token": TOKEN,
      "left_ms": 1990}),
    ("pending", "LOCKSTOPPING", "h2", TERM,
     {"destination": H1, "request": WAITS, **OBJECT, "host": H2,
      "left_ms": 1990, "silent_ms": -1}),
    ("wanting", "LOCKSETTINGS", "h2", TERM, SETTINGS),
    ("settings", "LOCKSETTINGS", "h2", TERM,
     {**SETTINGS, "text": "settings\n    lock = h1\n"}),
]


#   ------------------------------------------------------------ packed bodies


def table(title):
    """The lines of a table of the page, as lists of fields by their name."""
    with open(PAGE, encoding="utf-8") as f:
        text = f.read().split(f'.\\" {title}\n')[1].split('.\\" end')[0]
    rows = re.sub(r"\n {6,}", " ", text).rstrip("\n").split("\n")
    pairs = [re.match(r" *(?:\d+ )?(\w+) *(.*)", row).groups() for row in rows]
    return {name: [one for one in fields.split(", ") if one]
            for name, fields in pairs}


LEVEL = 2
WORDS = table("words")
PARTS = table("parts")
MESSAGES = table("messages")


class Packer:
    def __init__(self, sender):
        self.data = bytearray()
        self.bits = 8
        self.flags_at = 0
        self.hosts = [sender]

    def num(self, number):
        while number >= 128:
            self.data.append(number % 128 + 128)
            number //= 128
        self.data.append(number)

    def int(self, number):
        self.num(2 * number if number >= 0 else -2 * number - 1)

    def hex(self, digits):
        self.data += bytes.fromhex(digits)

    ip = hex

    def flag(self, value):
        if self.bits == 8:
            self.bits, self.flags_at = 0, len(self.data)
            self.data.append(0)
        self.data[self.flags_at] += bool(value) << self.bits
        self.bits += 1

    def bytes(self, data):
        self.num(len(data))
        self.data += data

    def text(self, text):
        self.bytes(text.encode())

    def host(self, host):
        if host not in self.hosts:
            name, _, number = host.partition(":")
            self.data.append(len(self.hosts))
            self.hosts.append(host)
            self.text(name)
            self.hex(number or 16 * "0")
        else:
            self.data.append(self.hosts.index(host))

    def list(self, kind, values):
        self.num(len(values))
        for value in values:
            self.value(kind, value)

    def hosts_(self, values):
        self.list("host", values)

    def term(self, term):
        number, _, proposer = term.partition(":")
        self.num(int(number))
        self.hex(proposer)

    def request(self, request):
        host, session, serial = request.split("/")
        self.host(host)
        self.num(int(session))
        self.num(int(serial))

    def object(self, body):
        name = (bytes.fromhex(body["object_hex"]) if "object_hex" in body
                else body["object"].encode())
        parts = [body.get("zone", ""), body.get("context", "")]
        self.bytes("\0".join([*parts, ""]).encode() + name)

    def value(self, kind, value):
        if kind in WORDS and isinstance(value, str):
            self.data.append(WORDS[kind].index(value))
        elif kind in PARTS:
            self.fields(PARTS[kind], value)
        elif kind == "op":
            self.value("op", value["op"])
            self.fields(PARTS.get(value["op"], []), value)
        else:
            getattr(self, kind if kind != "hosts" else "hosts_")(value)

    def field(self, form, body):
        flag, name, optional, many, kind = re.match(
            r"(?:\((\w+)\) )?(\w+)(\?)?(\[\])? ?(\w+)?", form).groups()
        kind = kind or name
        if flag and not body.get(flag):
            return
        if optional:
            self.flag(name in body)
            if name not in body:
                return
        if many:
            self.list(kind, body[name])
        elif kind in ("object", "owner") and kind == name:
            self.part(kind, body)
        else:
            self.value(kind, body.get(name, False))

    def part(self, kind, body):
        if kind == "object":
            self.object(body)
        else:
            self.fields(PARTS[kind], body)

    def fields(self, forms, body):
        for form in forms:
            self.field(form, body)


def pack(kind, sender, body):
    number = list(MESSAGES).index(kind)
    packer = Packer(f"{sender}:{ID[sender]}")
    packer.data += bytes([LEVEL, number])
    packer.hex(body["id"])
    packer.hex(body["to_id"])
    forms = ["term"] if number > 3 else []
    packer.fields(forms + ["origin? host", "destination? host"], body)
    packer.fields(MESSAGES[kind], body)
    return bytes(packer.data)


def write_packed(name, command, sender, term, fields):
    body = lock_body(name, sender, term, fields)
    return write("packed-" + name, f"between lock services, packed: {name}",
                 LOCK1, f"lock@{sender}", command, 0, body,
                 packed=pack(body["stage"], sender, body))


def lock_body(name, sender, term, fields):
    body = {"stage": name.split("-")[0], "id": ID[sender], "to_id": ID["h1"]}
    if term:
        body["term"] = term
    body.update(fields)
    return body


def write_lock(name, command, sender, term, fields):
    body = lock_body(name, sender, term, fields)
    return write("lock-" + name, f"between lock services: {name}", LOCK1,
                 f"lock@{sender}", command, 0, body)


STATE = {"format": 1, "id": ID["h1"], "cluster": "demo",
         "genesis": ["h1", "h2", H3], "promised": NEXT, "active": DECREE,
         "session": 3}
FRESH = {"format": 1, "id": ID["h1"], "cluster": "", "genesis": [],
         "promised": NOTERM,
         "active": {**GENESIS, "members": []}, "session": 0}

#   ------------------------------------------------------------ fuzz inputs


def corpus(target, inputs):
    folder = os.path.join(CORPUS, target)
    os.makedirs(folder, exist_ok=True)
    for name, data in inputs.items():
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)


def body_of(data):
    return data[20 + sum(data[16:19]):]


def broken_frames(good):
    def put(at, value):
        return good[:at] + bytes([value]) + good[at + 1:]
    return {"tag": put(0, 0x6c), "version": put(2, 2), "packed": put(3, 2), "refused": put(3, 3),
            "flags": put(3, 0x11), "size-small": put(7, 21),
            "size-large": put(6, 9), "to-len": put(16, 255),
            "reserved": put(19, 1), "cut": good[:-1], "header": good[:20],
            "stub": good[:9], "command-len": put(18, 0), "nul": put(22, 0)}


def bodies(**texts):
    def one(text):
        parts = (b"a@.", b"b@.", b"C")
        return struct.pack(">2sBBIQBBBB", b"LK", 1, 1, 27 + len(text), 0,
                           3, 3, 1, 0) + b"".join(parts) + text
    return {name.replace("_", "-"): one(t) for name, t in texts.items()}


BROKEN_BODIES = bodies(
    deep=b"[" * 40, list=b"[1]", twice=b'{"a":1,"a":2}',
    nul=b'{"a":"\\u0000"}', utf8=b'{"a":"\xff"}', behind=b"{} {}",
    large=b'{"a":99999999999999999999}', real=b'{"a":1.5e300}',
    cut=b'{"a":"b', surrogate=b'{"a":"\\ud800"}', empty_name=b'{"":{}}')


def text(state):
    return (json.dumps(state, indent=2) + "\n").encode()


BROKEN_STATES = {
    "no-id": {**STATE, "id": "0000000000000000"},
    "no-cluster": {**STATE, "cluster": ""},
    "format": {**STATE, "format": 2},
    "promised": {**STATE, "promised": NOTERM},
    "leader": {**STATE, "active": {**DECREE, "members": [H1, H2]}},
    "twice": {**STATE, "genesis": ["h1", "h1"]},
    "host": {**STATE, "genesis": ["h1:0", "@"]},
}


def main():
    os.makedirs(VECTORS, exist_ok=True)
    bus = {row[0]: write(*row) for row in BUS + APPLICATION}
    lock = {row[0]: write_lock(*row) for row in LOCK}
    packed = {row[0]: write_packed(*row) for row in LOCK
              if row[1] != "LOCKSTARTED"}
    for name, state in (("state", STATE), ("state-fresh", FRESH)):
        with open(os.path.join(VECTORS, name + ".json"), "wb") as f:
            f.write(text(state))

    good = bus["register"]
    corpus("frame", {"one": good, "two": good + bus["alive"],
                     "crossed": bus["hello-mesh"],
                     **broken_frames(good)})
    corpus("message", {**bus, **BROKEN_BODIES})
    corpus("relayed", {**{name[6:]: body_of(data) for name, data in bus.items()
                          if name.startswith("relay-")}, "inside": INSIDE})
    corpus("lock_codec", lock)
    corpus("lock_packed", {name: body_of(data)
                           for name, data in packed.items()})
    corpus("lock_state", {
        "member": text(STATE), "fresh": text(FRESH),
        **{name: text(s) for name, s in BROKEN_STATES.items()}})


if __name__ == "__main__":
    main()
