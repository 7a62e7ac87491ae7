"""Tasks, each one URL to fetch: the shapes in which tasks travel between floors."""

import msgspec

from longline.model.downloads.download import DownloadOrder, DownloadResult
from longline.model.states import TaskState

FETCH, PARSE, BOT = "fetch", "parse", "bot"
"""Executors, which claim tasks. A `fetch` task is under its host's lease, the others have a lease of their own."""

DEFAULT_PRIORITY = 500
"""Priority of a task by default; lower runs first, and either side has room for every contract's own scale."""


class KnownPage(msgspec.Struct, frozen=True, gc=False):
    """The page of a URL's last fetch; `task_id` is the task with the record of the body."""

    task_id: int
    digest: str
    fetched_at: int
    etag: str | None = None
    last_modified: str | None = None


class NewTask(msgspec.Struct, frozen=True, gc=False):
    """A URL to be admitted. Inside (scope, host), URLs with the same `key` are the same.

    With `keep_refused` a URL that the budget of its run refuses is stored, for a larger budget. The task of a `single`
    URL stays one task whatever the URL redirects to; inside a scope, the keys of such tasks differ on all hosts.
    `max_attempts` replaces the limit of the plan. `credentials` are headers for the origin of the URL alone, as the
    JSON of `Credentials`, locked by the vault.
    """

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
    keep_refused: bool = False
    single: bool = False
    max_attempts: int | None = None
    credentials: str | None = None


MAX_REFUSED_URLS = 200_000
"""Largest number of refused URLs that a run stores; further ones are counted."""


class RefusedUrl(msgspec.Struct, frozen=True, gc=False):
    """A URL that the bounds or the budget of its run refused, as the task that it would have been."""

    reason: str
    task: NewTask


class ClaimedTask(msgspec.Struct, frozen=True, gc=False):
    """A task leased by a worker. `due` and `priority` are its place in the queue and go back with the report.

    `attempt` is the number of this attempt, and `claims` the number of its claims: more than one when workers died.
    `found_on` is the page with the link; the target of a redirect has none. A task that was redirected to another host
    has the URL there, and its own host as `home_id`. `max_attempts` replaces the limit of the plan, and `credentials`
    are locked headers for the origin of the task's own URL. A task with a `download` is a file for the object store.
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
    home_id: int | None = None
    max_attempts: int | None = None
    credentials: str | None = None
    download: DownloadOrder | None = None

    @property
    def mark(self) -> tuple[int, int]:
        """Return id and due time: a task that was taken from its worker comes back with another due time."""
        return self.id, self.due

    @property
    def earlier(self) -> KnownPage | None:
        """Return the known page if another task has it: the record of this task may refer to it."""
        return self.known if self.known and self.known.task_id != self.id else None


class PageFacts(msgspec.Struct, frozen=True, gc=False):
    """The facts of a page and the place of its record in a segment: `start` and `length`.

    `body_of` is the task with the record of the body, when this record is a revisit of an unchanged page.
    """

    start: int
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
    """A redirect on the way to a task's page: the `number` of the hop, from 0, and the place of its record.

    The redirect leads to `target`, which is None if the site sent no URL.
    """

    task_id: int
    number: int
    start: int
    length: int
    digest: str
    status: int
    fetched_at: int
    url: str
    target: str | None = None


class RenamedUrl(msgspec.Struct, frozen=True, gc=False):
    """The new URL of a task: the URL to which its page was redirected."""

    url: str
    key: bytes


class TaskRedirect(msgspec.Struct, frozen=True, gc=False):
    """The redirect of a single task to another host: after `hops` redirects the task goes on at `url` there."""

    url: str
    host: str
    hops: int


class RequestMade(msgspec.Struct, frozen=True, gc=False):
    """One request for a task's page, and its result; without a `status` there was no response."""

    status: int | None = None
    ms: int = 0
    bytes: int = 0
    reason: str = "ok"
    error: str = ""


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """The outcome of a claimed task: its new state, the reason, the page that was kept, and the requests made.

    The task is `renamed` unless the new URL belongs to another task of its scope already. A task that is `redirected`
    goes on at another host; in any other case a task goes home, to the host of its own URL. A page that is `strayed` is
    at the end of redirects that did not rename its task. `described` is the new title of a page that was parsed again
    from the archive. `attempts` are the attempts so far of the next executor, where they are not those of this
    one. `began_at` is when the work began, and `proxy_id` the proxy of the last request; a parser says neither.
    `download` is the result for the row of a download.
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
    redirected: TaskRedirect | None = None
    strayed: bool = False
    described: str | None = None
    attempts: int | None = None
    began_at: int | None = None
    proxy_id: int | None = None
    download: DownloadResult | None = None


class TaskRow(msgspec.Struct, frozen=True):
    """A task as lists show it; a claimed task shows its state under a lease.

    `began_at` is when the work of the last attempt began, and `proxy_id` the proxy of its last request. `target` is the
    URL on another host to which a task was redirected and where it goes on.
    """

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
    max_attempts: int | None = None
    began_at: int | None = None
    proxy_id: int | None = None
    target: str | None = None
    hops: int = 0
