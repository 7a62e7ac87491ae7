"""URLs that the bounds of a run refused."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from longline.model.frontier.task import RefusedUrl


class RefusedUrlStore(Protocol):
    """Refused URLs of runs that keep them; reports write them, and `FrontierStore.extend` admits them later."""

    async def counts(self, run_id: int) -> dict[str, int]:
        """Return the number of refused URLs by reason; a URL that the run has admitted since does not count."""
        ...

    async def dropped(self, run_id: int) -> int:
        """Return the number of refused links that were not stored, because the run has `MAX_REFUSED_URLS` already."""
        ...

    async def depths(self, run_id: int) -> list[int]:
        """Return the depths at which URLs were refused, the smallest first."""
        ...

    async def find(self, run_id: int, depth: int, after: bytes, limit: int) -> Sequence[RefusedUrl]:
        """Return refused URLs of one depth in the order of their keys, from the first key beyond `after`."""
        ...

    async def change_reasons(self, run_id: int, reasons: Mapping[bytes, str]) -> None:
        """Store other reasons for refused URLs, by key."""
        ...
