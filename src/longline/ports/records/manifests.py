"""Manifests beside their runs, and the idempotency keys of their senders."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec

from longline.model.manifests.idempotency_key import IdempotencyRow, Reservation, ScopedKey
from longline.model.manifests.manifest import ManifestFilter, ManifestSnapshot, NewManifest
from longline.model.runs.run import NewRun
from longline.ports.records.downloads import PlacedDownload
from longline.ports.records.runs.retention import ExpiredRun


class ManifestSubmission(msgspec.Struct, frozen=True):
    """A manifest with its run and its downloads."""

    run: NewRun
    manifest: NewManifest
    downloads: Sequence[PlacedDownload] = ()


class SizedManifest(msgspec.Struct, frozen=True):
    """The size of an ended manifest, and its place in the order of ends."""

    id: int
    ended_at: int
    bytes: int


class ManifestAdmissionStore(Protocol):
    """Creation of manifests with their runs, for `engine/lifecycle/` alone."""

    async def submit(self, submissions: Sequence[ManifestSubmission]) -> list[int | None]:
        """Store manifests, begin their runs, admit their downloads and answer their keys, in one transaction.

        Return the ids of the runs; None for a manifest whose key is held by another one, of which nothing is stored.
        """
        ...

    async def extend(self, run_id: int, downloads: Sequence[PlacedDownload]) -> int:
        """Admit further files to a run, which is opened again if it has ended; return how many were new."""
        ...

    async def refuse(self, submission: ManifestSubmission, error: str) -> int:
        """Store a manifest that could not be queued, with a failed run, and release its key; return the run's id."""
        ...


class ManifestStore(Protocol):
    """Manifests, for reading."""

    async def get(self, uid: str) -> ManifestSnapshot | None:
        """Return the snapshot of a manifest by the id of its run."""
        ...

    async def find(self, wanted: ManifestFilter, before: int, limit: int) -> list[ManifestSnapshot]:
        """Return snapshots, newest first, of runs with smaller numbers than `before`."""
        ...

    async def after(self, run_id: int, since: int, limit: int) -> list[ManifestSnapshot]:
        """Return snapshots, oldest first, of runs behind `run_id` that were made at `since` or later."""
        ...

    async def of_runs(self, run_ids: Sequence[int]) -> list[ManifestSnapshot]:
        """Return the snapshots of those runs that are runs of manifests."""
        ...

    async def note_total(self, run_id: int, total: int) -> None:
        """Note the number of files of a manifest that comes file by file; a smaller number changes nothing."""
        ...

    async def sized(self, last: ExpiredRun, limit: int) -> list[SizedManifest]:
        """Return ended manifests with their sizes, oldest end first, from behind `last`."""
        ...

    async def bytes(self) -> tuple[int, int]:
        """Return the number of manifests, and the bytes that their snapshots take."""
        ...


class IdempotencyStore(Protocol):
    """Idempotency keys."""

    async def reserve(self, reservations: Sequence[Reservation], lease_ms: int) -> list[IdempotencyRow]:
        """Reserve keys that are free, or whose lease or window has ended; return the rows as they are now.

        A row whose `holder` is another one belongs to another request.
        """
        ...

    async def get(self, key: ScopedKey) -> IdempotencyRow | None:
        """Return a key; None when it was released."""
        ...

    async def release(self, reservation: Reservation) -> bool:
        """Delete the reservation of a request that failed; return False when it has no reservation any more."""
        ...

    async def forget(self, limit: int) -> int:
        """Delete up to `limit` keys whose window has ended; return how many."""
        ...


@dataclass(frozen=True, slots=True)
class ManifestStores:
    """The stores of manifests; `runs` is for `engine/lifecycle/` alone."""

    snapshots: ManifestStore
    runs: ManifestAdmissionStore
    keys: IdempotencyStore
