#   _session.py - sessions that block
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Blocking sessions, which any thread may use: what they do is done by their
listener."""

from __future__ import annotations

import weakref
from types import TracebackType
from typing import Any, Iterable, List, NoReturn, Optional, Set
from typing import Type, TypeVar

from . import _locks, _look, _others, _wish
from ._drive import CONNECT_S, Driver, Steps
from ._handle import Handle, Key
from ._listener import Listener
from ._look import History, Member, Status, Ticket
from ._others import Check
from ._wish import Name
from .errors import refuse_copy

T = TypeVar("T")


class Session:
    """A way to the lock service of this host, or of others.

    ``endpoint`` is where the router listens, 'ipc://PATH', or several of
    them with commas, which are tried in turn; without it
    $LOCKKEEPER_ENDPOINT counts, then /etc/lockkeeper/lockkeeper.conf, then
    ipc:///run/lockkeeper/router. ``name`` is shown to others with the
    process's number behind it, otherwise the program's. ``connect_timeout``
    is how many seconds to wait for the router, which otherwise raises
    Disconnected, or Refused.

    ``client`` is the path of a client file, for a machine without a router:
    otherwise $LOCKKEEPER_CLIENT, unless ``endpoint`` is one of this host. The
    session is one of a server in that file then, or of those that
    ``endpoint`` names, 'tcp://h1:7412,tcp://h2:7412'. When that server ends,
    or is silent, another one takes over what the session has asked for and
    holds; if none is heard until the lease is over, the locks are lost.

    A session and its locks may be used by all threads of the process. It has
    a thread of its own, which does the repeating and hears what happens; on
    demand another one, in which callbacks run. After fork() it is the
    parent's alone: in the child its locks are not held and all else raises
    Misuse, so open another one there. (What was acquired by a parent that is
    gone is given back.)

    close(), or the end of a ``with`` block, gives back all locks but static
    ones; so do a regular end of the process, and the garbage collector when
    nobody has the session or one of its locks any more. A process that is
    killed gives all back as well: the router watches it, or the server hears
    no more of it.
    """

    def __init__(self, endpoint: Optional[str] = None, *,
                 name: Optional[str] = None,
                 connect_timeout: Optional[float] = CONNECT_S,
                 client: Optional[str] = None) -> None:
        connect_ms = _wish.to_ms(connect_timeout, "a timeout", -1)
        self._driver = Driver(endpoint, name, client)
        self._listener = Listener(self._driver)
        self._kept: Set[Handle] = set()  # that are asked for or held
        self._listener.start()
        self._end = weakref.finalize(self, self._listener.drop)
        self._end.atexit = False
        try:
            self._run(self._driver.connect_steps(connect_ms))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]],
                 value: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "open" if self._driver.is_alive else "closed"
        return f"<Session {self._driver.way.name}@{self.host}: {state}>"

    def __reduce__(self) -> NoReturn:
        refuse_copy(self)

    def close(self) -> None:
        """Gives back all locks but static ones, for which it waits up to a
        second, and leaves. Once more does nothing; in a child, too."""
        self._end.detach()
        self._listener.close()

    #   -------------------------------------------------------- making locks

    def lock(self, name: Name, **options: Any) -> "_locks.Lock":
        """Lock(name, session=self, ...)."""
        return _locks.Lock(name, session=self, **options)

    def semaphore(self, name: Name, limit: Optional[int] = None,
                  **options: Any) -> "_locks.Semaphore":
        """Semaphore(name, limit, session=self, ...)."""
        return _locks.Semaphore(name, limit, session=self, **options)

    def rwlock(self, name: Name, **options: Any) -> "_locks.RWLock":
        """RWLock(name, session=self, ...)."""
        return _locks.RWLock(name, session=self, **options)

    def lock_all(self, names: Iterable[Name],
                 **options: Any) -> "_locks.LockSet":
        """LockSet(names, session=self, ...)."""
        return _locks.LockSet(names, session=self, **options)

    #   -------------------------------------------------------- questions

    @property
    def host(self) -> str:
        """This host's name, as its router calls it; with a client file that
        of the server."""
        return self._driver.way.host

    @property
    def closed(self) -> bool:
        """Whether it was closed, or belongs to the parent of this process."""
        return not self._driver.is_alive

    def status(self, timeout: Optional[float] = 5.0) -> Status:
        """How the lock service of this host is."""
        return self._run(_look.status(self._driver, timeout))

    def list(self, name: Optional[Name] = None, *, context: str = "",
             timeout: Optional[float] = 10.0) -> "List[Ticket]":
        """Who holds and who waits for locks in the whole cluster, or for the
        one of that name; those of one name stand together, holders first,
        then the queue."""
        return self._run(_look.list_tickets(
            self._driver, name, context, timeout))

    def owners(self, name: Name, *, context: str = "",
               timeout: Optional[float] = 10.0) -> "List[Ticket]":
        """Who holds and who waits for that lock, as list(), and what their
        hosts know of them: command, user, and whether it is in jeopardy."""
        return self._run(_look.owners(self._driver, name, context,
                                         timeout))

    def history(self, name: Optional[Name] = None, *, count: int = 20,
                context: str = "",
                timeout: Optional[float] = 10.0) -> History:
        """What happened to a lock of late, or to all of them, as the hosts of
        the cluster saw it: the last ``count`` events, up to 500. It is
        remembered in memory that is bounded, and lost when a lock service
        ends."""
        return self._run(_look.history(self._driver, name, context,
                                          count, timeout))

    def members(self,
                timeout: Optional[float] = 10.0) -> "List[Member]":
        """The hosts of the cluster: leaders first, then members, then those
        that are heard and no members."""
        return self._run(_look.members(self._driver, timeout))

    def check(self, name: Name, token: int, *, context: str = "",
              timeout: Optional[float] = 5.0) -> Check:
        """For who guards what a lock protects: is ``token`` still that of a
        holder? The answer may be old when it arrives, so compare with the
        highest token that was seen, too."""
        return self._run(_others.check(self._driver, name, token, context,
                                       timeout))

    def unlock(self, name: Name, key: Key, *, now: bool = False,
               context: str = "", timeout: Optional[float] = None) -> None:
        """Ends the lock of whoever holds it with that key, from any host.
        Waits until the holder has given it back, or had its time to stop;
        with ``now`` others may have it at once, beside a holder that may
        still be at work. Raises Denied, Unknown (nobody holds it) or
        TimedOut: it may still happen then."""
        self._run(_others.unlock(self._driver, name, key, now, context,
                                 timeout))

    def force(self, name: Name, *, token: int = 0,
              reason: Optional[str] = None, now: bool = False,
              context: str = "", timeout: Optional[float] = None) -> None:
        """Takes a lock away from all of its holders, or from the one with
        that token, as an operator; they see the reason. Waits until the last
        of them is gone, as unlock() does."""
        how = _others.Forcing(token, reason, now)
        self._run(_others.force(self._driver, name, how, context, timeout))

    #   -------------------------------------------------------- waiting

    def _run(self, steps: Steps[T]) -> T:
        return self._listener.run(steps)
