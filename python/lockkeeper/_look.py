#   _look.py - who holds and waits for what, and what happened to it
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""What lockkeeper(1) shows by its list, show, status and members: as steps
that blocking and asyncio sessions share. Nothing here changes a lock."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from . import _frame, _wish
from ._questions import Question
from ._drive import Driver, Steps, Until, end_of
from ._frame import Body, Message
from ._lease import now_ms
from ._letter import SERVICE
from ._wish import Name, plain_name
from .errors import Invalid, Isolated

_OTHERS_MS = 3000  # one host that does not answer should not hold up the rest
_OWNERS_MAX = 500
_EVENTS_MAX = 500


@dataclass(frozen=True)
class Ticket:
    """Who holds or waits for a lock. ``state`` is 'held', 'waiting', or
    'later' for a lock of a set that is asked for when those ahead of it are
    held; ``since`` how many seconds ago he asked, or got it; ``left`` how many
    are left of its duration, None if it has none or that is not known; when
    it is over ``fields["grace_ms"]`` is for how long others are kept from it.

    Session.owners() fills in ``command``, ``arguments`` and ``uid`` of the
    process, and ``in_jeopardy``; they are None if its host did not answer or
    does not know. ``fields`` has all that the lock service told.
    """

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
    command: Optional[str] = None
    arguments: Optional[str] = None
    uid: Optional[int] = None
    in_jeopardy: Optional[bool] = None


@dataclass(frozen=True)
class Member:
    """A host. ``role`` is 'first leader', 'leader', 'member', or 'proxy' for
    one that is no member but heard; ``seen``: it was heard of late; ``id`` is
    that of its state file, empty if it was never heard; ``domain``: its
    location domain, empty if the settings do not have it."""

    host: str
    role: str
    seen: bool
    id: str
    domain: str


@dataclass(frozen=True)
class Happening:
    """Something that happened to a lock. ``event`` is 'granted', 'released',
    'ended' with the process that held it, 'lost' (``error``: why), 'failed',
    that is, not obtained (``error``: why), or 'forced', which an operator
    asked for, who is the owner here (``reason``: what he said). Seconds:
    ``ago``, ``waited``, ``held``. ``fields`` has all that was told."""

    event: str
    ago: float
    name: Name
    context: str
    host: str
    owner: str
    pid: int
    token: int
    waited: float
    held: float
    error: str
    reason: str
    fields: Dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class History(Sequence[Happening]):
    """What happened, the oldest first. ``silent`` are hosts that did not
    answer: what they know of is missing."""

    happenings: Tuple[Happening, ...]
    silent: Tuple[str, ...]

    def __getitem__(self, at: Any) -> Any:
        return self.happenings[at]

    def __len__(self) -> int:
        return len(self.happenings)

    def __iter__(self) -> Iterator[Happening]:
        return iter(self.happenings)


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


#   ------------------------------------------------------------ asking


def _ask(driver: Driver, to: str, command: str, body: Optional[Body],
         answers: Tuple[str, ...], end_ms: int) -> Steps[Message]:
    question = yield from driver.ask_steps(to, command, body, answers, end_ms)
    assert question.answer is not None
    return question.answer


def _ask_all(driver: Driver, command: str, bodies: Dict[str, Body],
             end_ms: int) -> Steps[Dict[str, Message]]:
    """Asks hosts at the same time; the answers of those that gave one."""
    questions = {host: Question(f"lock@{host}", command, body, (command,))
                 for host, body in bodies.items()}
    end_ms = min(end_ms, now_ms() + _OTHERS_MS)
    try:
        for question in questions.values():
            driver.way.ask(question, now_ms())
        yield Until(lambda: all(question.done
                                for question in questions.values()), end_ms)
    finally:
        for question in questions.values():
            driver.way.drop(question)
    return {host: question.answer for host, question in questions.items()
            if question.answer is not None}


def _end(timeout: Optional[float]) -> int:
    return end_of(_wish.to_ms(timeout, "a timeout", -1))


def _texts(value: Any) -> Tuple[str, ...]:
    items = value if isinstance(value, list) else []
    return tuple(item for item in items if isinstance(item, str))


def _rows(message: Message, name: str) -> List[Message]:
    """The objects of a list, to be read like messages."""
    items = (message.body or {}).get(name)
    return [Message("", "", "", 0, item)
            for item in (items if isinstance(items, list) else [])
            if isinstance(item, dict)]


def _name_fields(name: Optional[Name], context: str) -> Body:
    if name is None:
        return {}
    fields = dict([_frame.object_field(_wish.check_name(name))])
    if _wish.check_text(context, "a context"):
        fields["context"] = context
    return fields


#   ------------------------------------------------------------ status


def _ask_status(driver: Driver, to: str, end_ms: int) -> Steps[Message]:
    return (yield from _ask(driver, to, "LOCKSTATUS", None,
                            ("LOCKREADY", "NOLOCK"), end_ms))


def status(driver: Driver, timeout: Optional[float]) -> Steps[Status]:
    """How the lock service of this host is."""
    answer = yield from _ask_status(driver, SERVICE, _end(timeout))
    body = answer.body or {}
    return Status(answer.command == "LOCKREADY", answer.text("reason"),
                  answer.text("host"), answer.text("cluster"),
                  _texts(body.get("leaders")), _texts(body.get("members")),
                  body)


def members(driver: Driver, timeout: Optional[float]) -> Steps[List[Member]]:
    """All hosts, as the first leader sees them, or else this host."""
    end_ms = _end(timeout)
    answer = yield from _ask(driver, SERVICE, "LOCKMEMBERS", None,
                             ("LOCKMEMBERS",), end_ms)
    first = _texts((answer.body or {}).get("leaders"))[:1]
    if first and first[0] != driver.way.host:
        answers = yield from _ask_all(driver, "LOCKMEMBERS", {first[0]: {}},
                                      end_ms)
        answer = answers.get(first[0], answer)
    return [Member(row.text("host"), row.text("role"), row.flag("seen"),
                   row.text("id"), row.text("domain"))
            for row in _rows(answer, "members")]


#   ------------------------------------------------------------ tickets


def _ticket_of(row: Message) -> Optional[Ticket]:
    name = _frame.read_object(row.body or {})
    if name is None:
        return None
    left_ms = row.number("left_ms", -1)
    return Ticket(plain_name(name), row.text("context"), row.text("host"),
                  row.text("owner"), row.number("pid"), row.text("state"),
                  row.number("since_ms") / 1000, row.hex("token") or 0,
                  row.text("type"), None if left_ms < 0 else left_ms / 1000,
                  row.body or {})


def _list_of(driver: Driver, to: str, name: Body, end_ms: int) -> Steps[
        Tuple[Optional[List[Ticket]], Tuple[str, ...]]]:
    """All tickets that this lock service tells; or None, and whom to ask
    instead. A list that is empty is left out."""
    tickets: List[Ticket] = []
    cursor: Any = 0
    while True:
        answer = yield from _ask(driver, to, "LOCKLIST",
                                 {**name, "cursor": cursor}, ("LOCKLIST",),
                                 end_ms)
        body = answer.body or {}
        if "tickets" not in body:
            return None, _texts(body.get("leaders"))
        found = map(_ticket_of, _rows(answer, "tickets"))
        tickets.extend(ticket for ticket in found if ticket is not None)
        cursor = body.get("cursor")
        if not cursor:
            return tickets, ()


def list_tickets(driver: Driver, name: Optional[Name], context: str,
                 timeout: Optional[float]) -> Steps[List[Ticket]]:
    """Who holds and who waits for locks in the whole cluster."""
    end_ms, wanted = _end(timeout), _name_fields(name, context)
    to = SERVICE
    for _ in range(8):
        tickets, leaders = yield from _list_of(driver, to, wanted, end_ms)
        if tickets is not None:
            return tickets
        if not leaders:
            status = yield from _ask_status(driver, to, end_ms)
            if status.flag("leads") or status.text("zone"):
                return []  # a zone is told all by its own lock service
            raise Isolated("no leaders are known")
        to = f"lock@{leaders[0]}"
    raise Isolated("each lock service names another one as the leader")


Ids = Tuple[str, Any, Any]


def _id_of(host: str, fields: Body) -> Ids:
    return host, fields.get("session"), fields.get("serial")


def owners(driver: Driver, name: Name, context: str,
           timeout: Optional[float]) -> Steps[List[Ticket]]:
    """Who holds and waits for one lock, with what their hosts know of them."""
    end_ms = _end(timeout)
    tickets = yield from list_tickets(driver, name, context, timeout)
    asked: Dict[str, Body] = {}
    for ticket in tickets[:_OWNERS_MAX]:
        if not ticket.host:
            continue  # a zone is told of no hosts
        rows = asked.setdefault(ticket.host, {"tickets": []})["tickets"]
        rows.append({one: ticket.fields[one]
                     for one in ("session", "serial", "pid")
                     if one in ticket.fields})
    answers = yield from _ask_all(driver, "LOCKOWNERS", asked, end_ms)
    known = {_id_of(host, row.body or {}): row
             for host, answer in answers.items()
             for row in _rows(answer, "owners")}

    def told(ticket: Ticket) -> Ticket:
        row = known.get(_id_of(ticket.host, ticket.fields))
        body = row.body or {} if row is not None else {}
        return replace(ticket, command=body.get("command"),
                       arguments=body.get("arguments"), uid=body.get("uid"),
                       in_jeopardy=body.get("jeopardy"))
    return [told(ticket) for ticket in tickets]


#   ------------------------------------------------------------ history


def _happening_of(row: Message) -> Optional[Happening]:
    name = _frame.read_object(row.body or {})
    if name is None:
        return None
    return Happening(row.text("event"), row.number("ago_ms") / 1000,
                     plain_name(name), row.text("context"), row.text("host"),
                     row.text("owner"), row.number("pid"),
                     row.hex("token") or 0, row.number("waited_ms") / 1000,
                     row.number("held_ms") / 1000, row.text("error"),
                     row.text("reason"), row.body or {})


def history(driver: Driver, name: Optional[Name], context: str, count: int,
            timeout: Optional[float]) -> Steps[History]:
    """The last so many events of a lock, or of all, as all hosts saw them."""
    end_ms = _end(timeout)
    wanted = _name_fields(name, context)
    wanted["count"] = _wish.check_number(count, "a count", _EVENTS_MAX)
    try:
        hosts = [one.host for one in (yield from members(driver, timeout))]
    except Invalid:
        #   A zone is told of no hosts: its own lock service asks them.
        hosts, answers = [], {"": (yield from _ask(
            driver, SERVICE, "LOCKHISTORY", wanted, ("LOCKHISTORY",),
            end_ms))}
    else:
        answers = yield from _ask_all(driver, "LOCKHISTORY",
                                      {host: wanted for host in hosts}, end_ms)
    found = [_happening_of(row) for answer in answers.values()
             for row in _rows(answer, "events")]
    happenings = sorted((one for one in found if one is not None),
                        key=lambda one: -one.ago)
    return History(tuple(happenings[-count:] if count else ()),
                   tuple(host for host in hosts if host not in answers))
