"""The archive check: reads every segment and every record, and compares them with digests and database rows."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import groupby

import msgspec

from longline.engine.frontier.admission import seed
from longline.engine.frontier.plan_cache import PlanCache
from longline.engine.lifecycle.creation import create_run
from longline.engine.lifecycle.moves import Lifecycle, MoveRequest
from longline.model.archive.page import PageRow, RedirectRow
from longline.model.archive.segment import SegmentRow
from longline.model.archive.warc import RESPONSE, REVISIT, DamagedRecord, first_member, verified_record
from longline.model.errors import NotFound
from longline.model.frontier.standing_frontier import host_of, url_hash
from longline.model.ids import new_id
from longline.model.runs.run import NewRun, RunKind
from longline.model.urls.normalization import dedupe_key
from longline.model.urls.url import parse
from longline.ports.blobs import Blobs
from longline.ports.records.archive import PageStore, SegmentStore
from longline.ports.records.runs.runs import RunStore

MAX_SEEDS = 1000
"""Largest number of pages that one repair run fetches."""

Progress = Callable[[int, int], None]
"""Callback with the bytes checked so far and the bytes in total."""


class Damage(msgspec.Struct, frozen=True):
    """A damaged record, or damage in a segment outside of pages (then without `url`)."""

    problem: str
    segment: str
    url: str = ""
    run_id: int = 0
    task_id: int = 0

    def __str__(self) -> str:
        if not self.url:
            return f"{self.segment}: {self.problem}"
        return f"{self.url} (run {self.run_id}, task {self.task_id}, segment {self.segment}): {self.problem}"


Found = tuple[Damage, PageRow | RedirectRow | None]
"""Damage, and the row of the damaged page or redirect."""


class Findings(msgspec.Struct, frozen=True):
    """The outcome of a check: damage that is left, and damage to pages that were fetched again later."""

    segments: int
    records: int
    damaged: tuple[Damage, ...] = ()
    replaced: tuple[Damage, ...] = ()


def problem_of(member: bytes, row: PageRow | RedirectRow) -> str | None:
    """Return the fault of the record of a page or redirect; None when the record is intact."""
    try:
        record = verified_record(member)
    except DamagedRecord as error:
        return str(error) if len(member) == row.length else f"the segment ends before byte {row.start + row.length}"
    kind = REVISIT if isinstance(row, PageRow) and row.body_of is not None else RESPONSE
    # Pages with equal bodies have equal digests.
    if (record.type, record.field("WARC-Payload-Digest"), record.url) != (kind, row.digest, row.url):
        return "the record is that of another page"
    return None


class ArchiveCheck:
    """A check of all segments, one at a time."""

    def __init__(self, pages: PageStore, segments: SegmentStore, blobs: Blobs) -> None:
        self._pages, self._segments, self._blobs = pages, segments, blobs

    async def run(self, progress: Progress) -> Findings:
        """Check all segments; `progress` is called after each."""
        stored = await self._segments.find()
        done, total, records = 0, sum(segment.bytes for segment in stored), 0
        damaged: list[Found] = []
        for segment in stored:
            pages, redirects = await self._pages.of_segment(segment.id)
            damaged += await self._check(segment, [*pages, *redirects])
            records, done = records + len(pages) + len(redirects), done + segment.bytes
            progress(done, total)
        damaged += await self._revisits({row.task_id for _, row in damaged if isinstance(row, PageRow)})
        left, replaced = await self._sorted(damaged)
        return Findings(len(stored), records, tuple(left), tuple(replaced))

    async def _check(self, segment: SegmentRow, rows: Sequence[PageRow | RedirectRow]) -> list[Found]:
        try:
            data = await self._blobs.get(segment.key)
        except NotFound:
            lost = "the segment is lost"
            return [(_named(lost, row), row) for row in rows] or [(Damage(lost, segment.key), None)]
        return await asyncio.to_thread(_check_segment, segment, sorted(rows, key=lambda row: row.start), data)

    async def _revisits(self, damaged: set[int]) -> list[Found]:
        """Return the pages with an intact revisit record and a damaged or lost body in another record."""
        rows = [row for row in await self._pages.bodiless() if row.task_id not in damaged]
        found = [(_named(f"task {row.body_of} no longer holds its body", row), row) for row in rows]
        seen, after = damaged | {row.task_id for row in rows}, 0
        while damaged and (revisits := await self._pages.revisits(after=after)):
            lost = [row for row in revisits if row.body_of in damaged and row.task_id not in seen]
            found += [
                (_named(f"its body is in the record of task {row.body_of}, which is damaged", row), row) for row in lost
            ]
            after = revisits[-1].task_id
        return list(found)

    async def _sorted(self, damaged: Sequence[Found]) -> tuple[list[Damage], list[Damage]]:
        """Return the damage that is left, and the damage to pages with an intact later capture."""
        tasks = {row.task_id for _, row in damaged if isinstance(row, PageRow)}
        hops = {(row.task_id, row.url) for _, row in damaged if isinstance(row, RedirectRow)}
        left: list[Damage] = []
        replaced: list[Damage] = []
        for damage, row in damaged:
            if isinstance(row, RedirectRow):
                later = await self._pages.redirected_later(row.url, row.fetched_at)
                whole = any((other.task_id, other.url) not in hops for other in later)
            else:
                whole = row is not None and any(task not in tasks for task in await self._later(row))
            (replaced if whole else left).append(damage)
        return left, replaced

    async def _later(self, row: PageRow) -> set[int]:
        """Return the tasks that fetched the URL of a page later, in any scope."""
        url = parse(row.url)
        captures = await self._pages.later(row.task_id)
        captures += await self._pages.captures(url.host, dedupe_key(url.href))
        captures += await self._pages.captures(host_of(url), url_hash(url.href))
        return {one.task_id for one in captures if one.fetched_at >= row.fetched_at and one.task_id != row.task_id}


class Repair:
    """Repair runs, which fetch damaged pages again with the plan of the run that fetched them."""

    def __init__(self, lifecycle: Lifecycle, runs: RunStore, pages: PageStore, plans: PlanCache) -> None:
        self._lifecycle, self._runs, self._pages, self._plans = lifecycle, runs, pages, plans

    async def begin(self, damaged: Sequence[Damage]) -> int:
        """Start the repair runs; return the number of pages to fetch."""
        named = sorted((damage for damage in damaged if damage.url), key=lambda damage: damage.run_id)
        await self._pages.forget([damage.task_id for damage in named])
        waiting = 0
        for run_id, group in groupby(named, key=lambda damage: damage.run_id):
            urls = list(dict.fromkeys(damage.url for damage in group))
            for start in range(0, len(urls), MAX_SEEDS):
                await self._fetch(run_id, tuple(urls[start : start + MAX_SEEDS]))
            waiting += len(urls)
        return waiting

    async def _fetch(self, run_id: int, urls: tuple[str, ...]) -> None:
        asked = await self._plans.get(run_id)
        bounds = msgspec.structs.replace(asked.bounds, max_depth=0, sitemaps=False, discover=False)
        plan = msgspec.structs.replace(asked, seeds=urls, bounds=bounds)
        new = NewRun(new_id(), RunKind.REPAIR, plan.text(), urls[0], source_id=plan.source_id)
        run = await create_run(self._runs, new, "person")
        await self._lifecycle.move(MoveRequest("run", run.id, "start", "scheduler", reason=RunKind.REPAIR))
        seeds = [seed(url, run.id, plan) for url in urls]
        await self._lifecycle.admit([task for task, _ in seeds], [host for _, host in seeds])


def _named(problem: str, row: PageRow | RedirectRow) -> Damage:
    return Damage(problem, row.segment, row.url, row.run_id, row.task_id)


def _check_segment(segment: SegmentRow, rows: Sequence[PageRow | RedirectRow], data: bytes) -> list[Found]:
    """Return the damage in a segment: of its pages and redirects or, if these are intact, of the records between."""
    found: list[Found] = []
    for row in rows:
        if problem := problem_of(data[row.start : row.start + row.length], row):
            found.append((_named(problem, row), row))
    if found:
        return found
    if len(data) != segment.bytes:
        problem = f"the segment has {len(data)} bytes instead of {segment.bytes}"
        return [(Damage(problem, segment.key), None)]
    ends = [0, *(row.start + row.length for row in rows)]
    starts = [*(row.start for row in rows), len(data)]
    for end, start in zip(ends, starts, strict=True):
        if problem := _gap_problem(data[end:start]):
            found.append((Damage(f"{problem} (byte {end})", segment.key), None))
    return found


def _gap_problem(data: bytes) -> str | None:
    """Return the fault of records without a database row: warcinfo and requests."""
    try:
        while data:
            length = first_member(data)
            verified_record(data[:length])
            data = data[length:]
    except DamagedRecord as error:
        return str(error)
    return None
