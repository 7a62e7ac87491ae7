"""Manifests: submitted lists of files to download, with data of the sender beside them."""

from typing import Literal

import msgspec

from longline.model.manifests.idempotency_key import Reservation

Origin = Literal["api", "direct"]
"""The way on which a manifest came: through the API, or as single tasks from a stream."""

StreamName = Literal["tasks", "status", "logs", "dead_letters"]


class ManifestResource(msgspec.Struct, frozen=True, gc=False):
    """One file of a manifest: its id inside the manifest, its URL, headers of the request, and tags."""

    id: str
    url: str
    headers: dict[str, str] = {}
    tags: dict[str, str] = {}


class ProxyHint(msgspec.Struct, frozen=True):
    """The proxy pools that a task asks for, in the place of those of its kind: one, and its fallbacks in order."""

    primary_pool: str = ""
    fallbacks: tuple[str, ...] = ()

    @property
    def pools(self) -> tuple[str, ...]:
        """Return the names of all pools in order, each once."""
        return tuple(dict.fromkeys(name for name in (self.primary_pool, *self.fallbacks) if name))


class SubmittedManifest(msgspec.Struct, frozen=True):
    """A valid manifest. `metadata`, `attributes` and the whole `document` are the bytes that were sent.

    `kind` names the configured type of the manifest; `key` is the sender's idempotency key, if any.
    """

    kind: str
    tenant: str
    resources: tuple[ManifestResource, ...]
    metadata: bytes
    document: bytes
    attributes: bytes = b"{}"
    key: str | None = None
    trace_id: str = ""


class ManifestReceipt(msgspec.Struct, frozen=True):
    """The answer to an accepted manifest: the id of its run, the key of its metadata, and the number of its files."""

    uid: str
    metadata_key: str
    resources: int


class NewManifest(msgspec.Struct, frozen=True):
    """A manifest to be stored beside its run.

    `total` is the number of downloads, which may differ from the number of submitted `resources`; None if unknown. A
    manifest that could not be queued has a `code` and a `message`, and its run has failed.
    """

    kind: str
    tenant: str
    metadata_key: str
    resources: int
    origin: Origin = "api"
    total: int | None = None
    attributes: str = "{}"
    trace_id: str = ""
    bytes: int = 0
    code: str | None = None
    message: str | None = None
    reservation: Reservation | None = None


class ManifestSnapshot(msgspec.Struct, frozen=True):
    """A manifest with the state and the counts of its run.

    `begun` is whether a task of the run was ever leased by a worker. `error_code` and `error_message` are those of the
    first file that was given up, or of the manifest that could not be queued; `dead_letter` is the last of its dead
    letters.
    """

    run_id: int
    uid: str
    kind: str
    tenant: str
    state: str
    origin: Origin
    metadata_key: str
    resources: int
    total: int | None
    admitted: int
    completed: int
    open: int
    begun: bool
    created_at: int
    changed_at: int
    error_code: str | None = None
    error_message: str | None = None
    error_status: int | None = None
    dead_letter: int | None = None

    @property
    def given_up(self) -> int:
        """Return the number of files that were not stored and will not be tried again."""
        return self.admitted - self.completed - self.open

    @property
    def expected(self) -> int:
        """Return the number of files: the announced total, unless more have come."""
        return max(self.total or 0, self.admitted)

    @property
    def awaits_files(self) -> bool:
        """Return whether files may come yet: a manifest that comes file by file ends with its announced total."""
        return self.origin == "direct" and (self.total is None or self.completed + self.given_up < self.total)


class ManifestFilter(msgspec.Struct, frozen=True):
    """A choice of manifests; `states` are states of their runs, `since` is the least creation time.

    With `awaiting`, manifests whose run has ended and for which files may come yet are chosen too.
    """

    states: tuple[str, ...] = ()
    awaiting: bool = False
    kind: str | None = None
    tenant: str | None = None
    since: int | None = None


class PrunedManifests(msgspec.Struct, frozen=True):
    """The manifests that a pruning deletes: their number, and the size that remains."""

    pruned: int
    remaining_bytes: int
