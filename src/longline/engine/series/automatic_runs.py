"""Runs of catalogues that start by themselves: each source has its intervals for its catalogue and for its series."""

import logging

from longline.model.series.series_run import NewSeriesRun, new_series_run
from longline.model.series.series_schedule import AutomaticSource, SeriesSchedule
from longline.ports.clock import Clock
from longline.ports.records.series import AutomaticRunStore

log = logging.getLogger(__name__)

BATCH_SIZE = 100
MAX_PER_PASS = 1000
"""Largest number of targets of one source that one pass looks at: the others come with the next passes."""


class AutomaticSeriesRuns:
    """The maker of automatic runs; a run whose subject has an open one is not made."""

    def __init__(self, store: AutomaticRunStore, clock: Clock) -> None:
        self._store, self._clock = store, clock

    async def once(self) -> int:
        """Queue a run for everything that is due; return how many."""
        made, after_id = 0, 0
        while sources := await self._store.sources(after_id, BATCH_SIZE):
            for source in sources:
                made += await self._queue(source)
            after_id = sources[-1].id
        if made:
            log.info("automatic runs queued", extra={"runs": made})
        return made

    async def _queue(self, source: AutomaticSource) -> int:
        wanted, now, made = SeriesSchedule.read(source.extension_config), self._clock.now(), 0
        if wanted.discovery_ms is not None and source.tried_at <= now - wanted.discovery_ms:
            made += await self._add(source, "", source.base_url, now - wanted.discovery_ms)
        if wanted.targeted_ms is not None:
            made += await self._queue_targets(source, now - wanted.targeted_ms)
        return made

    async def _queue_targets(self, source: AutomaticSource, before: int) -> int:
        made, seen = 0, 0
        while seen < MAX_PER_PASS:
            targets = await self._store.targets(source.id, before, BATCH_SIZE)
            first = {target.series_id: target.url for target in reversed(targets)}
            for series_id, url in first.items():
                made += await self._add(source, series_id, url, before)
            seen += len(targets)
            if len(targets) < BATCH_SIZE:
                break
        return made

    async def _add(self, source: AutomaticSource, series_id: str, seed: str, before: int) -> int:
        run = new_series_run((seed,), source.id, source.name, series_id, self._clock.now())
        return await self._store.add(run, NewSeriesRun(series_id or None), before)
