"""Finished tasks, and batches of them, as they wait for their report."""

from dataclasses import dataclass, field, replace

import msgspec

from longline.engine.archive.page_records import KeptRedirect, PageToKeep
from longline.engine.fetch.fetcher import Fetched
from longline.engine.frontier.leased_hosts import LeasedHost
from longline.engine.parse.parser_results import Parsed
from longline.engine.parse.report_additions import ReportedPage
from longline.model.downloads.download import DownloadResult
from longline.model.frontier import reasons, retries
from longline.model.frontier.retries import (
    rest_after_parser,
    retry_rules,
)
from longline.model.frontier.task import ClaimedTask, RequestMade
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.search.item import NewItem
from longline.model.states import TaskState
from longline.ports.records.frontier.frontier import Reported

MANY_LINKS = 1000
"""Links beyond which a page is heavy: heavy pages take turns in reports."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A task that was worked on and waits to be reported.

    `parsed` None leaves parsing to another process. With `in_words` items are indexed with the report. `archived` is
    the URL of a page that has not changed, and was parsed again from the task's own record. `began_at` is when work
    began. A file that was downloaded has a `download` and no page.
    """

    host: LeasedHost
    task: ClaimedTask
    plan: CrawlPlan
    fetched: Fetched
    parsed: Parsed | None
    page: PageToKeep | None
    in_words: bool = False
    archived: str | None = None
    began_at: int | None = None
    download: DownloadResult | None = None
    _items: list[list[NewItem]] = field(default_factory=list, init=False, repr=False)

    def prepare(self) -> None:
        """Make the record and items for the report. Costs more than all the rest: not for the event loop."""
        if self.page is not None:
            self.page.made()
        _ = self.items

    @property
    def items(self) -> list[NewItem]:
        """Return the items that were made of the page."""
        if not self._items:
            url = self.page.response.url if self.page else self.archived
            made = self.parsed.items_of(self.task, url, in_words=self.in_words) if self.parsed and url else []
            self._items.append(made)
        return self._items[0]

    @property
    def as_reported(self) -> ReportedPage:
        """Return the page as contributors to its report see it."""
        answer = self.fetched.response
        kind = answer.header("content-type") if answer else None
        return ReportedPage(self.task, self.plan, self.parsed, self.fetched.status, kind)

    @property
    def heavy_links(self) -> int:
        """Return the number of links of a page with so many that its report takes long, else 0."""
        links = self.parsed.weight if self.parsed else 0
        return links if links > MANY_LINKS else 0

    @property
    def redirects(self) -> list[KeptRedirect]:
        """Return the redirects that are kept: those of a task that goes on elsewhere, or is not tried again."""
        sent = self.fetched.redirects
        if not sent or (self.rest == TaskState.PENDING and self.fetched.redirected_to is None):
            return []
        first = self.task.hops if self.task.home_id is not None else 0
        return [KeptRedirect(self.task.id, number, one) for number, one in enumerate(sent, first)]

    @property
    def reason(self) -> str:
        """Return the reason with which the task ended."""
        return reasons.PARSER_ERROR if self.parsed and self.parsed.error else self.fetched.reason

    @property
    def error(self) -> str | None:
        """Return the error of the parser, or that of the fetch."""
        return (self.parsed.error if self.parsed else None) or self.fetched.error

    @property
    def requests(self) -> tuple[RequestMade, ...]:
        """Return the requests made, the last with the task's reason; a failure before any request counts as one."""
        asked, reason = self.fetched.asked, self.reason
        if reason == reasons.OK or not (asked or reasons.is_failure(reason)):
            return asked
        error = self.error or "" if reasons.is_failure(reason) else ""
        last = msgspec.structs.replace(asked[-1] if asked else RequestMade(), reason=reason, error=error)
        return (*asked[:-1], last)

    @property
    def rest(self) -> TaskState:
        """Return the state in which the task comes to rest."""
        if self.fetched.redirected_to is not None:
            return TaskState.PENDING
        if self.reason == reasons.OK:
            return TaskState.QUEUED_PARSE if self.parsed is None else TaskState.COMPLETED
        rules = retry_rules(self.task, self.plan)
        if self.reason == reasons.PARSER_ERROR:
            return rest_after_parser(self.plan.retries.parser, self.task.attempt, 1, rules.max_attempts)
        return retries.rest_after(self.reason, self.fetched.status, self.task.attempt, rules)


Unstarted = tuple[LeasedHost, tuple[ClaimedTask, ...]]
"""A host, and tasks of it that were not started."""


@dataclass(slots=True)
class FinishedBatch:
    """The content of one report: finished tasks, and hosts to be released with their unstarted tasks.

    Tasks that are `given_back` were not started either; their hosts stay leased unless they are released.
    """

    finished: list[Finished] = field(default_factory=list)
    released: dict[int, Unstarted] = field(default_factory=dict)
    given_back: dict[int, Unstarted] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.finished or self.released or self.given_back)

    @property
    def unstarted(self) -> dict[int, Unstarted]:
        """Return the hosts with their tasks that were not started, those that are released and those with some back."""
        found = dict(self.released)
        for host_id, (host, tasks) in self.given_back.items():
            found[host_id] = host, (*tasks, *(found[host_id][1] if host_id in found else ()))
        return found

    def without_superseded(self) -> "FinishedBatch":
        """Return the batch without results of tasks that were restarted, where a later claim of the task ended, too."""
        last: dict[int, int] = {}
        for f in self.finished:
            last[f.task.id] = max(f.task.due, last.get(f.task.id, f.task.due))
        if len(last) == len(self.finished):
            return self
        return replace(self, finished=[f for f in self.finished if f.task.due == last[f.task.id]])

    def without(self, refused: Reported) -> "FinishedBatch":
        """Return the batch without the tasks and hosts of lost leases."""
        return FinishedBatch(
            [f for f in self.finished if f.host.lease.host_id not in refused.stale and f.task.id not in refused.gone],
            {host_id: kept for host_id, kept in self.released.items() if host_id not in refused.stale},
            {host_id: kept for host_id, kept in self.given_back.items() if host_id not in refused.stale},
        )

    def halves(self) -> tuple["FinishedBatch", "FinishedBatch"]:
        """Return the batch as two; hosts are released with the second, after all of their tasks were reported."""
        middle = len(self.finished) // 2
        last = FinishedBatch(self.finished[middle:], self.released, self.given_back)
        return FinishedBatch(self.finished[:middle]), last
