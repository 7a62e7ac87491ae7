"""Downloads of manifests: the tasks of a handler, with their headers, places and hints."""

from collections.abc import Mapping, Sequence
from urllib.parse import quote

import msgspec

from longline.engine.stored_secrets import Vault
from longline.model.downloads.download import NewDownload
from longline.model.fetch.credentials import Credentials
from longline.model.manifests.handler_hooks import FINALIZE
from longline.model.manifests.manifest import SubmittedManifest
from longline.model.object_keys import begin_and_digest
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.end_effect import PlannedEffect, RunEffectKind
from longline.plugins.manifest_handlers import DownloadTask
from longline.services.manifests.manifest_kinds import ManifestKind

CONTENT_TYPE, CHECKSUM = "content_type", "checksum_hint"
"""Tags that say the type of a file, and its checksum."""

MAX_LABEL_BYTES = 1024
"""Length, as a store takes them, up to which the URL of a file is an attribute of its object beside the two ids."""

MAX_RUN_LABEL_BYTES, MAX_RESOURCE_LABEL_BYTES = 256, 1536
"""Longest ids in the attributes of an object, as a store takes them; a longer one is cut, and ends with its digest."""

_PLAIN = "".join(map(chr, range(0x20, 0x7F)))

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


def object_labels(uid: str, resource_id: str, url: str) -> dict[str, str]:
    """Return the attributes of a stored file that name its origin; S3 takes 2 KB of them, so a long URL is left out.

    A store takes printable ASCII: other characters are percent-encoded there.
    """
    named = {"job-id": _cut(uid, MAX_RUN_LABEL_BYTES), "resource-id": _cut(resource_id, MAX_RESOURCE_LABEL_BYTES)}
    size = sum(len(quote(text, _PLAIN)) for text in (*named.values(), url))
    return named | {"source-url": url} if size <= MAX_LABEL_BYTES else named


def _cut(text: str, max_bytes: int) -> str:
    """Return a text that a store takes in so many bytes; a cut one ends with the digest of the whole."""
    return text if len(quote(text, _PLAIN)) <= max_bytes else "=".join(begin_and_digest(text, max_bytes, _PLAIN))


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
