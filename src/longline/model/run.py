"""A run is one execution: a crawl from its seeds to its last open task."""

import msgspec


class NewRun(msgspec.Struct, frozen=True):
    """A run to be made. `budget` bounds how many URLs it may admit; `plan` is what it was asked to do, as JSON."""

    uid: str
    kind: str
    plan: str
    seed: str = ""
    source_id: int | None = None
    schedule_id: int | None = None
    budget: int | None = None


class RunRow(msgspec.Struct, frozen=True):
    """A run as stored. admitted = open + completed + failed + cancelled + skipped, always.

    What begins with `log` is known of a run of a schedule whose log is kept.
    """

    id: int
    uid: str
    kind: str
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
    stack: str | None = None
    cpu_ms: int | None = None
    memory_mb: int | None = None
    figures: str | None = None
    log_key: str | None = None
    log_bytes: int | None = None
    log_lines: int | None = None


class Fate(msgspec.Struct, frozen=True):
    """How many URLs of a run ended one way for one reason. The fate `refused` counts URLs that were never admitted."""

    fate: str
    reason: str
    count: int


class Record(msgspec.Struct, frozen=True):
    """How runs went. `average_ms` is over those that have ended."""

    total: int
    completed: int
    failed: int
    cancelled: int
    average_ms: float | None
    last_at: int | None


class Brought(msgspec.Struct, frozen=True):
    """How many pages were fetched, and how many documents made of them."""

    crawled: int
    indexed: int


class Start(msgspec.Struct, frozen=True):
    """How the first URL of a run ended; `pages` are the first pages of the run, by URL."""

    url: str
    state: str
    reason: str | None
    error: str | None
    pages: dict[str, str]


class Survey(msgspec.Struct, frozen=True):
    """What the pages of a run add up to."""

    pages: int = 0
    bytes: int = 0
    untitled: int = 0
    mean_ms: float | None = None
    least_ms: int | None = None
    most_ms: int | None = None
    statuses: dict[str, int] = {}
    errors: tuple[tuple[str, int, str], ...] = ()
    fates: tuple[Fate, ...] = ()
    items: int = 0
    bodiless: int = 0
    requests: int = 0


class Review(msgspec.Struct, frozen=True):
    """What is to be known of a run that has ended; `start` is None for one that never had a URL."""

    start: Start | None
    survey: Survey


class Note(msgspec.Struct, frozen=True):
    """What is kept with a run when it has ended.

    `figures` is a survey as JSON, `stack` where an error came from, `indexed` how many items it brought.
    """

    figures: str | None = None
    cpu_ms: int | None = None
    memory_mb: int | None = None
    stack: str | None = None
    indexed: int = 0
