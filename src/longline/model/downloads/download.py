"""Files of runs: to be downloaded, leased by a worker, stored, and as lists show them."""

import hashlib
import re

import msgspec

from longline.model.states import TaskState

DEFAULT_CONTENT_TYPE = "application/octet-stream"

_HEXADECIMAL = re.compile("[0-9a-f]+")


class NewDownload(msgspec.Struct, frozen=True, kw_only=True):
    """A file to be downloaded. Inside a run the `resource_id` identifies it: two files may have one URL.

    The file is stored under `key` in `bucket`, None for the usual one. `headers` are for the origin of the URL alone:
    the JSON of `Credentials`, locked by the vault. `labels` are attributes of the stored object, and `content_type`
    replaces the type that the host names. `checksum` is `sha256:<hex>`; other forms are not verified. `pools` are names
    of proxy pools, the first of which is preferred; without any, the plan says which proxies serve. `tags` and
    `attributes` are JSON objects that the platform only keeps.
    """

    resource_id: str
    url: str
    key: str
    bucket: str | None = None
    headers: str | None = None
    labels: dict[str, str] = {}
    content_type: str | None = None
    checksum: str | None = None
    trace_id: str | None = None
    pools: tuple[str, ...] = ()
    tags: str = "{}"
    attributes: str = "{}"
    priority: int | None = None
    max_attempts: int | None = None

    @property
    def task_key(self) -> bytes:
        """Return the key of the task: the resource id identifies a task inside its run, not the URL."""
        return hashlib.blake2b(self.resource_id.encode(errors="surrogatepass"), digest_size=16).digest()


class DownloadOrder(msgspec.Struct, frozen=True, gc=False):
    """The order that comes with a claimed task: the place of the stored object, and the headers of the request."""

    resource_id: str
    key: str
    bucket: str | None = None
    headers: str | None = None
    labels: str = "{}"
    content_type: str | None = None
    checksum: str | None = None
    trace_id: str | None = None
    pools: str | None = None

    @property
    def pool_names(self) -> tuple[str, ...]:
        """Return the names of the proxy pools that the task asks for."""
        return msgspec.json.decode(self.pools, type=tuple[str, ...]) if self.pools else ()

    @property
    def sha256(self) -> str | None:
        """Return the expected digest in hexadecimal digits; None without one, and for other kinds of checksums."""
        kind, _, digits = (part.strip().lower() for part in (self.checksum or "").partition(":"))
        return digits if kind == "sha256" and _HEXADECIMAL.fullmatch(digits) else None


class StoredFile(msgspec.Struct, frozen=True, gc=False):
    """A file that is whole in the object store, with its digest in hexadecimal digits.

    `image_size` is width and height of an image, where the plan has images measured.
    """

    key: str
    bytes: int
    sha256: str
    content_type: str
    bucket: str | None = None
    image_size: tuple[int, int] | None = None


class DownloadResult(msgspec.Struct, frozen=True, gc=False):
    """The result of an attempt, for the rows of the download and its dead letter: a stored file, or none.

    `proxy` is the address of the last proxy, without credentials.
    """

    kind: str
    tenant: str
    host: str
    ms: int
    stored: StoredFile | None = None
    proxy: str | None = None


class DownloadRow(msgspec.Struct, frozen=True):
    """A download as lists show it, with the state of its task; a stored one has `sha256`."""

    task_id: int
    run_id: int
    resource_id: str
    given_url: str
    key: str
    bucket: str | None
    tags: str
    labels: str
    checksum: str | None
    trace_id: str | None
    pools: str | None
    attributes: str
    state: TaskState
    reason: str | None
    error: str | None
    status: int | None
    attempts: int
    ended_at: int | None
    stored_at: int | None = None
    bytes: int | None = None
    sha256: str | None = None
    content_type: str | None = None
    proxy: str | None = None
    ms: int | None = None
    width: int | None = None
    height: int | None = None
