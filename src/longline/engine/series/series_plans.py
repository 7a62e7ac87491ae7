"""Plans of runs that crawl the catalogue of a source, or one series of it: made from the source when a run starts."""

from collections.abc import Mapping
from typing import Any

import msgspec

from longline.engine.series.request_config import REQUEST_KEYS, bounds, fetch_options, politeness
from longline.engine.stored_secrets import Vault
from longline.model.errors import BadInput
from longline.model.object_keys import series_pages_prefix
from longline.model.runs.crawl_plan import CrawlPlan, ParseOptions, Retries
from longline.model.runs.run import DueRun
from longline.model.series.series_run import DEFAULT_MAX_RETRIES, MAX_RETRIES_KEY, SERIES_END
from longline.model.sources.source import SourceRow
from longline.model.whole_number import whole_number
from longline.plugins.extension import SERIES, Extension
from longline.plugins.parser import CONFIG_KEY, PARSER_KEY
from longline.plugins.registry import Registry
from longline.ports.records.callers import DoorSettingStore
from longline.ports.records.series import TargetStore
from longline.ports.records.sources import SourceStore

DOOR = "catalogue"
"""The API whose settings hold for these runs."""


class SeriesPlans:
    """The planner of these runs: start points, parsers and limits are those of the source at the start."""

    def __init__(
        self,
        sources: SourceStore,
        targets: TargetStore,
        settings: DoorSettingStore,
        extensions: Registry,
        vault: Vault,
    ) -> None:
        self._sources, self._targets, self._settings = sources, targets, settings
        self._extensions, self._vault = extensions, vault

    async def plan(self, run: DueRun) -> CrawlPlan:
        """Return the plan of a run; raise `BadInput` without a source, its extension or an active target."""
        source = None if run.source_id is None else await self._sources.get(run.source_id)
        if source is None:
            raise BadInput("the source of the run is gone")
        extension, config = self._extension(source)
        seeds = await self._seeds(source, run.subject or "")
        parser = extension.crawl if run.subject else extension.discover
        retries = await self._max_retries()
        return CrawlPlan(
            seeds,
            bounds=bounds(seeds, config),
            politeness=politeness(source, config),
            retries=Retries(max_attempts=retries + 1),
            fetch=fetch_options(source, config, self._vault),
            parse=ParseOptions(config=_parse_config(parser.name, config, run.subject)),
            end=SERIES_END,
            objects=_objects(config, run.subject),
            page_log_level="info",
            always_logged=True,
            source_id=source.id,
            source_name=source.name,
        )

    def _extension(self, source: SourceRow) -> tuple[Extension, Mapping[str, Any]]:
        """Return the extension of a source and its config, which the extension has accepted."""
        self._extensions.refresh()
        if source.extension is None:
            raise BadInput(f"source {source.name} has no extension")
        found = self._extensions.extensions.get(source.extension)
        if found is None:
            raise BadInput(f"there is no extension {source.extension!r}; the setting parsers names the files to load")
        config: Mapping[str, Any] = msgspec.json.decode(source.extension_config)
        found.check(config)
        return found, config

    async def _seeds(self, source: SourceRow, series_id: str) -> tuple[str, ...]:
        """Return the pages that a run starts from: the active targets of its series, or the start of the source."""
        if not series_id:
            return (source.base_url,)
        targets = await self._targets.of_series(series_id)
        seeds = tuple(each.url for each in targets if each.source_id == source.id and each.active)
        if not seeds:
            raise BadInput("the series has no active target on the source any more")
        return seeds

    async def _max_retries(self) -> int:
        row = await self._settings.get(DOOR, MAX_RETRIES_KEY)
        number = whole_number(row.value or "") if row is not None else None
        return DEFAULT_MAX_RETRIES if number is None else min(number, 100)


def _parse_config(parser: str, config: Mapping[str, Any], series_id: str | None) -> str:
    seen = {name: value for name, value in config.items() if name not in REQUEST_KEYS}
    wanted: dict[str, Any] = {PARSER_KEY: parser, CONFIG_KEY: seen}
    return msgspec.json.encode(wanted | ({SERIES: series_id} if series_id else {})).decode()


def _objects(config: Mapping[str, Any], series_id: str | None) -> str:
    """Return the begin of the keys of a series' pages, where the source asks for objects."""
    return series_pages_prefix(series_id) if series_id and config.get("storepages") is True else ""
