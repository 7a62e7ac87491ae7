"""Recrawls: each generation of a submitted URL is a task, with a side row for lists and for its next generation."""

from typing import Literal

import msgspec

from longline.model.recrawls.frequency import DEFAULT_FREQUENCY, frequency_ms

PRIORITY_STEP = 100
"""Distance of two priorities of a person in the queue, which has room between them."""

DEFAULT_DELAY_MS = 1000
DEFAULT_CONCURRENCY = 5
DEFAULT_ATTEMPTS = 4
"""Pause and concurrency at the host of a source that sets none, and attempts at each page."""

MAX_PRODUCT_IMAGES = 50
"""Largest number of images of one product that are stored."""

RETRY_DELAY_SECONDS = 60.0
MAX_RETRY_DELAY_SECONDS = 1024 * 60.0
"""Pauses before the first retry, and longest: each is twice the one before, and there are at most ten."""


def scope_of(generation: int) -> int:
    """Return the scope of a generation, in which every URL is once; other scopes are not negative."""
    return -1 - generation


def is_recrawl(scope: int) -> bool:
    """Return whether a scope is that of recrawls."""
    return scope < 0


class NewRecrawl(msgspec.Struct, frozen=True, kw_only=True):
    """A URL to be fetched now or later, and again after a while if it is `recurring`.

    `host` is its politeness key, `href` the URL for requests. A recrawl with a parent `waits` until the parent has
    completed.
    """

    url: str
    href: str
    url_hash: str
    host: str
    run_id: int
    source_id: int
    priority: int
    max_attempts: int
    created_by: str
    due_at: int | None = None
    frequency: str = DEFAULT_FREQUENCY
    recurring: bool = True
    again_after_failure: bool = False
    generation: int = 0
    batch_id: int | None = None
    parent_id: int | None = None
    depth: int = 0
    webhook: str | None = None

    @property
    def every_ms(self) -> int:
        """Return the milliseconds between two generations."""
        return frequency_ms(self.frequency)


class KnownRecrawl(msgspec.Struct, frozen=True):
    """The last generation of a URL that was submitted before."""

    id: int
    url_hash: str
    rest: str


class RecrawlFind(msgspec.Struct, frozen=True):
    """A URL that the page of a recrawl brought: a child to be submitted, or an image to be stored."""

    task_id: int
    kind: Literal["child", "image"]
    url: str


class FoundUrl(msgspec.Struct, frozen=True):
    """A URL that a page brought, as it waits to be taken."""

    id: int
    task_id: int
    kind: Literal["child", "image"]
    url: str
    source_id: int


class RecrawlSubmission(msgspec.Struct, frozen=True):
    """The result of a submission: the ids of new recrawls by URL hash, and the URLs that were known.

    `repeated` counts URLs that came more than once in it, `refused` those for which a budget had no room.
    """

    ids: dict[str, int]
    known: tuple[KnownRecrawl, ...] = ()
    repeated: int = 0
    refused: int = 0
