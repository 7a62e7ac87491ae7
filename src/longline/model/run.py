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


class AskedSum(msgspec.Struct, frozen=True):
    """Requests of a run that went the same way; a `status` of 0 means that nothing came."""

    reason: str
    status: int
    count: int
    bytes: int = 0
    ms: int = 0
    least_ms: int = 0
    most_ms: int = 0


class Survey(msgspec.Struct, frozen=True):
    """What a run came to: its requests, its worst errors with the URL that had each last, its URLs, its items."""

    asked: tuple[AskedSum, ...] = ()
    errors: tuple[tuple[str, int, str], ...] = ()
    fates: tuple[Fate, ...] = ()
    items: int = 0
    untitled: int = 0
    bodiless: int = 0


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
