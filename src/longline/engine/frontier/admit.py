"""Admission of the URLs that a page brought: new tasks, and the reasons of refusals."""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from longline.model.frontier.standing_frontier import SCOPE, url_hash
from longline.model.frontier.task import DEFAULT_PRIORITY, ClaimedTask, NewTask
from longline.model.runs.bounds import bounds_of
from longline.model.runs.plan import CrawlPlan
from longline.model.url import BadUrl, dedupe_key, parse
from longline.ports.records.frontier import HostSetting

MAX_VERDICTS = 50_000

KNOWN = "known"
TOO_MANY = "too_many_links"

Urgency = Mapping[str, int]
"""Offsets from the default priority, by URL; the lower priority goes first."""

NONE: Urgency = MappingProxyType({})


class AdmittedUrl(NamedTuple):
    """A URL that belongs to its run: its normal form, its host, and its deduplication key."""

    url: str
    host: str
    key: bytes


class QueuePlace(NamedTuple):
    """The place of a URL among the URLs of its run."""

    depth: int
    priority: int
    hops: int


class AdmissionCache:
    """The latest verdicts on links: the pages of a site share most links, so most need no second judgement.

    A URL that the database admitted, or had already, is `known` from then on and is not sent again.
    """

    def __init__(self, most: int = MAX_VERDICTS) -> None:
        self._most, self._count = most, 0
        # A plain dict finds its first key by passing over every slot that was deleted before it.
        self._said: OrderedDict[int, OrderedDict[str, AdmittedUrl | str]] = OrderedDict()

    def latest_verdicts(self, run_id: int) -> Mapping[str, AdmittedUrl | str]:
        """Return the latest verdicts on links of a run, for lookups of very many."""
        return self._said.get(run_id, {})

    def judge(self, run_id: int, text: str, plan: CrawlPlan) -> AdmittedUrl | str:
        """Return the URL, or the reason of its refusal."""
        said = self.latest_verdicts(run_id).get(text)
        if said is None:
            said = _judged(text, plan)
            self._say(run_id, text, said)
        return said

    def mark_known(self, tasks: Iterable[NewTask]) -> None:
        """Mark tasks as known: the database admitted them, or had them before."""
        for task in tasks:
            self._say(task.run_id, task.url, KNOWN)

    def _say(self, run_id: int, text: str, said: AdmittedUrl | str) -> None:
        of_run = self._said.get(run_id)
        if of_run is None:
            of_run = self._said[run_id] = OrderedDict()
        self._count += text not in of_run
        of_run[text] = said
        if self._count > self._most:
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        """Forget the oldest verdict of the run that was judged first, in constant time."""
        run_id, of_run = next(iter(self._said.items()))
        of_run.popitem(last=False)
        self._count -= 1
        if not of_run:
            del self._said[run_id]


def _judged(text: str, plan: CrawlPlan) -> AdmittedUrl | str:
    try:
        url = parse(text)
    except BadUrl as bad:
        return bad.reason
    return bounds_of(plan.bounds).refusal(url) or AdmittedUrl(url.href, url.host, dedupe_key(url.href))


class Admission:
    """The URLs of one report: new tasks, their hosts, and by run and reason refusals and pages without an item."""

    def __init__(self, verdicts: AdmissionCache) -> None:
        self._verdicts = verdicts
        self.tasks: list[NewTask] = []
        self.refused: Counter[tuple[int, str]] = Counter()
        self.without_item: Counter[tuple[int, str]] = Counter()
        self._hosts: dict[str, HostSetting] = {}
        self._taken: set[tuple[int, str, bytes]] = set()

    @property
    def hosts(self) -> list[HostSetting]:
        """Return the hosts of the tasks, each with its first politeness."""
        return list(self._hosts.values())

    def links(self, page: ClaimedTask, urls: Sequence[str], plan: CrawlPlan, urgency: Urgency = NONE) -> None:
        """Take the links of a page, one step deeper than the page."""
        if page.depth + 1 <= plan.bounds.max_depth:
            self._take(page, urls, plan, depth=page.depth + 1, urgency=urgency)
        elif urls:
            self.refused[page.run_id, "depth"] += len(urls)

    def admit_at_same_depth(
        self, page: ClaimedTask, urls: Sequence[str], plan: CrawlPlan, urgency: Urgency = NONE
    ) -> None:
        """Take URLs at the page's own depth: its site's sitemaps, and the pages that sitemaps list."""
        self._take(page, urls, plan, depth=page.depth, urgency=urgency)

    def refuse(self, page: ClaimedTask, refused: Mapping[str, Sequence[str]], plan: CrawlPlan) -> None:
        """Count links that the parser of a page does not follow; a link outside of the run's bounds is theirs."""
        for reason, urls in refused.items():
            if page.depth + 1 > plan.bounds.max_depth:
                self.refused[page.run_id, "depth"] += len(urls)
                continue
            for text in urls:
                said = self._verdicts.judge(page.run_id, text, plan)
                self.refused[page.run_id, said if isinstance(said, str) else reason] += 1

    def leave_out(self, page: ClaimedTask, reason: str | None) -> None:
        """Count a page of which its parser made no item, if there is a reason."""
        if reason is not None:
            self.without_item[page.run_id, reason] += 1

    def cut(self, page: ClaimedTask, count: int) -> None:
        """Count links that were too many for one page."""
        if count:
            self.refused[page.run_id, TOO_MANY] += count

    def redirect(self, page: ClaimedTask, url: str, plan: CrawlPlan) -> None:
        """Take the target of a page's redirect, at the page's own depth."""
        self._take(page, (url,), plan, depth=page.depth, hops=page.hops + 1)

    def _take(
        self,
        page: ClaimedTask,
        urls: Sequence[str],
        plan: CrawlPlan,
        *,
        depth: int,
        hops: int = 0,
        urgency: Urgency = NONE,
    ) -> None:
        reasons: Counter[str] = Counter()
        # One lookup for each link that was judged before: a page has a hundred links, and seldom a new one.
        for text, lately in zip(urls, map(self._verdicts.latest_verdicts(page.run_id).get, urls), strict=True):
            said = lately or self._verdicts.judge(page.run_id, text, plan)
            if isinstance(said, str):
                reasons[said] += 1
            elif (page.scope, said.host, said.key) in self._taken:
                reasons[KNOWN] += 1
            else:
                self._add(page, said, plan, QueuePlace(depth, DEFAULT_PRIORITY + urgency.get(text, 0), hops))
        for reason, count in reasons.items():
            self.refused[page.run_id, reason] += count

    def _add(self, page: ClaimedTask, found: AdmittedUrl, plan: CrawlPlan, place: QueuePlace) -> None:
        url, host, key = found
        self._taken.add((page.scope, host, key))
        if page.scope == SCOPE:
            key = url_hash(url)
        depth, priority, hops = place
        self.tasks.append(
            NewTask(url, host, key, page.scope, page.run_id, depth, priority, parent_id=page.id, hops=hops)
        )
        if host not in self._hosts:
            self._hosts[host] = HostSetting(host, plan.politeness.delay_ms, plan.politeness.concurrency)


def seed(text: str, run_id: int, plan: CrawlPlan) -> tuple[NewTask, HostSetting]:
    """Return the task of a seed, in the scope of its run, and its host."""
    url = parse(text)
    task = NewTask(url.href, url.host, dedupe_key(url.href), scope=run_id, run_id=run_id)
    return task, HostSetting(url.host, plan.politeness.delay_ms, plan.politeness.concurrency)
