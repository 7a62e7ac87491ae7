"""Admission of the URLs that a page brought: new tasks, and the reasons of refusals."""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple, Protocol

import msgspec

from longline.model.frontier.standing_frontier import SCOPE, url_hash
from longline.model.frontier.task import DEFAULT_PRIORITY, ClaimedTask, NewTask, RefusedUrl
from longline.model.runs.crawl_bounds import BOUND_REASONS, DEPTH, UNBOUNDED_DEPTH, Bounds, bounds_of
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.urls.normalization import dedupe_key
from longline.model.urls.url import BadUrl, parse
from longline.ports.records.frontier.frontier import HostSetting

MAX_VERDICTS = 50_000
BATCH_SIZE_LINKS = 100
"""Links that are judged in one step: each may cost 30 microseconds where a run has patterns."""

KNOWN = "known"
TOO_MANY = "too_many_links"
UNLISTED = "unlisted"

NOT_STORED = UNBOUNDED_DEPTH + 1
"""Depth of a URL that has not been stored as refused; every real depth is smaller."""

Urgency = Mapping[str, int]
"""Offsets from the default priority, by URL; the lower priority goes first."""

NO_URGENCY: Urgency = MappingProxyType({})


class AdmittedUrl(NamedTuple):
    """A URL that belongs to its run: its normal form, its host, and its deduplication key.

    `stored_depth` is the smallest depth at which the URL was stored as too deep.
    """

    url: str
    host: str
    key: bytes
    stored_depth: int = NOT_STORED


class RefusedLink(NamedTuple):
    """A URL that the bounds of its run refuse, and the smallest depth at which it was stored as refused."""

    reason: str
    url: str
    host: str
    key: bytes
    stored_depth: int = NOT_STORED


Verdict = AdmittedUrl | RefusedLink | str
"""A URL, a refusal that may be stored, or the reason of a refusal that never is."""


class QueuePlace(NamedTuple):
    """The place of a URL among the URLs of its run."""

    depth: int
    priority: int
    hops: int


class FoundLinks(Protocol):
    """The links that a parser found on a page; `beside` lead no deeper, `cut` is the number of dropped links.

    `refused` are links that the parser does not follow, by reason; `without_item` is the reason for having no item.
    `listing` is `index` for a sitemap of sitemaps, `sitemap` for one of pages, and empty for other pages.
    """

    @property
    def links(self) -> Sequence[str]: ...

    @property
    def beside(self) -> Sequence[str]: ...

    @property
    def priorities(self) -> Urgency: ...

    @property
    def cut(self) -> int: ...

    @property
    def refused(self) -> Mapping[str, Sequence[str]]: ...

    @property
    def without_item(self) -> str | None: ...

    @property
    def listing(self) -> str: ...


class AdmissionCache:
    """The latest verdicts on links: the pages of a site share most links, so most need no second judgement.

    A URL that the database admitted, or had already, is `known` from then on and is not sent again.
    """

    def __init__(self, max_verdicts: int = MAX_VERDICTS) -> None:
        self._max_verdicts, self._count = max_verdicts, 0
        self._bounds: tuple[CrawlPlan, Bounds] | None = None
        # A plain dict finds its first key by passing over every slot that was deleted before it.
        self._verdicts_by_run: OrderedDict[int, OrderedDict[str, Verdict]] = OrderedDict()

    def latest_verdicts(self, run_id: int) -> Mapping[str, Verdict]:
        """Return the latest verdicts on links of a run, for lookups of very many."""
        return self._verdicts_by_run.get(run_id, {})

    def judge(self, run_id: int, text: str, plan: CrawlPlan) -> Verdict:
        """Return the URL, or the reason of its refusal."""
        verdict = self.latest_verdicts(run_id).get(text)
        if verdict is None:
            verdict = _judged(text, plan, self._bounds_of(plan))
            self._store_verdict(run_id, text, verdict)
        return verdict

    def _bounds_of(self, plan: CrawlPlan) -> Bounds:
        """Return the bounds of a plan; the latest plan's are kept, since hashing a plan costs as much as a URL."""
        latest = self._bounds
        if latest is None or latest[0] is not plan:
            latest = self._bounds = plan, bounds_of(plan.bounds)
        return latest[1]

    def mark_known(self, tasks: Iterable[NewTask]) -> None:
        """Mark tasks as known: the database admitted them, or had them before."""
        for task in tasks:
            self._store_verdict(task.run_id, task.url, KNOWN)

    def note_stored(self, refused: Iterable[RefusedUrl]) -> None:
        """Note the depths at which the database has refused URLs now: a deeper place need not be sent again."""
        for one in refused:
            verdict = self.latest_verdicts(one.task.run_id).get(one.task.url)
            if verdict is not None and not isinstance(verdict, str):
                self._store_verdict(one.task.run_id, one.task.url, verdict._replace(stored_depth=one.task.depth))

    def _store_verdict(self, run_id: int, text: str, verdict: Verdict) -> None:
        of_run = self._verdicts_by_run.get(run_id)
        if of_run is None:
            of_run = self._verdicts_by_run[run_id] = OrderedDict()
        self._count += text not in of_run
        of_run[text] = verdict
        if self._count > self._max_verdicts:
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        """Forget the oldest verdict of the run that was judged first, in constant time."""
        run_id, of_run = next(iter(self._verdicts_by_run.items()))
        of_run.popitem(last=False)
        self._count -= 1
        if not of_run:
            del self._verdicts_by_run[run_id]


def _judged(text: str, plan: CrawlPlan, bounds: Bounds) -> Verdict:
    try:
        url = parse(text)
    except BadUrl as bad:
        return bad.reason
    reason = bounds.refusal(url)
    if reason is None:
        return AdmittedUrl(url.href, url.host, dedupe_key(url.href))
    if plan.bounds.keep_refused and reason in BOUND_REASONS:
        return RefusedLink(reason, url.href, url.host, dedupe_key(url.href))
    return reason


@lru_cache(256)
def _for_sitemaps(plan: CrawlPlan) -> CrawlPlan:
    """Return the plan for sitemaps themselves, made once."""
    return msgspec.structs.replace(plan, bounds=plan.bounds.for_sitemaps())


class Admission:
    """The URLs of one report: new tasks, their hosts, and by run and reason refusals and pages without an item."""

    def __init__(self, verdicts: AdmissionCache) -> None:
        self._verdicts = verdicts
        self.tasks: list[NewTask] = []
        self.refused: Counter[tuple[int, str]] = Counter()
        self.without_item: Counter[tuple[int, str]] = Counter()
        self.refused_urls: list[RefusedUrl] = []
        self._hosts: dict[str, HostSetting] = {}
        self._admitted: set[tuple[int, str, bytes]] = set()

    @property
    def hosts(self) -> list[HostSetting]:
        """Return the hosts of the tasks, each with its first politeness."""
        return list(self._hosts.values())

    def admit_page(self, page: ClaimedTask, found: FoundLinks, plan: CrawlPlan) -> None:
        """Take all links of a page at once. Takes too long for the event loop if the page has very many."""
        for _ in self.admit_page_steps(page, found, plan):
            pass

    def admit_page_steps(self, page: ClaimedTask, found: FoundLinks, plan: CrawlPlan) -> Iterator[None]:
        """Take all links of a page in steps, after each of which other work may have its turn.

        Where only sitemaps count, the links of other pages are refused.
        """
        self.count_cut_links(page, found.cut)
        self.count_without_item(page, found.without_item)
        for reason, refused in found.refused.items():
            for urls in _batches(refused):
                self.count_unfollowed(page, {reason: urls}, plan)
                yield
        links, beside = found.links, found.beside
        if plan.bounds.sitemap_only:
            links, beside = self._links_of_sitemap(page, found)
            plan = _for_sitemaps(plan) if found.listing == "index" else plan
        for urls in _batches(links):
            self.admit_links(page, urls, plan, found.priorities)
            yield
        for urls in _batches(beside):
            self.admit_at_same_depth(page, urls, plan, found.priorities)
            yield

    def _links_of_sitemap(self, page: ClaimedTask, found: FoundLinks) -> tuple[Sequence[str], Sequence[str]]:
        """Return the links of a sitemap that count, and refuse those of any other page."""
        if found.listing == "index":
            return found.links, ()
        if found.listing:
            return (), found.beside
        if unlisted := len(found.links) + len(found.beside):
            self.refused[page.run_id, UNLISTED] += unlisted
        return (), ()

    def admit_links(
        self, page: ClaimedTask, urls: Sequence[str], plan: CrawlPlan, urgency: Urgency = NO_URGENCY
    ) -> None:
        """Take the links of a page, one step deeper than the page."""
        if plan.bounds.keep_refused or page.depth + 1 <= plan.bounds.max_depth:
            self._admit_urls(page, urls, plan, depth=page.depth + 1, urgency=urgency)
        elif urls:
            self.refused[page.run_id, DEPTH] += len(urls)

    def admit_sitemaps(self, page: ClaimedTask, urls: Sequence[str], plan: CrawlPlan) -> None:
        """Take the sitemaps that the robots.txt of the page's site names."""
        if urls:
            self.admit_at_same_depth(page, urls, _for_sitemaps(plan) if plan.bounds.sitemap_only else plan)

    def admit_at_same_depth(
        self, page: ClaimedTask, urls: Sequence[str], plan: CrawlPlan, urgency: Urgency = NO_URGENCY
    ) -> None:
        """Take URLs at the page's own depth: its site's sitemaps, and the pages that sitemaps list."""
        self._admit_urls(page, urls, plan, depth=page.depth, urgency=urgency)

    def count_unfollowed(self, page: ClaimedTask, refused: Mapping[str, Sequence[str]], plan: CrawlPlan) -> None:
        """Count links that the parser of a page does not follow; a link outside of the run's bounds is theirs."""
        for reason, urls in refused.items():
            if page.depth + 1 > plan.bounds.max_depth:
                self.refused[page.run_id, DEPTH] += len(urls)
                continue
            for text in urls:
                verdict = self._verdicts.judge(page.run_id, text, plan)
                verdict = verdict.reason if isinstance(verdict, RefusedLink) else verdict
                self.refused[page.run_id, verdict if isinstance(verdict, str) else reason] += 1

    def count_without_item(self, page: ClaimedTask, reason: str | None) -> None:
        """Count a page of which its parser made no item, if there is a reason."""
        if reason is not None:
            self.without_item[page.run_id, reason] += 1

    def count_cut_links(self, page: ClaimedTask, count: int) -> None:
        """Count links that were too many for one page."""
        if count:
            self.refused[page.run_id, TOO_MANY] += count

    def admit_redirect(self, page: ClaimedTask, url: str, plan: CrawlPlan) -> None:
        """Take the target of a page's redirect, at the page's own depth."""
        self._admit_urls(page, (url,), plan, depth=page.depth, hops=page.hops + 1)

    def _admit_urls(
        self,
        page: ClaimedTask,
        urls: Sequence[str],
        plan: CrawlPlan,
        *,
        depth: int,
        hops: int = 0,
        urgency: Urgency = NO_URGENCY,
    ) -> None:
        reasons: Counter[str] = Counter()
        too_deep = depth > plan.bounds.max_depth
        # One lookup for each link that was judged before: a page has a hundred links, and seldom a new one.
        for text, latest_verdict in zip(urls, map(self._verdicts.latest_verdicts(page.run_id).get, urls), strict=True):
            verdict = latest_verdict or self._verdicts.judge(page.run_id, text, plan)
            if isinstance(verdict, str):
                reasons[verdict] += 1
            elif (page.scope, verdict.host, verdict.key) in self._admitted:
                reasons[KNOWN] += 1
            elif isinstance(verdict, RefusedLink) or too_deep:
                reason = verdict.reason if isinstance(verdict, RefusedLink) else DEPTH
                reasons[reason] += 1
                self._keep_refused(
                    page, verdict, reason, QueuePlace(depth, DEFAULT_PRIORITY + urgency.get(text, 0), hops)
                )
            else:
                self._add_task(page, verdict, plan, QueuePlace(depth, DEFAULT_PRIORITY + urgency.get(text, 0), hops))
        for reason, count in reasons.items():
            self.refused[page.run_id, reason] += count

    def _keep_refused(
        self, page: ClaimedTask, found: AdmittedUrl | RefusedLink, reason: str, place: QueuePlace
    ) -> None:
        """Keep a refused URL, unless it is stored with a depth that is not larger."""
        if place.depth < found.stored_depth:
            task = NewTask(
                found.url,
                found.host,
                found.key,
                page.scope,
                page.run_id,
                place.depth,
                place.priority,
                parent_id=page.id,
                hops=place.hops,
            )
            self.refused_urls.append(RefusedUrl(reason, task))

    def _add_task(self, page: ClaimedTask, found: AdmittedUrl, plan: CrawlPlan, place: QueuePlace) -> None:
        url, host, key, _ = found
        self._admitted.add((page.scope, host, key))
        if page.scope == SCOPE:
            key = url_hash(url)
        depth, priority, hops = place
        self.tasks.append(
            NewTask(
                url,
                host,
                key,
                page.scope,
                page.run_id,
                depth,
                priority,
                parent_id=page.id,
                hops=hops,
                keep_refused=plan.bounds.keep_refused,
            )
        )
        if host not in self._hosts:
            self._hosts[host] = HostSetting(host, plan.politeness.delay_ms, plan.politeness.concurrency)


def _batches(urls: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(urls), BATCH_SIZE_LINKS):
        yield urls[start : start + BATCH_SIZE_LINKS]


def seed(text: str, run_id: int, plan: CrawlPlan) -> tuple[NewTask, HostSetting]:
    """Return the task of a seed, in the scope of its run, and its host."""
    url = parse(text)
    kept = plan.bounds.keep_refused
    task = NewTask(
        url.href,
        url.host,
        dedupe_key(url.href),
        scope=run_id,
        run_id=run_id,
        keep_refused=kept,
        single=plan.single,
    )
    return task, HostSetting(url.host, plan.politeness.delay_ms, plan.politeness.concurrency)
