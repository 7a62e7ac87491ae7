"""A task is one URL to fetch. These are the shapes in which tasks travel between floors."""

import msgspec

from longline.model.states import TaskState

FETCH, PARSE, BOT = "fetch", "parse", "bot"
"""Executors: who may claim a task. `fetch` goes with its host's lease, the others carry a lease of their own."""

DEFAULT_PRIORITY = 500
"""Lower runs first; wide enough for every contract's own scale on either side."""


class KnownPage(msgspec.Struct, frozen=True, gc=False):
    """The page that a URL had when it was last fetched; `task_id` is the task whose record holds the body."""

    task_id: int
    digest: str
    fetched_at: int
    etag: str | None = None
    last_modified: str | None = None


class NewTask(msgspec.Struct, frozen=True, gc=False):
    """A URL that asks to be admitted. `key` says which URLs are the same inside (scope, host)."""

    url: str
    host: str
    key: bytes
    scope: int
    run_id: int
    depth: int = 0
    priority: int = DEFAULT_PRIORITY
    due: int = 0
    executor: str = FETCH
    parent_id: int | None = None
    hops: int = 0


class ClaimedTask(msgspec.Struct, frozen=True, gc=False):
    """A task in a worker's hand. `due` and `priority` are its place in the queue and go back with the report.

    `attempt` is the number of this try, and `claims` how often it was claimed for it: more than once when workers died.
    `found_on` is the page that links to it; where a redirect leads to is on no page.
    """

    id: int
    url: str
    run_id: int
    scope: int
    depth: int
    attempt: int
    priority: int
    due: int
    claims: int = 1
    hops: int = 0
    known: KnownPage | None = None
    found_on: str | None = None

    @property
    def earlier(self) -> KnownPage | None:
        """The page that is known, if another task has it: what is kept of this one may refer to it."""
        return self.known if self.known and self.known.task_id != self.id else None


class PageFacts(msgspec.Struct, frozen=True, gc=False):
    """What is known of a page and where its bytes are: (segment, offset, length) in the archive.

    `body_of` is the task whose record holds the body, when this one says only that the page came again unchanged.
    """

    offset: int
    length: int
    digest: str
    status: int
    content_type: str
    body_bytes: int
    fetched_at: int
    fetch_ms: int
    url: str
    title: str = ""
    etag: str | None = None
    last_modified: str | None = None
    body_of: int | None = None


class RedirectFacts(msgspec.Struct, frozen=True, gc=False):
    """A redirect on the way to a task's page: the `number` of the hop, from 0, and the place of its record."""

    task_id: int
    number: int
    offset: int
    length: int
    digest: str
    status: int
    fetched_at: int
    url: str


class RenamedUrl(msgspec.Struct, frozen=True, gc=False):
    """What a task is called from now on, because that is where its page lives."""

    url: str
    key: bytes


RESENT = "resent"
"""The reason of a request that broke on a kept connection and was sent again: it has not failed."""


class RequestMade(msgspec.Struct, frozen=True, gc=False):
    """One request for a task's page, and what came of it; without a `status` nothing came."""

    status: int | None = None
    ms: int = 0
    bytes: int = 0
    reason: str = "ok"
    error: str = ""


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """How a claimed task came to rest: its new state, why, what was kept of it, and what it took.

    It is `renamed` unless the new name belongs to another task of its scope already.
    """

    task: ClaimedTask
    became: TaskState
    reason: str
    at: int
    status: int | None = None
    due: int = 0
    error: str | None = None
    page: PageFacts | None = None
    renamed: RenamedUrl | None = None
    asked: tuple[RequestMade, ...] = ()


class TaskRow(msgspec.Struct, frozen=True):
    """A task as somebody who asks for it sees it; a held one shows the state it has in hand."""

    id: int
    run_id: int
    host: str
    url: str
    state: str
    reason: str | None
    priority: int
    attempt: int
    depth: int
    status: int | None
    error: str | None
    due: int
    created_at: int
    finished_at: int | None
