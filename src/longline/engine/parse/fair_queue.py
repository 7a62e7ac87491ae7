"""Fair shares of parsing: each waiting host, and among its pages each waiting run, gets the same time."""

from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from longline.engine.parse.page_parser import Share

T = TypeVar("T")

MAX_REMEMBERED = 10_000
"""Largest number of hosts, or of runs of hosts, with a remembered account."""


@dataclass(slots=True)
class _Account:
    """The account of one host or run: seconds used so far, and pages under way."""

    seconds: float = 0.0
    under_way: int = 0

    @property
    def turn(self) -> tuple[int, float]:
        """Return the sort key of turns; the lowest goes first."""
        return self.under_way, self.seconds


class _Accounts(Generic[T]):
    """Accounts by name. A returning account starts level with the waiting ones, so that no credit is saved up."""

    def __init__(self) -> None:
        self._accounts: OrderedDict[T, _Account] = OrderedDict()
        self._now = 0.0

    def enter(self, name: T) -> None:
        account = self.of(name)
        account.seconds = max(account.seconds, self._now)

    def of(self, name: T) -> _Account:
        if name not in self._accounts:
            self._accounts[name] = _Account(self._now)
            self._forget()
        return self._accounts[name]

    def begin(self, name: T) -> None:
        account = self.of(name)
        account.under_way += 1
        self._now = max(self._now, account.seconds)

    def end(self, name: T, seconds: float) -> None:
        account = self.of(name)
        account.under_way = max(0, account.under_way - 1)
        account.seconds += seconds

    def _forget(self) -> None:
        if len(self._accounts) > MAX_REMEMBERED:
            self._accounts.popitem(last=False)


@dataclass(slots=True)
class _HostQueue(Generic[T]):
    """The waiting pages of one host, by run."""

    runs: dict[int, deque[T]] = field(default_factory=dict)


class FairQueue(Generic[T]):
    """A queue of pages to parse. The next page is of the host, and then of the run, that used least."""

    def __init__(self) -> None:
        self._waiting: dict[str, _HostQueue[T]] = {}
        self._hosts = _Accounts[str]()
        self._runs = _Accounts[tuple[str, int]]()
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[T]:
        for host in self._waiting.values():
            for run in host.runs.values():
                yield from run

    def put(self, share: Share, thing: T) -> None:
        """Queue a page under its host and run."""
        host, run_id = share
        if host not in self._waiting:
            self._waiting[host] = _HostQueue()
            self._hosts.enter(host)
        runs = self._waiting[host].runs
        if run_id not in runs:
            runs[run_id] = deque()
            self._runs.enter(share)
        runs[run_id].append(thing)
        self._length += 1

    def take(self) -> T | None:
        """Return the page that is next in turn, or None; `done` must be called after parsing."""
        if not self._waiting:
            return None
        host = min(self._waiting, key=lambda name: self._hosts.of(name).turn)
        runs = self._waiting[host].runs
        run_id = min(runs, key=lambda number: self._runs.of((host, number)).turn)
        thing = runs[run_id].popleft()
        self._length -= 1
        if not runs[run_id]:
            del runs[run_id]
        if not runs:
            del self._waiting[host]
        self._hosts.begin(host)
        self._runs.begin((host, run_id))
        return thing

    def done(self, share: Share, seconds: float) -> None:
        """Charge the host and the run of a taken page for the time it took."""
        self._hosts.end(share.host, seconds)
        self._runs.end((share.host, share.run_id), seconds)
