"""Figures of manifests over all processes, for metrics."""

import msgspec

from longline.model.metrics.metric import MANIFESTS_PRUNED, counter_values
from longline.ports.records.counters import CounterStore
from longline.ports.records.manifests import ManifestStore


class ManifestFigures(msgspec.Struct, frozen=True):
    """The numbers of manifests that were pruned, and of files that were given up, ever."""

    pruned: int = 0
    given_up: int = 0


class ManifestFigureReader:
    """The reader of the figures."""

    def __init__(self, store: ManifestStore, counters: CounterStore) -> None:
        self._store, self._counters = store, counters

    async def read(self) -> ManifestFigures:
        """Return the present figures."""
        pruned = counter_values(MANIFESTS_PRUNED, await self._counters.all())
        return ManifestFigures(pruned.get((), 0), await self._store.last_letter())
