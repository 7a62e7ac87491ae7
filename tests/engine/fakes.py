"""Ports in memory: each can be made unavailable, and all write their calls into one journal."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec

from longline.engine.fetch.fetcher import Fetched, Fetcher, FetchParts
from longline.engine.fetch.request_sender import FetchSettings, Sender
from longline.engine.fetch.robots import RobotsRules
from longline.engine.frontier.leased_hosts import LeasedHost
from longline.engine.lifecycle.politeness_key import PolitenessKey
from longline.engine.proxies.rotation import ProxyRotation
from longline.model.archive.page import PageRow
from longline.model.archive.segment import SegmentRow
from longline.model.errors import NotFound, Unavailable
from longline.model.frontier.host import HostLease
from longline.model.frontier.task import ClaimedTask, NewTask, PageFacts
from longline.model.proxies.proxy import NoProxies, ProxyRequest, ProxyUse
from longline.model.proxies.proxy_uri import Proxy
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import RunRow
from longline.ports.clock import Clock
from longline.ports.http import FetchFailed, Request, Response
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Admitted, ClaimRequest, HostSetting, ReportBatch, Reported
from longline.ports.records.proxies import PickedProxy
from tests.plans import crawl_plan

OWNER = 7
RUN = 1
HOST = "a.example"
AGENT = "longline/1.0"
FAR = 1 << 50
HURRY = crawl_plan((), delay_ms=0, concurrency=1000)
"""A plan without politeness of its own: that of the host applies."""

HTML = (("Content-Type", "text/html; charset=utf-8"),)

Journal = list[tuple[str, Any]]
Answer = Response | FetchFailed | Callable[[], Awaitable[Response]]


def response(
    url: str, status: int = 200, body: bytes = b"<title>T</title>", headers: tuple[tuple[str, str], ...] = HTML
) -> Response:
    """Return a response, by default a page."""
    return Response(url, status, headers, body, "HTTP/1.1", 5)


def moved(url: str, location: str, status: int = 302) -> Response:
    """Return a redirect."""
    return response(url, status, b"", (("Location", location),))


def claimed(number: int = 1, path: str | None = None, *, host: str = HOST, **more: Any) -> ClaimedTask:
    """Return a claimed task; by default its path is its number."""
    facts: dict[str, Any] = {"depth": 0, "attempt": 1, "priority": 500, "due": 0, "run_id": RUN, "scope": RUN} | more
    return ClaimedTask(id=number, url=f"https://{host}{path or f'/{number}'}", **facts)


def lease(*tasks: ClaimedTask, **more: Any) -> HostLease:
    """Return a host's lease of thirty seconds, claimed at the start of the fake clock."""
    facts: dict[str, Any] = {"host_id": 1, "host": HOST, "token": 1, "until": 1_700_000_030_000}
    return HostLease(**facts | {"delay_ms": 0, "concurrency": 1, "not_before": 0, "tasks": tasks} | more)


class FakeHttp:
    """A client with responses from a table, the last one repeated; any other URL is a plain page."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.answers: dict[str, list[Answer]] = {}
        self.sent: list[tuple[float, str]] = []
        self.requests: list[Request] = []

    def on(self, url: str, *answers: Answer) -> None:
        """Set the responses of a URL, in order."""
        self.answers[url] = list(answers)

    @property
    def urls(self) -> list[str]:
        """Return the requested URLs, in order."""
        return [url for _, url in self.sent]

    async def fetch(self, request: Request) -> Response:
        self.sent.append((self._clock.monotonic(), request.url))
        self.requests.append(request)
        answers = self.answers.get(request.url) or [self._usual(request.url)]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, FetchFailed):
            raise answer
        return answer if isinstance(answer, Response) else await answer()

    async def close(self) -> None:
        pass

    def _usual(self, url: str) -> Response:
        return response(url, 404, b"") if url.endswith("/robots.txt") else response(url)


class FakeWays:
    """Proxies in turn from a list; those in `spent` are unavailable, `used` has the recorded results."""

    def __init__(self, *ways: PickedProxy) -> None:
        self.ways, self.spent = list(ways), set[int]()
        self.used: list[ProxyUse] = []
        self.picks: list[ProxyRequest] = []
        self.journal: list[str] = []
        self.away = False
        self._turn = 0

    async def pick(self, ask: ProxyRequest) -> list[PickedProxy]:
        if self.away:
            raise Unavailable("no database")
        self.picks.append(ask)
        self.journal.append("pick")
        await asyncio.sleep(0)
        able = [w for w in self.ways if w.proxy_id not in self.spent | ask.exclude]
        if self.ways and not able:
            raise NoProxies(f"none of {len(self.ways)} proxies can be used now")
        picked = [able[(self._turn + n) % len(able)] for n in range(ask.wanted)] if able else []
        self._turn += len(picked)
        return picked

    def unlock(self, own: str) -> PickedProxy:
        self.journal.append("unlock")
        return PickedProxy(0, Proxy.parse(own), pool_size=1)

    async def account(self, used: Sequence[ProxyUse]) -> None:
        if self.away:
            raise Unavailable("no database")
        self.journal.append("account")
        self.used.extend(used)

    async def probes(self, limit: int = 10) -> list[PickedProxy]:
        return self.ways[:limit]


def sender_of(http: FakeHttp, clock: Clock, *ways: PickedProxy, **settings: Any) -> Sender:
    """Return a sender over a fake client, with the given proxies."""
    return Sender(http, clock, FetchSettings(**{"user_agent": AGENT} | settings), ProxyRotation(FakeWays(*ways), clock))


class Asker:
    """A fetcher of single URLs, as the tasks of a run."""

    def __init__(
        self, http: FakeHttp, clock: Clock, chance: Callable[[], float] = lambda: 0.5, **settings: Any
    ) -> None:
        sender = sender_of(http, clock, **settings)
        most = settings.get("max_bytes", 10**6)
        self.tasks = FakeTasks()
        parts = FetchParts(sender, RobotsRules(sender, clock, chance), clock, PolitenessKey(), part(self.tasks))
        self._fetcher = Fetcher(parts, most, chance)

    async def fetch(self, host: LeasedHost, url: str, plan: CrawlPlan, **facts: Any) -> Fetched:
        task = claimed(**facts)
        return await self._fetcher.fetch(host, msgspec.structs.replace(task, url=url), plan)


class FakeBlobs:
    """Objects in a dictionary."""

    def __init__(self, journal: Journal) -> None:
        self.objects: dict[str, bytes] = {}
        self.labels: dict[str, dict[str, str]] = {}
        self.journal = journal
        self.away = False

    async def put(self, key: str, data: bytes | Sequence[bytes], labels: Mapping[str, str] | None = None) -> None:
        if self.away:
            raise Unavailable("no objects")
        self.objects[key] = data if isinstance(data, bytes) else b"".join(data)
        self.labels[key] = dict(labels or {})
        self.journal.append(("put", key))

    async def get_range(self, key: str, offset: int, length: int) -> bytes:
        if self.away:
            raise Unavailable("no objects")
        data = self.objects.get(key, b"")[offset : offset + length]
        if len(data) != length:
            raise NotFound("object", key)
        return data

    async def delete(self, keys: Iterable[str]) -> None:
        if self.away:
            raise Unavailable("no objects")
        for key in keys:
            self.objects.pop(key, None)
            self.journal.append(("delete", key))


class FakeSegments:
    """Segments by id; `stored` ones have been named by a report."""

    def __init__(self, journal: Journal) -> None:
        self.rows: dict[int, SegmentRow] = {}
        self.journal = journal
        self._next = 1

    async def begin(self, key: str, owner: int) -> int:
        number, self._next = self._next, self._next + 1
        self.rows[number] = SegmentRow(number, key, owner, "writing", 0, 0, 0)
        self.journal.append(("begin", key))
        return number

    async def abandoned(self, owners: Sequence[int]) -> list[SegmentRow]:
        return [row for row in self.rows.values() if row.owner in owners and row.state == "writing"]

    async def drop(self, segment_id: int) -> None:
        if self.rows[segment_id].state == "writing":
            del self.rows[segment_id]

    def name(self, segment_id: int, records: int, size: int) -> None:
        """Mark a segment as stored, as the report of its pages does."""
        row = self.rows[segment_id]
        self.rows[segment_id] = SegmentRow(segment_id, row.key, row.owner, "stored", records, size, 0)


@dataclass
class Line:
    """A host of the fake frontier."""

    setting: HostSetting
    tasks: dict[int, ClaimedTask] = field(default_factory=dict)
    attempts: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    claims: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    owner: int | None = None
    token: int = 0
    until: int = 0
    not_before: int = 0
    marked: dict[int, int] = field(default_factory=dict)


class FakeFrontier:
    """Hosts and their tasks in a dictionary, leased and fenced as the real ones are.

    A lapsed lease is released at the next claim, as by a reaper.

    The clock is `ahead` of the worker's; a claim waits for the `gate` if there is one. `refusals` are returned instead
    of writing, `failures` are raised instead of writing, as is every report of a page in `poison`, and `lost_answers`
    counts reports that are written although `Unavailable` is raised.
    """

    def __init__(self, clock: Clock, journal: Journal, segments: FakeSegments, ahead: int = 0) -> None:
        self._clock, self.journal, self._segments, self.ahead = clock, journal, segments, ahead
        self.lines: dict[int, Line] = {}
        self.reports: list[ReportBatch] = []
        self.renewals: list[list[tuple[int, int]]] = []
        self.refusals: list[Reported] = []
        self.failures: list[Exception] = []
        self.poison: set[int] = set()
        self.away = False
        self.gate: asyncio.Event | None = None
        self.lost_answers = 0
        self.patience: list[int] = []
        self.most_leased = 0
        self.admitted: list[NewTask] = []
        self.ensured: list[HostSetting] = []

    def add(self, *tasks: ClaimedTask, host: str = HOST, delay_ms: int = 0, concurrency: int = 1) -> int:
        """Add a host with tasks; return its id."""
        number = len(self.lines) + 1
        self.lines[number] = Line(HostSetting(host, delay_ms, concurrency), {t.id: t for t in tasks})
        return number

    @property
    def held(self) -> list[int]:
        """Return the leased hosts."""
        return [number for number, line in self.lines.items() if line.owner is not None]

    @property
    def leased(self) -> int:
        """Return the number of claimed tasks."""
        held = [line for line in self.lines.values() if line.owner is not None]
        return sum(token == line.token for line in held for token in line.marked.values())

    @property
    def ended(self) -> dict[int, str]:
        """Return the reason of the last outcome by task; no task ends twice."""
        outcomes = [o for b in self.reports for r in b.reports for o in r.outcomes]
        assert len({o.task.id for o in outcomes if o.became != "pending"}) == sum(
            o.became != "pending" for o in outcomes
        )
        return {o.task.id: o.reason for o in outcomes}

    def take_away(self, host_id: int) -> None:
        """Release the lease of a host, as the reaper does."""
        line = self.lines[host_id]
        line.owner, line.token = None, line.token + 1

    @property
    def now(self) -> int:
        return self._clock.now() + self.ahead

    def _check(self) -> None:
        if self.away:
            raise Unavailable("no database")

    async def admit(self, tasks: Sequence[NewTask], refused: Mapping[tuple[int, str], int]) -> Admitted:
        """Admit URLs ahead of a report."""
        assert not refused
        self.admitted += tasks
        return Admitted(len(tasks), 0, 0)

    async def ensure_hosts(self, hosts: Sequence[HostSetting]) -> None:
        self._check()
        self.ensured.extend(hosts)

    async def claim(self, request: ClaimRequest) -> list[HostLease]:
        owner, hosts, tasks, ttl_ms = request.owner, request.hosts, request.tasks, request.ttl_ms
        held, waited_ms = request.held, request.waited_ms
        self._check()
        self.patience.append(waited_ms)
        if self.gate is not None:
            await self.gate.wait()
        for number, line in self.lines.items():
            if line.owner is not None and line.until < self.now:
                self.take_away(number)
        since = self.now - waited_ms
        free = [(n, h) for n, h in self.lines.items() if h.owner is None and h.not_before <= since and self._due(h)]
        leases = [self._lease(number, line, owner, tasks, ttl_ms) for number, line in free[:hosts]]
        if len(leases) < hosts:
            mine = [
                (n, self.lines[n]) for n, token in held if (self.lines[n].owner, self.lines[n].token) == (owner, token)
            ]
            leases += [self._helping(number, line, tasks) for number, line in mine]
        self.most_leased = max(self.most_leased, self.leased)
        return leases

    def _due(self, line: Line) -> list[ClaimedTask]:
        return [t for t in line.tasks.values() if t.due <= self.now]

    def _lease(self, number: int, line: Line, owner: int, tasks: int, ttl_ms: int) -> HostLease:
        line.owner, line.token, line.until = owner, line.token + 1, self.now + ttl_ms
        return self._helping(number, line, tasks)

    def _helping(self, number: int, line: Line, tasks: int) -> HostLease:
        picked = []
        for task in [t for t in self._due(line) if line.marked.get(t.id) != line.token][:tasks]:
            line.claims[task.id] += 1
            line.marked[task.id] = line.token
            attempt, claims = line.attempts[task.id] + 1, line.claims[task.id]
            picked.append(msgspec.structs.replace(task, attempt=attempt, claims=claims))
        s = line.setting
        return HostLease(
            number, s.host, line.token, line.until, s.delay_ms, s.concurrency, line.not_before, tuple(picked), FAR
        )

    async def renew(self, owner: int, held: Sequence[tuple[int, int]], ttl_ms: int) -> set[int]:
        self._check()
        self.renewals.append(list(held))
        lines = [(number, token, self.lines[number]) for number, token in held]
        kept = {n for n, token, h in lines if (h.owner, h.token) == (owner, token)}
        for number in kept:
            self.lines[number].until = self.now + ttl_ms
        return kept

    async def report(self, batch: ReportBatch) -> Reported:
        self._check()
        if self.failures:
            raise self.failures.pop(0)
        if self.poison & {o.task.id for r in batch.reports for o in r.outcomes if o.page}:
            raise ValueError("what no database takes")
        refused = self.refusals.pop(0) if self.refusals else self._refusal(batch)
        if refused.refused:
            self.journal.append(("refuse", batch))
            return refused
        self._write(batch)
        if self.lost_answers:
            self.lost_answers -= 1
            raise Unavailable("the answer was lost")
        return Reported(admitted=Admitted(len(batch.admit), 0, 0))

    def _refusal(self, batch: ReportBatch) -> Reported:
        if stale := frozenset(r.host_id for r in batch.reports if self.lines[r.host_id].token != r.token):
            return Reported(stale=stale)
        marks = [(self.lines[r.host_id], o.task.id, r.token) for r in batch.reports for o in r.outcomes]
        return Reported(gone=frozenset(i for line, i, token in marks if line.marked.get(i) != token))

    def _write(self, batch: ReportBatch) -> None:
        for report in batch.reports:
            line = self.lines[report.host_id]
            for outcome in report.outcomes:
                del line.marked[outcome.task.id], line.tasks[outcome.task.id]
                line.attempts[outcome.task.id], line.claims[outcome.task.id] = outcome.task.attempt, 0
                if outcome.became == "pending":
                    facts = {n: getattr(outcome.task, n) for n in outcome.task.__struct_fields__}
                    line.tasks[outcome.task.id] = ClaimedTask(**facts | {"due": outcome.due})
            for task in report.unstarted:
                line.claims[task.id] -= 1
                del line.marked[task.id]
            if report.release:
                line.owner, line.token, line.not_before = None, line.token + 1, report.not_before
        if batch.segment is not None:
            self._segments.name(batch.segment.segment_id, batch.segment.records, batch.segment.bytes)
        self.admitted.extend(batch.admit)
        self.reports.append(batch)
        self.journal.append(("report", batch))

    async def release_all(self, owner: int) -> int:
        held = [number for number, line in self.lines.items() if line.owner == owner]
        for number in held:
            self.take_away(number)
        return len(held)


def page_row(task_id: int, segment: str, facts: PageFacts) -> PageRow:
    """Return the row of a stored page."""
    return PageRow(**msgspec.structs.asdict(facts), task_id=task_id, run_id=RUN, segment=segment, depth=0)


class FakeTasks:
    """Pages by task: the key of the segment, and the facts; `known` are the URLs with tasks."""

    def __init__(self) -> None:
        self.pages: dict[int, tuple[str, PageFacts]] = {}
        self.known: set[tuple[int, str, bytes]] = set()

    async def get(self, task_id: int) -> PageRow | None:
        return page_row(task_id, *self.pages[task_id]) if task_id in self.pages else None

    async def is_known(self, scope: int, host: str, key: bytes) -> bool:
        return (scope, host, key) in self.known


class FakeRuns:
    """Runs that consist of their plans; `asked` counts the reads."""

    def __init__(self, plans: Mapping[int, CrawlPlan] | None = None) -> None:
        self.texts = {number: plan.text() for number, plan in (plans or {RUN: HURRY}).items()}
        self.asked = 0
        self.away = False

    async def get(self, run_id: int) -> RunRow | None:
        self.asked += 1
        if self.away:
            raise Unavailable("no database")
        text = self.texts.get(run_id)
        none: dict[str, Any] = dict.fromkeys(RunRow.__struct_fields__)
        return RunRow(**none | {"id": run_id, "kind": "crawl", "plan": text}) if text is not None else None


def part(fake: object) -> Any:
    """Return a fake of a part of a port as the whole."""
    return fake


def records_of(frontier: FakeFrontier, **more: Any) -> Records:
    """Return records with a fake frontier, and of the other nouns only the given ones."""
    nouns = cast("dict[str, Any]", dict.fromkeys(Records.__dataclass_fields__))
    return Records(**nouns | {"frontier": frontier} | more)
