"""Rows that go with the report of pages, in its transaction: links for other runs, stored links, found places."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from longline.engine.parse.parser_results import Parsed
from longline.model.discovery.candidate import Decision, DiscoveryRules, LinkSighting, PlaceFindings
from longline.model.discovery.link import LinkDetails, NewLink
from longline.model.frontier.task import ClaimedTask, NewTask
from longline.model.recrawls.recrawl import RecrawlFind
from longline.model.runs.crawl_plan import CrawlPlan
from longline.ports.records.frontier.frontier import HostSetting


@dataclass(frozen=True, slots=True)
class ReportedPage:
    """A page that is to be reported; `parsed` None leaves parsing, and with it all links, to another process."""

    task: ClaimedTask
    plan: CrawlPlan
    parsed: Parsed | None
    status: int | None = None
    content_type: str | None = None


@dataclass(slots=True)
class ReportAdditions:
    """Rows that a report carries beside its tasks; `hosts` are those of `tasks`.

    The functions `after` are called when the report was written; a refused report is made again without its lost part.
    """

    tasks: list[NewTask] = field(default_factory=list)
    hosts: list[HostSetting] = field(default_factory=list)
    links: list[NewLink] = field(default_factory=list)
    link_details: list[LinkDetails] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    sightings: list[LinkSighting] = field(default_factory=list)
    finds: list[RecrawlFind] = field(default_factory=list)
    rules: DiscoveryRules | None = None
    after: list[Callable[[], None]] = field(default_factory=list)

    @property
    def findings(self) -> PlaceFindings | None:
        """The found places, if there are any."""
        if self.rules is None or not (self.decisions or self.sightings):
            return None
        return PlaceFindings(self.decisions, self.sightings, self.rules)

    def written(self) -> None:
        """Tell that the report was written."""
        for tell in self.after:
            tell()


Contributor = Callable[[Sequence[ReportedPage], ReportAdditions], Awaitable[None]]
"""A function that adds the rows of pages to the additions of their report."""


async def additions_of(contributors: Sequence[Contributor], pages: Sequence[ReportedPage]) -> ReportAdditions:
    """Return the rows that go with a report of these pages."""
    additions = ReportAdditions()
    for contribute in contributors:
        await contribute(pages, additions)
    return additions
