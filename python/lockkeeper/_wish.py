#   _wish.py - whether what a user asks for makes sense
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""How a lock is wanted, and whether that makes sense. Raises Invalid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Iterable, List, Optional, Tuple, TypeVar, Union

from . import _frame
from .errors import Invalid, LockkeeperError

Name = Union[str, bytes]
E = TypeVar("E", bound=LockkeeperError)

EXCLUSIVE, SHARED, SEMAPHORE = "exclusive", "shared", "semaphore"
TIME_MAX = 1 << 45
QUIET_MAX_MS = 86_400_000
LIMIT_MAX = 1_000_000_000
SET_MAX = 128
TEXT_MAX = 255


@dataclass(frozen=True)
class Wish:
    """How a lock is wanted. Times are milliseconds."""

    names: Tuple[bytes, ...]
    type: str = EXCLUSIVE
    context: str = ""
    duration_ms: int = 0
    lenient: bool = False
    soft: bool = False
    quiet_ms: int = 0
    limit: int = 0
    bound: int = 0
    static: bool = False
    linger_ms: int = 0
    key: int = 0

    @property
    def is_set(self) -> bool:
        """Whether it is for several names, all or none."""
        return len(self.names) > 1

    @property
    def name(self) -> Name:
        """The name; of a set its first one. bytes if it is no text."""
        return plain_name(self.names[0])

    def about(self, error: E, what: str = "") -> E:
        """The exception, which names the lock then."""
        names = ", ".join(f"'{_frame.show_name(name)}'" for name in self.names)
        context = f" of context '{self.context}'" if self.context else ""
        error.text = f"{names}{context}{what}: {error.text}"
        error.args = (error.text,)
        error.name = self.name
        return error


def plain_name(name: bytes) -> Name:
    """A name as str, or as bytes if it is no text."""
    field, value = _frame.object_field(name)
    return value if field == "object" else name


def to_ms(seconds: Optional[float], what: str, absent: int) -> int:
    """Seconds as milliseconds, rounded up; ``absent`` for None."""
    if seconds is None:
        return absent
    try:
        in_range = 0 <= seconds <= TIME_MAX / 1000
    except (TypeError, ValueError):
        in_range = None
    if in_range is None or isinstance(seconds, bool):
        raise Invalid(f"{what} is a number of seconds, not {seconds!r}")
    if not in_range:
        raise Invalid(f"{what} is out of range: {seconds!r}")
    return math.ceil(round(seconds * 1000, 6))


def check_str(text: Optional[str], what: str) -> str:
    """A text; empty for None."""
    if text is not None and not isinstance(text, str):
        raise Invalid(f"{what} is a str, not {text!r}")
    return text or ""


def check_text(text: Optional[str], what: str) -> str:
    """A context or reason."""
    text = check_str(text, what)
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        size = TEXT_MAX + 1
    if size > TEXT_MAX or "\0" in text:
        raise Invalid(f"{what} is up to 255 bytes of UTF-8 text")
    return text


def check_name(name: Name) -> bytes:
    """The bytes of a lock's name."""
    if not isinstance(name, (str, bytes, bytearray)):
        raise Invalid("the name of a lock is a str or bytes")
    try:
        data = _frame.to_bytes(name)
    except UnicodeEncodeError:
        raise Invalid("the name of a lock is no text") from None
    if not 1 <= len(data) <= _frame.OBJECT_MAX:
        raise Invalid("the name of a lock is 1 to 4096 bytes")
    return data


def check_names(names: Iterable[Name]) -> Tuple[bytes, ...]:
    """The names of a set."""
    if isinstance(names, (str, bytes, bytearray)) \
            or not isinstance(names, Iterable):
        raise Invalid("a set has a list of names")
    checked: List[bytes] = [check_name(name) for name in names]
    if not 1 <= len(checked) <= SET_MAX:
        raise Invalid("a set has 1 to 128 names")
    if len(set(checked)) < len(checked):
        raise Invalid("a set has no name twice")
    return tuple(checked)


def check_number(value: int, what: str, most: int) -> int:
    """A whole number from 0 to ``most``."""
    if isinstance(value, bool) or not isinstance(value, int) \
            or not 0 <= value <= most:
        raise Invalid(f"{what} is a whole number from 0 to {most}")
    return value


def _check_semaphore(wish: Wish) -> None:
    if wish.type == SEMAPHORE:
        if wish.limit == 0 and wish.bound == 0:
            raise Invalid("a semaphore needs a limit or a bound")
        check_number(wish.limit, "a limit", LIMIT_MAX)
        check_number(wish.bound, "a bound", LIMIT_MAX)
    elif wish.limit or wish.bound:
        raise Invalid("only a semaphore has a limit or a bound")


def check(wish: Wish) -> Wish:
    """The wish, if it makes sense."""
    if wish.lenient and wish.duration_ms == 0:
        raise Invalid("a lenient lock needs a duration")
    if wish.lenient and wish.static:
        raise Invalid("a static lock is not lenient: its holder may not be "
                      "there to be asked for it")
    _check_semaphore(wish)
    if wish.soft and wish.type != EXCLUSIVE:
        raise Invalid("only an exclusive request can be soft")
    if wish.quiet_ms and not wish.soft:
        raise Invalid("only a soft request has a quiet time")
    if wish.quiet_ms > QUIET_MAX_MS:
        raise Invalid("a quiet time is up to a day")
    if wish.static and wish.linger_ms:
        raise Invalid("a static lock stays anyway, and does not linger")
    if wish.is_set and (wish.lenient or wish.static or wish.quiet_ms
                        or wish.key):
        raise Invalid("a set is not lenient or static, has no quiet time, "
                      "and is not taken over with a key")
    check_number(wish.key, "a key", (1 << 64) - 1)
    return wish
