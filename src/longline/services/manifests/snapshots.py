"""Snapshots of manifests: one by its id, and lists by filters."""

from collections.abc import Callable

from longline.model.errors import NotFound
from longline.model.manifests.manifest import ManifestFilter, ManifestSnapshot
from longline.ports.records.manifests import ManifestStore

MAX_RUN_ID = 2**62
"""Number behind that of every run."""

BATCH_SIZE = 500


class ManifestSnapshots:
    """The manifests with the states of their runs."""

    def __init__(self, store: ManifestStore) -> None:
        self._store = store

    async def get(self, uid: str) -> ManifestSnapshot:
        """Return a manifest; raise `NotFound` for one that is unknown or was pruned."""
        found = await self._store.get(uid)
        if found is None:
            raise NotFound("manifest", uid)
        return found

    async def page(
        self,
        wanted: ManifestFilter,
        before: int | None,
        limit: int,
        fits: Callable[[ManifestSnapshot], bool] | None = None,
    ) -> tuple[list[ManifestSnapshot], int | None]:
        """Return manifests, newest first, and the position of the next page, None at the end.

        Those that do not fit are left out: whether an open manifest has begun is known of its snapshot alone.
        """
        found: list[ManifestSnapshot] = []
        place: int | None = MAX_RUN_ID if before is None else before
        while place is not None and len(found) < limit:
            batch = await self._store.find(wanted, place, limit)
            fitting = [one for one in batch if fits is None or fits(one)]
            found += fitting[: limit - len(found)]
            place = batch[-1].run_id if len(batch) == limit else None
        return found, found[-1].run_id if len(found) == limit else None
