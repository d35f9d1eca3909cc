#   errors.py - what can go wrong, as exceptions
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""What can go wrong.

Each exception has ``reason``, the protocol's word for it
(lockkeeper-protocol(7), 11), and ``text``, a sentence for people, which is
also what str() gives. If it is about a lock, ``text`` names it, and so does
``name``, which is None otherwise.

    LockkeeperError
        NotGranted      a request was not granted
            TimedOut    ... its time is over (also a TimeoutError)
            Busy        ... somebody else holds the lock, and we did not wait
            Deadlock    ... two holders want to change to exclusive
            Shutdown    ... the lock service of this host is stopping
            Overloaded  ... a limit is reached, try again later
            Isolated    ... this host lost touch with the others
        LockLost        a lock was held and is no more
        Denied          wrong key, or nobody has that token (PermissionError)
        Unknown         nobody holds the lock, or there is no such host
        Invalid         the request makes no sense (also a ValueError)
        Disconnected    there is no router, or it went (ConnectionError)
        Refused         the router does not want us (also a ConnectionError)
        Misuse          the module is used in a wrong way (RuntimeError)
"""

from __future__ import annotations

from typing import Dict, NoReturn, Type, Union

#   As in <lockkeeper/error.h>.
TEXTS: Dict[str, str] = {
    "ok": "no error",
    "timedout": "the time for it is over",
    "full": "somebody else holds the lock",
    "denied": "that is not yours to do: wrong or missing key",
    "invalid": "the request makes no sense",
    "overloaded": "a limit is reached, try again later",
    "shutdown": "the lock service is stopping",
    "isolated": "this host lost touch with the leaders",
    "disconnected": "the router or lock service ended",
    "released": "somebody else released it with its key",
    "lost": "no surviving leader knew of the lock",
    "unknown": "nobody knows of that",
    "refused": "the other side refused",
    "late": "it was given back after its time was over",
    "forced": "an operator took the lock away",
    "quorum": "too few hosts of the cluster are left",
    "deadlock": "both would wait for each other for ever",
    "system": "the operating system refused",
    "outdated": "it was changed meanwhile",
    "credential": "its credential has ended",
}


def text_of(reason: str) -> str:
    """The sentence of a reason."""
    return TEXTS.get(reason, TEXTS["unknown"])


class LockkeeperError(Exception):
    """The base of all exceptions of this module."""

    reason = "unknown"
    #: Of the lock that it is about; of a set its first one.
    name: Union[str, bytes, None] = None

    def __init__(self, text: str = "", reason: str = "") -> None:
        if reason:
            self.reason = reason
        self.text = text or text_of(self.reason)
        super().__init__(self.text)


class NotGranted(LockkeeperError):
    """The lock is not held; ``reason`` says why."""

    reason = "unknown"


class TimedOut(NotGranted, TimeoutError):
    """The time for it is over."""

    reason = "timedout"


class Busy(NotGranted):
    """Somebody else holds the lock, and we did not want to wait."""

    reason = "full"


class Deadlock(NotGranted):
    """Another holder waits to be exclusive already: release, start again."""

    reason = "deadlock"


class Shutdown(NotGranted):
    """The lock service of this host is stopping."""

    reason = "shutdown"


class Overloaded(NotGranted):
    """A limit is reached: try again later."""

    reason = "overloaded"


class Isolated(NotGranted):
    """This host lost touch with the leaders, or with too many hosts."""

    reason = "isolated"


class LockLost(LockkeeperError):
    """A lock was held and is no more: stop what you do under it.

    ``reason`` is 'timedout' (its duration is over), 'isolated', 'quorum',
    'disconnected', 'shutdown', 'released', 'forced', 'lost', 'late' or
    'credential';
    ``comment`` what an operator said who took it away, if he did.
    """

    reason = "lost"

    def __init__(self, text: str = "", reason: str = "",
                 comment: str = "") -> None:
        super().__init__(text, reason)
        self.comment = comment


class Denied(LockkeeperError, PermissionError):
    """That is not the key, or nobody holds the lock with that token."""

    reason = "denied"


class Unknown(LockkeeperError):
    """Nobody holds the lock that is to be ended, or no such host."""

    reason = "unknown"


class Invalid(LockkeeperError, ValueError):
    """The request makes no sense."""

    reason = "invalid"


class Disconnected(LockkeeperError, ConnectionError):
    """There is no router at the endpoint, or it went."""

    reason = "disconnected"


class Refused(LockkeeperError, ConnectionError):
    """The router of this host does not want us, or no server does; with the
    ``reason`` 'credential' that of the machine does not count, or there is
    none: ``lockkeeper login``."""

    reason = "refused"


class Misuse(LockkeeperError, RuntimeError):
    """The module is used in a wrong way, such as a session after fork()."""

    reason = "invalid"


_KINDS: Dict[str, Type[LockkeeperError]] = {
    "timedout": TimedOut,
    "full": Busy,
    "deadlock": Deadlock,
    "shutdown": Shutdown,
    "overloaded": Overloaded,
    "isolated": Isolated,
    "quorum": Isolated,
    "denied": Denied,
    "unknown": Unknown,
    "invalid": Invalid,
    "disconnected": Disconnected,
    "refused": Refused,
}


def error_of(reason: str, text: str = "") -> LockkeeperError:
    """The exception for a request that failed with that reason."""
    return _KINDS.get(reason, NotGranted)(text or text_of(reason), reason)


def refuse_copy(thing: object) -> NoReturn:
    """For what pickle or copy should leave alone."""
    raise TypeError(f"a {type(thing).__name__} cannot be copied or pickled: "
                    "it belongs to its process, so make another one there")
