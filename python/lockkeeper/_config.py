#   _config.py - where the router of this host is, or other hosts are
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""The endpoint: from the argument, $LOCKKEEPER_ENDPOINT, the host's
configuration, or the default; and the client file of a machine without a
router, from the argument or $LOCKKEEPER_CLIENT."""

from __future__ import annotations

import os
import re
from typing import List, Optional

from . import _client_file
from ._client_file import ClientFile, is_far
from .errors import Invalid

DEFAULT = "ipc:///run/lockkeeper/router"
CONFIG = "/etc/lockkeeper/lockkeeper.conf"
_LINE = re.compile(r"""    endpoint\s*=\s*("[^"]*"|'[^']*'|[^\s#]+)""")


def _read_file(path: str) -> str:
    """The endpoint in the section of the router; empty if there is none, or
    the file cannot be read."""
    section, said = "", ""
    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line[:1] not in (" ", "#", "\n", ""):
                    section = line.partition("#")[0].strip()
                found = _LINE.match(line)
                if found and section == "router":
                    said = found.group(1).strip("\"'")
    except OSError:
        pass
    return said


def read_endpoint(path: str) -> str:
    """The endpoint of lockkeeper.conf(5): of that file and its drop-ins the
    last one counts."""
    said = _read_file(path)
    try:
        names = sorted(os.listdir(path + ".d"), key=os.fsencode)
    except OSError:
        names = []
    for name in names:
        if name.endswith(".conf") and not name.startswith("."):
            said = _read_file(os.path.join(path + ".d", name)) or said
    return said


def _split(endpoints: str) -> List[str]:
    return [one for one in re.split(r"[,\s]+", endpoints) if one]


def find_endpoints(endpoint: Optional[str]) -> List[str]:
    """One or several, parted by commas or blanks, to be tried in turn."""
    if endpoint is None:
        endpoint = (os.environ.get("LOCKKEEPER_ENDPOINT")
                    or read_endpoint(CONFIG) or DEFAULT)
    return _split(endpoint)


def find_client(client: Optional[str],
                endpoint: Optional[str]) -> Optional[ClientFile]:
    """The client file, which counts unless the endpoint is one of this host;
    None: there is none."""
    path = client if client is not None \
        else os.environ.get("LOCKKEEPER_CLIENT")
    if client is None and (
            not path or (endpoint is not None and not is_far(endpoint))):
        return None
    if endpoint is None:
        servers = os.environ.get("LOCKKEEPER_ENDPOINT", "")
        endpoint = servers if is_far(servers) else None
    file = _client_file.read(path or "")
    if endpoint is not None:
        _client_file.redirect(file, _split(endpoint))
    if not file.servers:
        raise Invalid("the client file has no 'client/server'")
    return file
