"""Images of products as objects: downloads of one run for each source, known by the hashes of their URLs."""

import hashlib
from collections.abc import Mapping, Sequence

from longline.engine.frontier.recrawl_runs import RecrawlRuns, image_plan
from longline.engine.lifecycle.creation import ensure_run
from longline.engine.lifecycle.downloads import DownloadLifecycle
from longline.model.downloads.download import DownloadRow, NewDownload
from longline.model.ids import new_id
from longline.model.object_keys import image_key
from longline.model.recrawls.hold import Hold
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import NewRun, RunKind, RunRow
from longline.ports.records import Records


class ProductImages:
    """The images of the products of sources."""

    def __init__(self, records: Records, downloads: DownloadLifecycle, pages: RecrawlRuns) -> None:
        self._runs, self._stored, self._downloads = records.runs, records.downloads, downloads
        self._pages, self._sources, self._holds = pages, records.sources, records.holds

    async def store(self, source_id: int, urls: Sequence[str]) -> int:
        """Have images stored that are not stored yet; return how many are new."""
        plan = image_plan((await self._pages.of(source_id)).plan)
        row = await self._runs.first(RunKind.IMAGES, str(source_id)) or await self._begin(source_id, plan)
        if row.plan != plan.text():
            await self._runs.replan(row.id, plan.text(), source_id)
        admitted = await self._downloads.admit(row.id, [_download(source_id, url) for url in urls], plan)
        if admitted:
            placed = await self._downloads.place([_download(source_id, url) for url in urls], plan)
            await self._holds.note_hosts(row.id, [one.task.host for one in placed])
        return admitted

    async def _begin(self, source_id: int, plan: CrawlPlan) -> RunRow:
        """Make the run of images of a source, held if the source is off."""
        made = NewRun(new_id(), RunKind.IMAGES, plan.text(), str(source_id), source_id=source_id)
        row = await ensure_run(self._runs, made, "scheduler")
        source = await self._sources.get(source_id)
        if source is not None and not source.enabled:
            await self._holds.hold(Hold(row.id, "disabled", 0))
        return row

    async def of(self, source_id: int | None, urls: Sequence[str]) -> Mapping[str, DownloadRow]:
        """Return the stored images among these, by their URLs."""
        row = None if source_id is None else await self._runs.first(RunKind.IMAGES, str(source_id))
        if row is None or not urls:
            return {}
        found = await self._stored.of_resources(row.id, [_hash(url) for url in urls])
        return {one.given_url: one for one in found if one.sha256 is not None}


def _download(source_id: int, url: str) -> NewDownload:
    return NewDownload(resource_id=_hash(url), url=url, key=image_key(source_id, url, _hash(url)))


def _hash(url: str) -> str:
    return hashlib.sha256(url.encode(errors="surrogatepass")).hexdigest()
