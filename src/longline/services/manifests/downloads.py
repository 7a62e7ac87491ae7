"""Downloads of manifests: the tasks of a handler, with their headers, places and hints."""

from collections.abc import Mapping, Sequence

import msgspec

from longline.engine.stored_secrets import Vault
from longline.model.downloads.download import NewDownload
from longline.model.downloads.object_metadata import object_labels
from longline.model.fetch.credentials import Credentials
from longline.model.manifests.handler_hooks import FINALIZE
from longline.model.manifests.manifest import SubmittedManifest
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.end_effect import PlannedEffect, RunEffectKind
from longline.plugins.manifest_handlers import DownloadTask
from longline.services.manifests.manifest_kinds import ManifestKind

CONTENT_TYPE, CHECKSUM = "content_type", "checksum_hint"
"""Tags that say the type of a file, and its checksum."""

Headers = tuple[tuple[str, str], ...]


def run_plan(kind: ManifestKind, tenant: str) -> CrawlPlan:
    """Return the plan of a manifest's run: that of its kind, with its tenant and the hook of its end."""
    plan = kind.plan
    assert plan.downloads is not None
    effects = (PlannedEffect(RunEffectKind.MANIFEST, kind.name),) if kind.handler.has(FINALIZE) else ()
    end = msgspec.structs.replace(plan.end, effects=effects)
    downloads = msgspec.structs.replace(plan.downloads, kind=kind.name, tenant=tenant)
    return msgspec.structs.replace(plan, end=end, downloads=downloads)


def downloads_of(
    tasks: Sequence[DownloadTask], manifest: SubmittedManifest, kind: ManifestKind, uid: str, vault: Vault
) -> list[NewDownload]:
    """Return the downloads of a manifest, one for each resource id: the last task of an id counts."""
    sent = {one.id: one.headers for one in manifest.resources}
    locked: dict[Headers, str] = {}
    found: dict[str, NewDownload] = {}
    for task in tasks:
        headers = merged_headers(kind.headers, task.headers, sent.get(task.resource_id, {}))
        if headers and headers not in locked:
            # Many files of a manifest have the same headers.
            locked[headers] = vault.lock(Credentials(headers).text())
        found[task.resource_id] = _download(task, manifest, kind, uid, locked.get(headers))
    return list(found.values())


def merged_headers(*layers: Mapping[str, str]) -> Headers:
    """Return headers of which the later layer wins; names are the same in any case."""
    merged: dict[str, tuple[str, str]] = {}
    for layer in layers:
        for name, value in layer.items():
            merged[name.lower()] = (name, value)
    return tuple(merged.values())


def _download(
    task: DownloadTask, manifest: SubmittedManifest, kind: ManifestKind, uid: str, headers: str | None
) -> NewDownload:
    return NewDownload(
        resource_id=task.resource_id,
        url=task.url,
        key=task.key or kind.key(uid, task.resource_id),
        bucket=task.bucket or kind.bucket or None,
        headers=headers,
        labels=object_labels(uid, task.resource_id, task.url) | task.object_metadata,
        content_type=task.tags.get(CONTENT_TYPE) or None,
        checksum=task.tags.get(CHECKSUM) or None,
        trace_id=manifest.trace_id or None,
        pools=task.proxy_hint.pools if task.proxy_hint is not None else (),
        tags=msgspec.json.encode(task.tags).decode(),
        attributes=msgspec.json.encode(task.attributes).decode(),
    )
