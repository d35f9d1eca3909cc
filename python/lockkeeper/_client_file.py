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
from typing import List, Tuple

import zmq
import zmq.utils.z85

from . import _domain
from .errors import Invalid

SERVERS_MAX = 32
NEAREST, LISTED, RANDOM = "nearest", "listed", "random"

#: A file that names no server means that name, of the domain that resolvers
#: search, and that port.
DEFAULT_ENDPOINT = "tcp://lockkeeper:7412"
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
    domain: str = ""  # empty: not known


@dataclass
class ClientFile:
    """What it says."""

    public_key: str = ""
    secret_key: str = field(default="", repr=False)
    servers: List[ClientServer] = field(default_factory=list)
    keys: List[str] = field(default_factory=list)  # of servers that are found
    #                                                otherwise
    order: str = NEAREST  # of several that are equally near
    is_closed: bool = False  # other servers than those are not asked for
    domain: str = ""  # where this machine is
    limit: str = ""  # only servers in there
    credential: str = ""  # path of the file that has it, or not

    def head(self) -> str:
        """How the name begins by which it is known there."""
        return f"far-{_raw(self.public_key)[:8].hex()}-"


def is_far(endpoint: str) -> bool:
    """Whether that is where servers are, not a router of this host."""
    return endpoint.startswith("tcp://")


def is_endpoint(endpoint: str) -> bool:
    """Whether it is tcp://HOST:PORT."""
    found = _ENDPOINT.fullmatch(endpoint)
    return found is not None and 1 <= int(found[2]) <= 65535 \
        and len(endpoint) <= 271


def is_numeric(endpoint: str) -> bool:
    """Whether its host is an address, and no name."""
    host = endpoint[len("tcp://"):].rpartition(":")[0]
    return host.startswith("[") or host.replace(".", "").isdigit()


def is_key(text: str) -> bool:
    """Whether it can be a key in Z85."""
    if _KEY.fullmatch(text) is None:
        return False
    try:
        _raw(text)
    except Exception:  # digits that are more than four bytes
        return False
    return True


#   ------------------------------------------------------------ lines


def _take_server(file: ClientFile, value: str) -> str:
    endpoint, key, domain, rest = (value.split() + [""] * 4)[:4]
    if not is_key(key):
        return "a server is \"tcp://HOST:PORT KEY\", in quotes, with a key " \
               "of 40 characters"
    if not is_endpoint(endpoint) or rest:
        return "a server is \"tcp://HOST:PORT KEY\""
    if domain and not _domain.is_valid(domain):
        return "behind the key of a server comes its location domain, as " \
               "in au.perth.dh4"
    if len(file.servers) == SERVERS_MAX:
        return f"more than {SERVERS_MAX} servers"
    file.servers.append(ClientServer(endpoint, key, domain))
    return ""


def _take_key(file: ClientFile, path: str, value: str) -> str:
    if not is_key(value):
        return "a key is 40 characters in quotes"
    if path == "client/public-key":
        file.public_key = value
    elif path == "client/secret-key":
        file.secret_key = value
    elif len(file.keys) == SERVERS_MAX:
        return f"more than {SERVERS_MAX} keys of servers"
    else:
        file.keys.append(value)
    return ""


def _take_domain(file: ClientFile, path: str, value: str) -> str:
    if not _domain.is_valid(value):
        return "a location domain is labels with dots between, as in " \
               "au.perth.dh4"
    if path == "client/domain":
        file.domain = value
    else:
        file.limit = value
    return ""


def _take_setting(file: ClientFile, path: str, value: str) -> str:
    """What is wrong, or nothing."""
    if path == "client":
        return ""
    if path in ("client/public-key", "client/secret-key",
                "client/server-key"):
        return _take_key(file, path, value)
    if path in ("client/domain", "client/domain-limit"):
        return _take_domain(file, path, value)
    if path == "client/server":
        return _take_server(file, value)
    if path == "client/order":
        file.order = value
        return "" if value in (NEAREST, LISTED, RANDOM) \
            else "the order is 'nearest', 'listed' or 'random'"
    if path == "client/beacon":  # which this module does not listen to
        is_port = value.isdigit() and int(value) <= 65535
        return "" if is_port \
            else "the beacon is a UDP port, 1 to 65535, or 0 for none"
    if path == "client/credential":
        file.credential = value
        return "" if value else "the credential is the path of a file"
    if path == "client/discovery":
        file.is_closed = value == "no"
        return "" if value in ("yes", "no") else "discovery is 'yes' or 'no'"
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
    if not _domain.is_within(file.limit, file.domain):
        raise Invalid(f"'{path}': 'client/domain' is not in "
                      "'client/domain-limit'")


def read(path: str) -> ClientFile:
    """Reads it; Invalid if that cannot be, or it makes no sense."""
    file, above = ClientFile(), []  # type: ClientFile, List[str]
    for number, line in enumerate(_read_text(path).split("\n"), 1):
        name, value, wrong = _split(line, above)
        if name:
            wrong = _take_setting(file, name, value)
        if wrong:
            raise Invalid(f"'{path}', line {number}: {wrong}")
    file.domain = file.domain or file.limit
    _check(file, path)
    file.credential = os.path.join(
        os.path.dirname(path), file.credential) if file.credential \
        else f"{path}.credential"
    if not file.servers:
        file.servers = [ClientServer(DEFAULT_ENDPOINT, key)
                        for key in file.keys]
    return file


#   ------------------------------------------------------------ others


def _servers_at(file: ClientFile, endpoint: str, place: int,
                count: int) -> List[ClientServer]:
    """All that the file has for that endpoint, else by its keys of no certain
    server, else by that of the server in the same place if there are as many,
    else by its only one."""
    if not is_endpoint(endpoint):
        raise Invalid(f"'{endpoint}' is not tcp://HOST:PORT")
    same = [one for one in file.servers if one.endpoint == endpoint]
    if same:
        return same
    keys = file.keys or [one.key for one in file.servers[place:place + 1]
                         if count == len(file.servers)]
    if not keys and len({one.key for one in file.servers}) == 1:
        keys = [file.servers[0].key]
    if not keys:
        raise Invalid(f"the client file has no key for '{endpoint}'")
    return [ClientServer(endpoint, key) for key in keys]


def redirect(file: ClientFile, endpoints: List[str]) -> None:
    """Has it connect with those instead."""
    servers: List[ClientServer] = []
    for place, endpoint in enumerate(endpoints):
        servers += _servers_at(file, endpoint, place, len(endpoints))
    if not 1 <= len(servers) <= SERVERS_MAX:
        raise Invalid(f"not 1 to {SERVERS_MAX} endpoints")
    file.servers = servers
