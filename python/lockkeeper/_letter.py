#   _letter.py - the messages that a session sends to its lock service
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""LOCK, UNLOCK and LOCKCHECK out of entries of the book, and what a LOCKED
says. lockkeeper-protocol(7) has their fields."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Dict, List, Optional, Tuple

from . import _frame
from ._entry import Deed, Entry
from ._frame import Body, Message
from ._lease import FOREVER

SERVICE = "lock@."
TTL_MAX = 255


def _add_name(body: Body, entry: Entry) -> None:
    field, value = _frame.object_field(entry.wish.names[0])
    body[field] = value
    if entry.wish.context:
        body["context"] = entry.wish.context


def _add_names(body: Body, entry: Entry, held: bool = False) -> None:
    """``held``: and what they are held by."""
    rows: List[Body] = [dict([_frame.object_field(name)])
                        for name in entry.wish.names]
    if held:
        for row, token, key in zip(rows, entry.tokens, entry.keys):
            row["token"] = _frame.write_hex(token)
            row["key"] = _frame.write_hex(key)
    if entry.wish.is_set:
        body["locks"] = rows
    else:
        body.update(rows[0])
    if entry.wish.context:
        body["context"] = entry.wish.context


def _wait_left(tries: bool, wait_ms: int, since_ms: int, now_ms: int) -> int:
    if tries or wait_ms <= 0:
        return min(0, wait_ms)
    return max(0, since_ms + wait_ms - now_ms)


def _ttl_of(wait_ms: int) -> int:
    """A lock service that is not there, maybe just being restarted, may still
    get it in time."""
    return TTL_MAX if wait_ms < 0 else min(TTL_MAX, (wait_ms + 999) // 1000)


def lock(entry: Entry, now_ms: int) -> Message:
    """LOCK, with what is left of the wait."""
    wish = entry.wish
    body: Body = {}
    _add_names(body, entry)
    body["type"] = wish.type
    if wish.soft:
        body["policy"] = "soft"
    for name, number in (("quiet", wish.quiet_ms), ("limit", wish.limit),
                         ("bound", wish.bound), ("linger", wish.linger_ms)):
        if number:
            body[name] = number
    for name, flag in (("lenient", wish.lenient), ("static", wish.static)):
        if flag:
            body[name] = True
    wait_ms = _wait_left(entry.tries, entry.wait_ms, entry.asked_at, now_ms)
    body["wait"] = wait_ms
    body["duration"] = wish.duration_ms
    if wish.key:
        body["key"] = _frame.write_hex(wish.key)
    body["pid"] = os.getpid()
    return Message(SERVICE, "", "LOCK", entry.serial, body,
                   ttl=_ttl_of(wait_ms))


def _duration_of(entry: Entry, now_ms: int) -> int:
    """No home knows that of a set, so it is what is left of it."""
    duration_ms = entry.wish.duration_ms
    if entry.wish.is_set and duration_ms:
        return max(1, entry.until_ms - now_ms)
    return duration_ms


def _held(entry: Entry, now_ms: int) -> Body:
    """What is held, as the lock service knew it."""
    wish = entry.wish
    body: Body = {}
    _add_names(body, entry, held=True)
    body["type"] = entry.type
    if wish.soft and entry.type == wish.type:
        body["policy"] = "soft"
    for name, number in (("limit", wish.limit), ("bound", wish.bound),
                         ("linger", wish.linger_ms)):
        if number:
            body[name] = number
    if wish.lenient:
        body["lenient"] = True
    body["duration"] = _duration_of(entry, now_ms)
    body["pid"] = os.getpid()
    return body


def resume(entry: Entry, now_ms: int) -> Message:
    """LOCK of what is held, for a lock service that does not know it."""
    body = _held(entry, now_ms)
    if entry.wish.key and entry.wish.key == entry.key:
        body["heir"] = True  # as which it came
    body["lease_until"] = entry.lease_until()
    return Message(SERVICE, "", "LOCK", entry.serial, body)


def claim(entry: Entry, left_ms: int, now_ms: int) -> Message:
    """The same for another server, on a machine without a lock service."""
    body = _held(entry, now_ms)
    body["left"] = left_ms
    return Message(SERVICE, "", "LOCK", entry.serial, body)


def change(entry: Entry, now_ms: int) -> Message:
    """LOCK of a held lock for its change of type."""
    body: Body = {}
    _add_name(body, entry)
    wanted = entry.change
    body["type"] = wanted.type
    body["wait"] = _wait_left(wanted.tries, wanted.wait_ms, wanted.asked_at,
                              now_ms)
    body["turn"] = entry.turn
    body["pid"] = os.getpid()
    return Message(SERVICE, "", "LOCK", entry.serial, body)


def end(entry: Entry) -> Message:
    """What ends it: UNLOCK of our own request, with its key if that is
    known, in case that the lock service is another one by now (a set goes by
    its request alone); or UNLOCK by a key, by force, or LOCKCHECK."""
    body: Body = {}
    if entry.deed is Deed.LOCK:
        body["request"] = entry.serial
        if not entry.wish.is_set:
            _add_name(body, entry)
            if entry.token:
                body["key"] = _frame.write_hex(entry.key)
        return Message(SERVICE, "", "UNLOCK", entry.serial + 1, body)
    _add_name(body, entry)
    if entry.deed is Deed.UNLOCK:
        body["key"] = _frame.write_hex(entry.key)
    elif entry.deed is Deed.FORCE:
        body["force"] = True
        if entry.comment:
            body["reason"] = entry.comment
    if entry.now:
        body["now"] = True
    if entry.deed is Deed.CHECK or (entry.deed is Deed.FORCE and entry.token):
        body["token"] = _frame.write_hex(entry.token)
    command = "LOCKCHECK" if entry.deed is Deed.CHECK else "UNLOCK"
    return Message(SERVICE, "", command, entry.serial + 1, body)


def far_end(entry: Entry, serial: int) -> Message:
    """UNLOCK of the request that it is, or was before it began anew; with all
    its names, for a server that does not know it."""
    body: Body = {"request": serial}
    _add_names(body, entry)
    return Message(SERVICE, "", "UNLOCK", serial + 1, body)


def give_back(grant: Message) -> Message:
    """UNLOCK for a LOCKED that nobody here has asked for any more. A lock
    service that does not know the request is not the one that granted it:
    then it is given back already."""
    return Message(SERVICE, "", "UNLOCK", grant.serial + 1,
                   {"request": grant.serial})


#   ------------------------------------------------------------ LOCKED


@dataclass
class Grant:
    """What a LOCKED says."""

    is_far: bool  # by a registration, and without a lease

    tokens: List[int]  # of each name, in the order of asking
    keys: List[int]
    type: str
    ordinal: int
    turn: int
    static: bool
    until_ms: int
    session: int
    lease_until_ms: int
    lease_ms: int
    lease_page: str


Row = Tuple[int, int]


def _read_row(body: Body) -> Optional[Row]:
    token = _frame.read_hex(body.get("token"))
    key = _frame.read_hex(body.get("key"))
    return None if not token or key is None else (token, key)


def _read_rows(message: Message, names: Tuple[bytes, ...],
               is_set: bool) -> Optional[List[Row]]:
    """Token and key of each name; None if one is missing."""
    body = message.body or {}
    if ("locks" in body) != is_set:
        return None
    if not is_set:
        row = _read_row(body)
        return None if row is None else [row]
    found: Dict[bytes, Row] = {}
    rows = body["locks"]
    for item in rows if isinstance(rows, list) else []:
        name = _frame.read_object(item) if isinstance(item, dict) else None
        row = _read_row(item) if name is not None else None
        if name is not None and row is not None:
            found[name] = row
    if any(name not in found for name in names):
        return None
    return [found[name] for name in names]


def _read_until(message: Message, is_far: bool) -> int:
    """When its duration is over, by our clock; -1: it has none."""
    if not is_far:
        return message.number("until", -1)
    left_ms, as_of = message.number("left", -1), message.number("as_of")
    return -1 if left_ms < 0 or as_of < 0 else as_of + left_ms


def read_grant(message: Message, entry: Entry) -> Optional[Grant]:
    """What a LOCKED of that entry says; None if something is missing."""
    is_far = "registration" in (message.body or {})
    session = message.number("registration" if is_far else "session")
    rows = _read_rows(message, entry.wish.names, entry.wish.is_set)
    if session <= 0 or rows is None:
        return None
    until_ms = _read_until(message, is_far)
    return Grant(
        is_far=is_far, tokens=[token for token, _ in rows],
        keys=[key for _, key in rows],
        type=message.text("type"), ordinal=message.number("ordinal"),
        turn=message.number("turn"), static=message.flag("static"),
        until_ms=FOREVER if until_ms < 0 else until_ms,
        session=session, lease_until_ms=message.number("lease_until"),
        lease_ms=message.number("lease"),
        lease_page=message.text("lease_page"))
