"""Creation of manifests: with a run that has begun, or with one that has failed."""

from collections.abc import Sequence

from longline.engine.lifecycle.downloads import DownloadLifecycle
from longline.model.downloads.download import NewDownload
from longline.model.manifests.manifest import NewManifest
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import NewRun
from longline.ports.records.downloads import PlacedDownload
from longline.ports.records.manifests import ManifestAdmissionStore, ManifestSubmission


class ManifestLifecycle:
    """The creation of manifests with their runs, several in one transaction."""

    def __init__(self, store: ManifestAdmissionStore, downloads: DownloadLifecycle) -> None:
        self._store, self._downloads = store, downloads

    async def place(self, downloads: Sequence[NewDownload], plan: CrawlPlan) -> list[PlacedDownload]:
        """Return downloads with their tasks, and make sure that the hosts of the tasks exist."""
        return await self._downloads.place(downloads, plan)

    async def submit(self, submissions: Sequence[ManifestSubmission]) -> list[int | None]:
        """Store manifests and begin their runs; return the ids of the runs, None for a manifest that came too late."""
        made = await self._store.submit(submissions)
        await self._downloads.call_workers()
        return made

    async def extend(self, run_id: int, downloads: Sequence[PlacedDownload]) -> int:
        """Admit further files to a manifest, whose run is opened again if it has ended; return how many were new."""
        admitted = await self._store.extend(run_id, downloads)
        if admitted:
            await self._downloads.call_workers()
        return admitted

    async def refuse(self, run: NewRun, manifest: NewManifest, error: str) -> int:
        """Store a manifest that cannot be queued, with a failed run; return the run's id."""
        return await self._store.refuse(ManifestSubmission(run, manifest), error)
