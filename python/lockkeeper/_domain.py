#   _domain.py - location domains: where a host or an application is
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Labels from the widest to the narrowest, "au.perth.dh4.rack3"; empty: not
known, which is anywhere. Who looks for the nearest bubbles up: of a.b first
a.b itself, then all in it (a.b.*), then a, a.*, and at last * for all."""

from __future__ import annotations

import re
from typing import List

_DOMAIN = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
_LEN_MAX = 127


def is_valid(text: str) -> bool:
    """Whether it is one."""
    return len(text) <= _LEN_MAX and _DOMAIN.fullmatch(text) is not None


def _labels(domain: str) -> List[str]:
    return domain.split(".") if domain else []


def _common(one: List[str], other: List[str]) -> int:
    """How many labels both begin with."""
    count = 0
    for label, another in zip(one, other):
        if label != another:
            break
        count += 1
    return count


def step(own: str, other: str) -> int:
    """At which step who is at ``own`` comes to ``other``: 0 for the very same
    one, two for each level up, one more where it is elsewhere in there."""
    mine, theirs = _labels(own), _labels(other)
    common = _common(mine, theirs)
    up = 2 * (len(mine) - common)
    return up if common in (0, len(theirs)) else up + 1


def is_within(domain: str, other: str) -> bool:
    """Whether ``other`` is that domain, or in it; all are in the empty
    one."""
    return _common(_labels(domain), _labels(other)) == len(_labels(domain))
