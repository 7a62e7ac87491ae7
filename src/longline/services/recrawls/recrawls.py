"""Recrawls: URLs that callers submit one by one or many at once, read and listed."""

import asyncio
from collections.abc import Sequence

import msgspec

from longline.engine.frontier.recrawl_runs import RecrawlRuns
from longline.engine.frontier.standing_runs import StandingRun
from longline.engine.lifecycle.politeness_key import PolitenessKey
from longline.engine.lifecycle.runs import Call
from longline.model.errors import BadInput, Conflict, NotFound
from longline.model.recrawls.frequency import frequency_text
from longline.model.recrawls.recrawl import PRIORITY_STEP, NewRecrawl
from longline.model.recrawls.recrawl_lists import (
    URGENT_PRIORITY,
    QueueDepths,
    RecrawlPage,
    RecrawlQuery,
    RecrawlRow,
    RecrawlStats,
)
from longline.model.recrawls.url_hash import submitted_hash
from longline.model.sources.recrawl_settings import recrawl_settings
from longline.model.sources.source import SourceRow
from longline.model.urls.url import BadUrl, Url, parse
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import HostSetting


class AlreadySubmitted(Conflict):
    """A URL that was submitted before; `known` is its last generation."""

    def __init__(self, known: RecrawlRow) -> None:
        super().__init__(f"{known.url} was submitted before, as task {known.id}")
        self.known = known


class SourceDisabled(BadInput):
    """A source that is disabled, and takes no URLs."""

    def __init__(self, source: SourceRow) -> None:
        super().__init__(f"the source {source.name} is disabled")
        self.source = source


class ForeignUrl(BadInput):
    """A URL whose host does not belong to its source."""


class RecrawlOrder(msgspec.Struct, frozen=True, kw_only=True):
    """The wishes of a caller for the URLs of a source; `priority` counts from 1, the most urgent.

    Without a frequency, that of the source.
    """

    source_id: int
    created_by: str
    priority: int = 5
    due_at: int | None = None
    frequency: str | None = None
    recurring: bool = True
    max_retries: int = 3
    batch_id: int | None = None
    parent_id: int | None = None
    webhook: str | None = None


class SubmittedUrls(msgspec.Struct, frozen=True):
    """The result of a submission of many URLs: ids of new tasks in the given order, and counts of the others."""

    ids: list[int]
    duplicates: int
    invalid: int


class Recrawls:
    """The URLs that callers submit."""

    def __init__(
        self, records: Records, runs: RecrawlRuns, politeness: PolitenessKey, call_workers: Call | None = None
    ) -> None:
        self._recrawls, self._sources, self._batches = records.recrawls, records.sources, records.batches
        self._runs, self._politeness, self._call_workers = runs, politeness, call_workers

    async def submit(self, url: str, order: RecrawlOrder) -> RecrawlRow:
        """Submit a URL; raise `AlreadySubmitted` for a known one."""
        source, run = await self._place(order)
        new = await self._below([await self._new(url, _parsed(url, source), order, source, run)], order.parent_id)
        made = await self._recrawls.submit(new, [_host(one, run) for one in new])
        if made.known:
            raise AlreadySubmitted(await self.get(made.known[0].id))
        if not made.ids:
            raise BadInput(f"the source {source.name} takes in no more URLs: its budget is used up")
        await self._call()
        return await self.get(made.ids[new[0].url_hash])

    async def submit_all(self, urls: Sequence[str], order: RecrawlOrder) -> SubmittedUrls:
        """Submit many URLs in one transaction; invalid and known ones are counted and left out."""
        source, run = await self._place(order)
        # In a thread: ten thousand URLs take too long for the event loop.
        read = await asyncio.to_thread(lambda: [(text, _read(text, source)) for text in urls])
        made_of = [await self._new(text, url, order, source, run) for text, url in read if url is not None]
        new = await self._below(made_of, order.parent_id)
        made = await self._recrawls.submit(new, list({one.host: _host(one, run) for one in new}.values()))
        await self._call()
        ids = [made.ids[url_hash] for url_hash in dict.fromkeys(one.url_hash for one in new) if url_hash in made.ids]
        return SubmittedUrls(ids, len(made.known) + made.repeated, len(urls) - len(new) + made.refused)

    async def get(self, task_id: int) -> RecrawlRow:
        """Return a recrawl; raise `NotFound` for another task, or none."""
        row = await self._recrawls.get(task_id)
        if row is None:
            raise NotFound("task", task_id)
        return row

    async def find(self, query: RecrawlQuery, *, limit: int, offset: int) -> RecrawlPage:
        """Return a page of recrawls."""
        return await self._recrawls.find(query, limit=limit, offset=offset)

    async def counts(self, source_id: int | None = None) -> dict[str, int]:
        """Return the number of recrawls at each rest, of one source or of all."""
        return await self._recrawls.counts(source_id)

    async def failed(self, *, source_id: int | None, failed_after: int | None, limit: int) -> list[int]:
        """Return the ids of failed recrawls, the oldest failures first."""
        if source_id is not None:
            await self._source(source_id)
        return await self._recrawls.failed(source_id=source_id, failed_after=failed_after, limit=limit)

    async def stats(self, since: int, source_id: int | None = None) -> RecrawlStats:
        """Return the figures of recrawls that were made since a time."""
        if source_id is not None:
            await self._source(source_id)
        return await self._recrawls.stats(since, source_id)

    async def depths(self) -> QueueDepths:
        """Return the numbers of recrawls that are due, leased, or wait for a parser."""
        return await self._recrawls.depths(URGENT_PRIORITY * PRIORITY_STEP)

    async def _source(self, source_id: int) -> SourceRow:
        source = await self._sources.get(source_id)
        if source is None:
            raise NotFound("source", source_id)
        return source

    async def _place(self, order: RecrawlOrder) -> tuple[SourceRow, StandingRun]:
        """Return the source and its run, after a check of the things that an order names."""
        source = await self._source(order.source_id)
        if not source.enabled:
            raise SourceDisabled(source)
        if order.batch_id is not None and await self._batches.get(order.batch_id) is None:
            raise NotFound("batch", order.batch_id)
        return source, await self._runs.of(source.id)

    async def _new(self, text: str, url: Url, order: RecrawlOrder, source: SourceRow, run: StandingRun) -> NewRecrawl:
        settings = recrawl_settings(source.recrawl)
        return NewRecrawl(
            url=text,
            href=url.href,
            url_hash=submitted_hash(text),
            host=await self._politeness.key(url),
            run_id=run.id,
            source_id=source.id,
            priority=order.priority * PRIORITY_STEP,
            max_attempts=order.max_retries + 1,
            created_by=order.created_by,
            due_at=order.due_at,
            frequency=frequency_text(order.frequency or settings.frequency),
            recurring=order.recurring,
            again_after_failure=settings.again_after_failure,
            batch_id=order.batch_id,
            parent_id=order.parent_id,
            webhook=order.webhook,
        )

    async def _below(self, new: list[NewRecrawl], parent_id: int | None) -> list[NewRecrawl]:
        """Return recrawls with their depth below a parent; raise `NotFound` for an unknown one."""
        if parent_id is None:
            return new
        depth = (await self.get(parent_id)).depth + 1
        return [msgspec.structs.replace(one, depth=depth) for one in new]

    async def _call(self) -> None:
        if self._call_workers is not None:
            await self._call_workers()


def _host(new: NewRecrawl, run: StandingRun) -> HostSetting:
    return HostSetting(new.host, run.plan.politeness.delay_ms, run.plan.politeness.concurrency)


def _parsed(text: str, source: SourceRow) -> Url:
    """Return a URL of a source; raise `BadUrl`, or `ForeignUrl` for a host that is not the source's or below it."""
    url = parse(text.strip())
    domains = {source.name.lower(), parse(source.base_url).hostname}
    if not any(url.hostname == domain or url.hostname.endswith(f".{domain}") for domain in domains):
        raise ForeignUrl(f"{url.hostname} does not belong to {source.name}")
    return url


def _read(text: str, source: SourceRow) -> Url | None:
    try:
        return _parsed(text, source)
    except (BadUrl, ForeignUrl):
        return None
