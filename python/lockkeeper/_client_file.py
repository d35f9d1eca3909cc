#   _client_file.py - the file of an application on a machine without a router
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Its pair of keys, and the servers that it may connect with, in ZPL (ZeroMQ
RFC 4), mode 0600: lockkeeper(1), A MACHINE WITHOUT A ROUTER."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, field
from typing import List, Optional, Tuple

import zmq
import zmq.utils.z85

from .errors import Invalid

SERVERS_MAX = 32
_SIZE_MAX = 64 * 1024
_KEY = re.compile(r"[0-9a-zA-Z.\-:+=^!/*?&<>()\[\]{}@%$#]{40}")
_LINE = re.compile(r"""
    (?P<blanks>\ *)
    (?:(?P<name>[A-Za-z0-9$\-_@.&+/]+)[ \t\r]*
       (?P<value>=[ \t\r]*(?:"[^"]*"|'[^']*'|(?![ \t\r"'])[^#]*))?
    )?[ \t\r]*(?:\#.*)?""", re.VERBOSE)
_ENDPOINT = re.compile(r"tcp://(\[[0-9A-Fa-f:.]+\]|[^\s,:\[\]]+):([0-9]+)")


def _raw(key: str) -> bytes:
    raw: bytes = zmq.utils.z85.decode(key)  # type: ignore[no-untyped-call]
    return raw


@dataclass(frozen=True)
class ClientServer:
    """A host that serves such applications."""

    endpoint: str
    key: str


@dataclass
class ClientFile:
    """What it says."""

    public_key: str = ""
    secret_key: str = field(default="", repr=False)
    servers: List[ClientServer] = field(default_factory=list)
    is_random: bool = False  # begin with any of them

    def head(self) -> str:
        """How the name begins by which it is known there."""
        return f"far-{_raw(self.public_key)[:8].hex()}-"


def is_far(endpoint: str) -> bool:
    """Whether that is where servers are, not a router of this host."""
    return endpoint.startswith("tcp://")


def _check_endpoint(endpoint: str) -> str:
    found = _ENDPOINT.fullmatch(endpoint)
    if found is None or not 1 <= int(found[2]) <= 65535 \
            or len(endpoint) > 271:
        raise Invalid(f"'{endpoint}' is not tcp://HOST:PORT")
    return endpoint


#   ------------------------------------------------------------ lines


def _is_key(text: str) -> bool:
    if _KEY.fullmatch(text) is None:
        return False
    try:
        _raw(text)
    except Exception:  # digits that are more than four bytes
        return False
    return True


def _take_server(file: ClientFile, value: str) -> str:
    endpoint, _, key = value.partition(" ")
    key = key.strip(" \t")
    if len(file.servers) == SERVERS_MAX:
        return f"more than {SERVERS_MAX} servers"
    if not _is_key(key):
        return "a server is \"tcp://HOST:PORT KEY\", in quotes, with a key " \
               "of 40 characters"
    try:
        file.servers.append(ClientServer(_check_endpoint(endpoint), key))
    except Invalid:
        return "a server is \"tcp://HOST:PORT KEY\""
    return ""


def _take_setting(file: ClientFile, path: str, value: str) -> str:
    """What is wrong, or nothing."""
    if path == "client":
        return ""
    if path in ("client/public-key", "client/secret-key"):
        if not _is_key(value):
            return "a key is 40 characters in quotes"
        if path == "client/public-key":
            file.public_key = value
        else:
            file.secret_key = value
        return ""
    if path == "client/server":
        return _take_server(file, value)
    if path == "client/order":
        file.is_random = value == "random"
        return "" if value in ("listed", "random") \
            else "the order is 'listed' or 'random'"
    return "there is no such setting in a client file"


def _split(line: str, above: List[str]) -> Tuple[str, str, str]:
    """Path and value of a line, or what is wrong; ``above`` are the names that
    it is indented under, which it is added to."""
    found = _LINE.fullmatch(line)
    if found is None:
        return "", "", "that makes no sense here; a setting is NAME = VALUE"
    if found["name"] is None:
        return "", "", ""
    level, rest = divmod(len(found["blanks"]), 4)
    if rest or level > len(above):
        return "", "", "wrong indentation: a level takes four spaces"
    above[level:] = [found["name"]]
    value = (found["value"] or "=")[1:].strip(" \t\r")
    if value[:1] in ("'", '"'):
        value = value[1:-1]
    return "/".join(above), value, ""


#   ------------------------------------------------------------ the file


def _read_text(path: str) -> str:
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise Invalid(f"cannot open the client file '{path}': "
                      f"{os.strerror(error.errno or 0).lower()}") from error
    try:
        text = os.read(number, _SIZE_MAX)
        mode = os.fstat(number).st_mode
    except OSError as error:
        raise Invalid(f"cannot read the client file '{path}': "
                      f"{os.strerror(error.errno or 0).lower()}") from error
    finally:
        os.close(number)
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise Invalid(f"others may read '{path}': `chmod 600` it, and make "
                      "new keys if they had the time")
    return text.decode("utf-8", "replace")


def _check(file: ClientFile, path: str) -> None:
    """Whether all is there, and the keys are of one pair."""
    for name, key in (("public-key", file.public_key),
                      ("secret-key", file.secret_key)):
        if not key:
            raise Invalid(f"'{path}' has no 'client/{name}'")
    if zmq.curve_public(file.secret_key.encode()) != file.public_key.encode():
        raise Invalid(f"the keys of '{path}' are not of one pair")


def read(path: str) -> ClientFile:
    """Reads it; Invalid if that cannot be, or it makes no sense."""
    file, above = ClientFile(), []  # type: ClientFile, List[str]
    for number, line in enumerate(_read_text(path).split("\n"), 1):
        name, value, wrong = _split(line, above)
        if name:
            wrong = _take_setting(file, name, value)
        if wrong:
            raise Invalid(f"'{path}', line {number}: {wrong}")
    _check(file, path)
    return file


#   ------------------------------------------------------------ others


def _key_for(file: ClientFile, endpoint: str, place: int,
             count: int) -> Optional[str]:
    """That which the file has for that endpoint, else for the server in the
    same place if there are as many, else its only one."""
    for server in file.servers:
        if server.endpoint == endpoint:
            return server.key
    if count == len(file.servers):
        return file.servers[place].key
    keys = {server.key for server in file.servers}
    return keys.pop() if len(keys) == 1 else None


def redirect(file: ClientFile, endpoints: List[str]) -> None:
    """Has it connect with those instead."""
    servers = []
    if not 1 <= len(endpoints) <= SERVERS_MAX:
        raise Invalid(f"not 1 to {SERVERS_MAX} endpoints")
    for place, endpoint in enumerate(endpoints):
        key = _key_for(file, _check_endpoint(endpoint), place, len(endpoints))
        if key is None:
            raise Invalid(f"the client file has no key for '{endpoint}'")
        servers.append(ClientServer(endpoint, key))
    file.servers = servers
