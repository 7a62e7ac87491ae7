"""Runs: single executions of a crawl, from the seeds to the last open task."""

from enum import StrEnum

import msgspec

from longline.model.runs.start_page import StartPage
from longline.model.states import RUN_ENDED, RunState

_STANDING = "frontier."
"""Prefix of the kinds of standing runs; the origin of their URLs follows."""


class RunKind(StrEnum):
    """The purpose of a run. Standing runs collect single URLs, one run for each origin and source."""

    CRAWL = "crawl"
    """A crawl that a person or a schedule started."""

    FEED_POLL = "poll"
    """The request of a feed that is due."""

    FEED_SEARCH = "search"
    """The requests of pages that may name the feed of a source, or be it."""

    SITEMAP = "sitemap"
    """The requests of the sitemaps of a source."""

    CANDIDATE_PROBE = "look"
    """The requests of a place that may become a source."""

    MANIFEST = "manifest"
    """The downloads of the files of one manifest."""

    SERIES = "series"
    """A crawl of the catalogue of a source, or of one series of it."""

    REPAIR = "repair"
    """The requests of pages with damaged records."""

    BOTS = "bots"
    """The single run of all tasks of bots."""

    PRODUCTS = "products"
    """The pages of one source that were submitted by their URLs, and are fetched again after a while."""

    IMAGES = "images"
    """The images of one source's products, which are stored as objects."""

    STANDING_FEED = f"{_STANDING}feed"
    """URLs from the entries of feeds."""

    STANDING_SITEMAP = f"{_STANDING}sitemap"
    """URLs from sitemaps."""

    STANDING_SPIDER = f"{_STANDING}spider"
    """URLs from on-site links."""

    STANDING_MANUAL = f"{_STANDING}manual"
    """URLs that a person or another service submitted."""

    STANDING_DISCOVERED = f"{_STANDING}discovered"
    """URLs from links to other sources."""

    @property
    def origin(self) -> str | None:
        """Return the origin of the URLs of a standing run; None for other runs."""
        return self.value.removeprefix(_STANDING) if self.value.startswith(_STANDING) else None

    @property
    def standing(self) -> bool:
        """Return whether there is one run of this kind for each seed, which never ends."""
        return self in (RunKind.BOTS, RunKind.PRODUCTS, RunKind.IMAGES) or self.origin is not None


STANDING_KINDS = {kind.origin: kind for kind in RunKind if kind.origin is not None}
"""Kinds of standing runs, by origin."""


class NewRun(msgspec.Struct, frozen=True):
    """A run to be made. `budget` bounds the number of admitted URLs; `plan` is a `CrawlPlan` as JSON.

    Runs of one `lineage` share the keys that parsers give to items: by default the runs of a kind and seed. A run with
    a `due` time and without a schedule is started by itself at that time. Of the runs of a kind, source and `subject`
    only one may be open.
    """

    uid: str
    kind: RunKind
    plan: str
    seed: str = ""
    source_id: int | None = None
    schedule_id: int | None = None
    budget: int | None = None
    lineage: int | None = None
    due: int | None = None
    subject: str | None = None


DELAYED_MS = 1000
"""Milliseconds between the order and the due time from which on a run is a delayed one."""


class DueRun(msgspec.Struct, frozen=True):
    """A queued run that is due; `was_delayed` is True where it was queued for a later time."""

    id: int
    plan: str
    kind: RunKind = RunKind.CRAWL
    source_id: int | None = None
    subject: str | None = None
    uid: str = ""
    was_delayed: bool = False


class RunRow(msgspec.Struct, frozen=True):
    """A run as stored. admitted = open + completed + failed + cancelled + skipped, always.

    `indexed` counts the documents that the crawl brought, and `items` those that the run has now, after a reparse too.
    Columns that begin with `log` are set for a schedule's run with a kept log. `adoptions` counts the adoptions after a
    kill since a URL last ended, `adopted_ended` the URLs that had ended by then, `unheld_ms` the time without a holder.
    """

    id: int
    uid: str
    kind: RunKind
    state: str
    plan: str
    seed: str
    source_id: int | None
    schedule_id: int | None
    budget: int | None
    admitted: int
    open: int
    completed: int
    failed: int
    cancelled: int
    skipped: int
    error: str | None
    created_at: int
    started_at: int | None
    ended_at: int | None
    owner: int | None
    token: int
    lease_until: int | None
    number: int | None = None
    due: int | None = None
    attempt: int = 0
    indexed: int = 0
    items: int = 0
    stack: str | None = None
    cpu_ms: int | None = None
    memory_mb: int | None = None
    figures: str | None = None
    adoptions: int = 0
    adopted_ended: int = 0
    unheld_ms: int = 0
    untitled: int = 0
    bodiless: int = 0
    lineage: int | None = None
    standing: bool = False
    updated_at: int = 0
    counted_at: int = 0
    log_key: str | None = None
    log_bytes: int | None = None
    log_lines: int | None = None

    @property
    def ended(self) -> bool:
        """Return whether the run has ended."""
        return self.state in RUN_ENDED

    @property
    def changed_at(self) -> int:
        """Return when the run last changed: its state, plan or holder, or its counts."""
        return max(self.updated_at, self.counted_at)

    @property
    def done(self) -> bool:
        """Return whether the run has ended, or has no open URL left and waits for its scheduler to end it."""
        return self.ended or (self.state == RunState.RUNNING and self.open == 0 < self.admitted)

    @property
    def ended_urls(self) -> int:
        """Return the number of URLs that have ended."""
        return self.admitted - self.open


REFUSED = "refused"
"""Fate of URLs that were never admitted."""

WITHOUT_ITEM = "without_item"
"""Fate of completed pages of which the parser made no item; they count as completed as well."""

COUNTED_APART = frozenset({REFUSED, WITHOUT_ITEM})
"""Fates that are no part of the sum of a run's admitted URLs."""


class Fate(msgspec.Struct, frozen=True):
    """The number of a run's URLs with one fate and reason; the fates in `COUNTED_APART` are no part of the sum."""

    fate: str
    reason: str
    count: int


class RunTotals(msgspec.Struct, frozen=True):
    """Totals of runs by result. `average_ms` is over runs that have ended."""

    total: int
    completed: int
    failed: int
    cancelled: int
    average_ms: float | None
    last_at: int | None


class DayTotals(msgspec.Struct, frozen=True):
    """The numbers of fetched pages and of documents made of them."""

    crawled: int
    indexed: int


class RequestSum(msgspec.Struct, frozen=True):
    """Requests of a run with the same reason and status; a `status` of 0 means that there was no response."""

    reason: str
    status: int
    count: int
    bytes: int = 0
    ms: int = 0
    least_ms: int = 0
    most_ms: int = 0


MAX_RUN_ERRORS = 5
"""Largest number of different errors in the figures of a run, the most frequent first."""


class RunStats(msgspec.Struct, frozen=True):
    """The figures of a run: its requests, its worst errors with the last URL of each, its URLs, its items."""

    asked: tuple[RequestSum, ...] = ()
    errors: tuple[tuple[str, int, str], ...] = ()
    fates: tuple[Fate, ...] = ()
    items: int = 0
    untitled: int = 0
    bodiless: int = 0

    def text(self) -> str:
        """Return the survey as JSON."""
        return msgspec.json.encode(self).decode()


class RunReview(msgspec.Struct, frozen=True):
    """The facts of a run that has no open URL; `start` is None for a run that never had a URL.

    `failure` is the error of a run that is still to be ended and fails, and `failed_by` the move that ends it: the run
    has no start page, or its plan judges it as failed.
    """

    start: StartPage | None
    survey: RunStats
    failure: str | None = None
    failed_by: str = "fail_start"


class RunSummary(msgspec.Struct, frozen=True):
    """Facts to be kept with a run: its survey as JSON, the memory of the process, the stack of an error."""

    figures: str | None = None
    memory_mb: int | None = None
    stack: str | None = None
