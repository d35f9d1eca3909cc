#   _others.py - locks of others, and how the cluster is
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Unlocking with a key, by force, checking tokens, list and status: as steps
that blocking and asyncio sessions share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Tuple

from . import _frame, _wish
from ._drive import Driver, Steps, Until, end_of
from ._entry import Entry, Life
from ._frame import Body, Message
from ._handle import Key, key_of, plain_name
from ._lease import now_ms
from ._letter import SERVICE
from ._wish import Name, Wish
from .errors import Isolated, TimedOut, error_of


@dataclass(frozen=True)
class Check:
    """What a LOCKCHECK says: whether somebody holds the lock with that token
    now, and the highest token that it is held with (0: nobody does)."""

    held: bool
    newest: int

    def __bool__(self) -> bool:
        return self.held


@dataclass(frozen=True)
class Ticket:
    """Who holds or waits for a lock. ``state`` is 'held', 'waiting', or
    'later' for a lock of a set that is asked for when those ahead of it are
    held. ``fields`` has all that the lock service told."""

    name: Name
    context: str
    host: str
    owner: str
    pid: int
    state: str
    since: float
    token: int
    type: str
    left: Optional[float]
    fields: Dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Status:
    """How the lock service of this host is. ``ready``: requests are served
    now; otherwise ``reason`` is a sentence that says why not. ``fields`` has
    all that it told, see LOCKREADY in lockkeeper-protocol(7)."""

    ready: bool
    reason: str
    host: str
    cluster: str
    leaders: Tuple[str, ...]
    members: Tuple[str, ...]
    fields: Dict[str, Any] = field(repr=False)


def _wish_of(name: Name, context: str) -> Wish:
    return Wish((_wish.check_name(name),),
                context=_wish.check_text(context, "a context"))


def _await_steps(driver: Driver, entry: Entry,
                 timeout: Optional[float]) -> Steps[None]:
    wait_ms = _wish.to_ms(timeout, "a timeout", -1)
    try:
        yield Until(lambda: entry.life is Life.CLOSED, end_of(wait_ms))
        closed = entry.life is Life.CLOSED
    finally:
        driver.core.book.discard(entry)
    if not closed:
        raise TimedOut(entry.remark or "nobody answered in time; "
                       "it may still happen")
    if entry.error:
        raise error_of(entry.error, entry.remark)


def unlock(driver: Driver, name: Name, key: Key, context: str,
           timeout: Optional[float]) -> Steps[None]:
    """Ends a lock with its key."""
    entry = driver.core.book.unlock_by_key(_wish_of(name, context),
                                           key_of(key), now_ms())
    yield from _await_steps(driver, entry, timeout)


def force(driver: Driver, name: Name, token: int, reason: Optional[str],
          context: str, timeout: Optional[float]) -> Steps[None]:
    """Ends a lock as an operator does."""
    entry = driver.core.book.force(
        _wish_of(name, context), key_of(token),
        _wish.check_text(reason, "a reason"), now_ms())
    yield from _await_steps(driver, entry, timeout)


def check(driver: Driver, name: Name, token: int, context: str,
          timeout: Optional[float]) -> Steps[Check]:
    """Whether a lock is held with that token."""
    entry = driver.core.book.check(_wish_of(name, context), key_of(token),
                                   now_ms())
    yield from _await_steps(driver, entry, timeout)
    return Check(entry.checked, entry.newest)


#   ------------------------------------------------------------ questions


def _ask(driver: Driver, to: str, command: str, body: Optional[Body],
         answers: Tuple[str, ...], end_ms: int) -> Steps[Message]:
    question = yield from driver.ask_steps(to, command, body, answers, end_ms)
    assert question.answer is not None
    return question.answer


def _texts(value: Any) -> Tuple[str, ...]:
    items = value if isinstance(value, list) else []
    return tuple(item for item in items if isinstance(item, str))


def status(driver: Driver, timeout: Optional[float]) -> Steps[Status]:
    """How the lock service of this host is."""
    end_ms = end_of(_wish.to_ms(timeout, "a timeout", -1))
    answer = yield from _ask(driver, SERVICE, "LOCKSTATUS", None,
                             ("LOCKREADY", "NOLOCK"), end_ms)
    body = answer.body or {}
    return Status(answer.command == "LOCKREADY", answer.text("reason"),
                  answer.text("host"), answer.text("cluster"),
                  _texts(body.get("leaders")), _texts(body.get("members")),
                  body)


def _ticket_of(row: Body) -> Optional[Ticket]:
    name = _frame.read_object(row)
    if name is None:
        return None
    told = Message("", "", "", 0, row)
    left_ms = told.number("left_ms", -1)
    return Ticket(plain_name(name), told.text("context"), told.text("host"),
                  told.text("owner"), told.number("pid"), told.text("state"),
                  told.number("since_ms") / 1000, told.hex("token") or 0,
                  told.text("type"), None if left_ms < 0 else left_ms / 1000,
                  row)


def _list_of(driver: Driver, to: str, end_ms: int) -> Steps[
        Tuple[Optional[List[Ticket]], Tuple[str, ...]]]:
    """All tickets that this lock service tells; or None, and whom to ask
    instead. A list that is empty is left out."""
    tickets: List[Ticket] = []
    cursor: Any = 0
    while True:
        answer = yield from _ask(driver, to, "LOCKLIST", {"cursor": cursor},
                                 ("LOCKLIST",), end_ms)
        body = answer.body or {}
        if "tickets" not in body:
            return None, _texts(body.get("leaders"))
        rows = body["tickets"] if isinstance(body["tickets"], list) else []
        for row in rows:
            ticket = _ticket_of(row) if isinstance(row, dict) else None
            if ticket is not None:
                tickets.append(ticket)
        cursor = body.get("cursor")
        if not cursor:
            return tickets, ()


def _leads(driver: Driver, to: str, end_ms: int) -> Steps[bool]:
    answer = yield from _ask(driver, to, "LOCKSTATUS", None,
                             ("LOCKREADY", "NOLOCK"), end_ms)
    return answer.flag("leads")


def list_tickets(driver: Driver, timeout: Optional[float]) -> Steps[
        List[Ticket]]:
    """Who holds and who waits for locks in the whole cluster."""
    end_ms = end_of(_wish.to_ms(timeout, "a timeout", -1))
    to = SERVICE
    for _ in range(8):
        tickets, leaders = yield from _list_of(driver, to, end_ms)
        if tickets is not None:
            return tickets
        if not leaders:
            if (yield from _leads(driver, to, end_ms)):
                return []
            raise Isolated("no leaders are known")
        to = f"lock@{leaders[0]}"
    raise Isolated("each lock service names another one as the leader")
