"""Handlers of manifests, as operators write them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from longline.plugins.manifest_handlers import (
    DownloadTask,
    InvalidManifest,
    Manifest,
    ManifestSummary,
    ProxyHint,
    StoragePlace,
)


class Counting:
    """A handler that notes every end of a manifest in a file."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._file = Path(options["file"])

    def finalize_job(self, summary: ManifestSummary) -> None:
        with self._file.open("a") as file:
            file.write(f"{summary.id} {summary.state} {summary.completed}/{summary.total}\n")


class Choosy(Counting):
    """A handler that refuses every manifest, and notes its end."""

    def prepare_manifest(self, manifest: Manifest) -> Manifest:
        raise InvalidManifest(f"no manifest like {manifest.id}")


class Idle(Counting):
    """A handler that makes no task, and notes the end of each manifest."""

    def build_tasks(self, _prepared: Manifest, _emit: Callable[[DownloadTask], None]) -> None:
        return None


class Picky:
    """A handler that refuses, fails or changes manifests by their metadata."""

    async def prepare_manifest(self, manifest: Manifest) -> Manifest:
        wish = manifest.metadata.get("wish")
        if wish == "refuse":
            raise InvalidManifest("no pictures today")
        if wish == "fail":
            raise RuntimeError("the handler is broken")
        return manifest

    def build_tasks(self, prepared: Manifest, emit: Callable[[DownloadTask], None]) -> Iterator[DownloadTask]:
        if prepared.metadata.get("wish") == "none":
            return
        for one in prepared.resources:
            emit(DownloadTask(one.id, one.url, {"X-Handler": "yes", "X-Both": "handler"}, key=f"picky/{one.id}"))
            if prepared.metadata.get("wish") == "more":
                yield DownloadTask(f"{one.id}-again", one.url, key=f"picky/{one.id}-again")


class Placing:
    """A handler that chooses the place of each file."""

    def override_storage(self, task: DownloadTask) -> StoragePlace:
        return StoragePlace(key=f"placed/{task.resource_id}")


class Hinting:
    """A handler that requests the proxy pools named in the tags of a resource."""

    def build_tasks(self, prepared: Manifest, emit: Callable[[DownloadTask], None]) -> None:
        for one in prepared.resources:
            first, *others = one.tags["pools"].split()
            emit(DownloadTask(one.id, one.url, proxy_hint=ProxyHint(first, tuple(others))))


class Nothing:
    """A handler without a hook."""
