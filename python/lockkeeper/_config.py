#   _config.py - where the router of this host is
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""The endpoint: from the argument, $LOCKKEEPER_ENDPOINT, the host's
configuration, or the default."""

from __future__ import annotations

import os
import re
from typing import List, Optional

DEFAULT = "ipc:///run/lockkeeper/router"
CONFIG = "/etc/lockkeeper/lockkeeper.conf"
_LINE = re.compile(r'    endpoint\s*=\s*("[^"]*"|[^\s#]+)')


def read_endpoint(path: str) -> str:
    """The endpoint in the section of the router (lockkeeper.conf(5)); empty
    if there is none, or the file cannot be read."""
    section = ""
    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line[:1] not in (" ", "#", "\n", ""):
                    section = line.strip()
                found = _LINE.match(line)
                if found and section == "router":
                    return found.group(1).strip('"')
    except OSError:
        pass
    return ""


def find_endpoints(endpoint: Optional[str]) -> List[str]:
    """One or several, to be tried in turn."""
    said = (endpoint or os.environ.get("LOCKKEEPER_ENDPOINT")
            or read_endpoint(CONFIG) or DEFAULT)
    return [one.strip() for one in said.split(",") if one.strip()]
