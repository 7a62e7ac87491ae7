"""Admit: which of the URLs that a page brought may become tasks, and why the others may not."""

from collections import Counter
from collections.abc import Iterable

from longline.model.bounds import bounds_of
from longline.model.plan import CrawlPlan
from longline.model.task import ClaimedTask, NewTask
from longline.model.url import BadUrl, dedupe_key, parse
from longline.ports.records.frontier import HostSetting


class Admission:
    """Gathers the URLs of one report: new tasks, the hosts they live on, and refusals by run and reason."""

    def __init__(self) -> None:
        self.tasks: list[NewTask] = []
        self.refused: Counter[tuple[int, str]] = Counter()
        self._hosts: dict[str, HostSetting] = {}

    @property
    def hosts(self) -> list[HostSetting]:
        """The hosts of the tasks, each with the politeness it starts with."""
        return list(self._hosts.values())

    def links(self, page: ClaimedTask, urls: Iterable[str], plan: CrawlPlan) -> None:
        """Take the links of a page, one step deeper than the page."""
        deeper = page.depth + 1
        for url in urls:
            if deeper > plan.max_depth:
                self.refused[page.run_id, "depth"] += 1
            else:
                self._take(page, url, plan, depth=deeper)

    def sitemaps(self, page: ClaimedTask, urls: Iterable[str], plan: CrawlPlan) -> None:
        """Take the sitemaps of a page's site, at the page's own depth."""
        for url in urls:
            self._take(page, url, plan, depth=page.depth)

    def redirect(self, page: ClaimedTask, url: str, plan: CrawlPlan) -> None:
        """Take where a page moved to, at the page's own depth."""
        self._take(page, url, plan, depth=page.depth, hops=page.hops + 1)

    def _take(self, page: ClaimedTask, text: str, plan: CrawlPlan, *, depth: int, hops: int = 0) -> None:
        try:
            url = parse(text)
        except BadUrl as bad:
            self.refused[page.run_id, bad.reason] += 1
            return
        if (reason := bounds_of(plan).refusal(url)) is not None:
            self.refused[page.run_id, reason] += 1
            return
        key = dedupe_key(url.href)
        self.tasks.append(
            NewTask(url.href, url.host, key, page.scope, page.run_id, depth=depth, parent_id=page.id, hops=hops)
        )
        self._hosts.setdefault(url.host, HostSetting(url.host, plan.delay_ms, plan.concurrency))


def seed(text: str, run_id: int, plan: CrawlPlan) -> tuple[NewTask, HostSetting]:
    """The task of a seed, in the scope of its run."""
    url = parse(text)
    task = NewTask(url.href, url.host, dedupe_key(url.href), scope=run_id, run_id=run_id)
    return task, HostSetting(url.host, plan.delay_ms, plan.concurrency)
