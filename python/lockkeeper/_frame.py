#   _frame.py - messages <-> the bytes of a frame
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Messages and frames, as lockkeeper-protocol(7), 1 and 3, has them.
Knows no socket and no lock."""

from __future__ import annotations

import json
import re
import struct
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

Body = Dict[str, Any]

_HEAD = struct.Struct(">2sBBIQBBBB")
_FORM_NONE, _FORM_JSON, _FORM_PACKED = 0, 1, 2
_FLAGS = 0x07
BODY_MAX = 1 << 20
OBJECT_MAX = 4096
DEPTH_MAX = 8
_NAME = re.compile(r"[A-Za-z0-9._-]{1,63}")
_HEX = re.compile(r"[0-9A-Fa-f]{16}")


class FrameError(Exception):
    """The rest of a frame cannot be read."""


@dataclass
class Message:
    """One message. ``body`` is None if it has none; if it has one that
    nobody but a lock service reads, or that is broken, ``problem`` says so.
    """

    to: str
    sender: str
    command: str
    serial: int = 0
    body: Optional[Body] = None
    problem: str = ""
    ttl: int = 0  # seconds for which a router may cache it

    def text(self, name: str, default: str = "") -> str:
        """A field that is a text."""
        value = (self.body or {}).get(name)
        return value if isinstance(value, str) else default

    def number(self, name: str, default: int = 0) -> int:
        """A field that is a whole number."""
        value = (self.body or {}).get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        return default

    def flag(self, name: str) -> bool:
        """A field that is true or false."""
        return (self.body or {}).get(name) is True

    def hex(self, name: str) -> Optional[int]:
        """A field of 16 hexadecimal digits."""
        return read_hex((self.body or {}).get(name))


def read_hex(value: Any) -> Optional[int]:
    """16 hexadecimal digits; None for anything else."""
    if isinstance(value, str) and _HEX.fullmatch(value):
        return int(value, 16)
    return None


def write_hex(value: int) -> str:
    """A 64-bit number as its 16 hexadecimal digits."""
    return f"{value:016x}"


def is_name(text: str) -> bool:
    """Whether it can be the name of a service or host."""
    return bool(_NAME.fullmatch(text)) and text not in (".", "..")


#   ------------------------------------------------------------ objects


def to_bytes(name: Union[str, bytes]) -> bytes:
    """The bytes of a lock's name; a text is UTF-8, and one that came from
    the command line or the file system is what it was there."""
    if isinstance(name, str):
        return name.encode("utf-8", "surrogateescape")
    return bytes(name)


def object_field(name: bytes) -> Tuple[str, str]:
    """The field that names a lock, and its value."""
    if b"\0" not in name:
        try:
            return "object", name.decode("utf-8")
        except UnicodeDecodeError:
            pass
    return "object_hex", name.hex()


def read_object(body: Body) -> Optional[bytes]:
    """The name of a lock in a body; None if it has none."""
    text, digits = body.get("object"), body.get("object_hex")
    if isinstance(text, str) and digits is None:
        return text.encode("utf-8", "surrogatepass")
    if isinstance(digits, str) and text is None:
        try:
            return bytes.fromhex(digits)
        except ValueError:
            return None
    return None


def show_name(name: bytes) -> str:
    """As people see it: UTF-8, with \\xNN for what is none and for control
    characters."""
    text = name.decode("utf-8", "surrogateescape")
    shown = []
    for letter in text:
        code = ord(letter)
        if 0xDC80 <= code <= 0xDCFF:
            shown.append(f"\\x{code - 0xDC00:02x}")
        elif code < 32 or code == 127:
            shown.append(f"\\x{code:02x}")
        elif 128 <= code < 160:
            shown.append("".join(f"\\x{b:02x}" for b in letter.encode()))
        else:
            shown.append(letter)
    return "".join(shown)


#   ------------------------------------------------------------ writing


def encode(message: Message) -> bytes:
    """The bytes of one message."""
    text = b""
    if message.body is not None:
        text = json.dumps(message.body, separators=(",", ":"),
                          ensure_ascii=False).encode("utf-8")
    parts = [part.encode("ascii")
             for part in (message.to, message.sender, message.command)]
    size = _HEAD.size + sum(map(len, parts)) + len(text)
    form = _FORM_JSON if text else _FORM_NONE
    head = _HEAD.pack(b"LK", 1, form, size, message.serial,
                      len(parts[0]), len(parts[1]), len(parts[2]), message.ttl)
    return head + b"".join(parts) + text


#   ------------------------------------------------------------ reading


def _no_doubles(pairs: List[Tuple[str, Any]]) -> Body:
    body = dict(pairs)
    if len(body) != len(pairs):
        raise ValueError("a name in an object is there twice")
    return body


def _depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(_depth, value), default=0)
    return 0


def _read_body(form: int, data: bytes) -> Tuple[Optional[Body], str]:
    if form == _FORM_NONE:
        return None, ""
    if form == _FORM_PACKED:
        return None, "a packed body is for lock services only"
    try:
        body = json.loads(data.decode("utf-8"),
                          object_pairs_hook=_no_doubles)
        if not isinstance(body, dict):
            return None, "the body is no JSON object"
        if _depth(body) > DEPTH_MAX:
            return None, "the body is nested too deep"
    except (ValueError, RecursionError) as error:
        return None, f"the body is no JSON: {error}"
    return body, ""


def _read_one(frame: bytes, at: int) -> Tuple[Message, int]:
    if len(frame) - at < _HEAD.size:
        raise FrameError("the header is cut off")
    (tag, version, flags, size, serial, to_len, from_len, command_len,
     ttl) = _HEAD.unpack_from(frame, at)
    head = _HEAD.size + to_len + from_len + command_len
    form = flags & 3
    if tag != b"LK" or version != 1 or flags & ~_FLAGS:
        raise FrameError("no header of this version")
    if form == 3 or (form == _FORM_PACKED and ttl):
        raise FrameError("no form of a body that there is")
    if size < head or size > len(frame) - at:
        raise FrameError("the sizes do not fit")
    if (size == head) != (form == _FORM_NONE) or size - head > BODY_MAX:
        raise FrameError("the body has another size than it should")
    texts, place = [], at + _HEAD.size
    for length in (to_len, from_len, command_len):
        try:
            texts.append(frame[place:place + length].decode("ascii"))
        except UnicodeDecodeError:
            raise FrameError("an address has other characters") from None
        place += length
    body, problem = _read_body(form, frame[place:at + size])
    return Message(texts[0], texts[1], texts[2], serial, body,
                   problem, ttl), at + size


def decode(frame: bytes) -> Iterator[Message]:
    """The messages of a frame; FrameError where it cannot be read on."""
    at = 0
    while at < len(frame):
        message, at = _read_one(frame, at)
        yield message
