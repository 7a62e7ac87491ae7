"""Submission of manifests: an object store that hangs, a handler that cannot read a manifest."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from longline.drivers.blobs import open_blobs
from longline.engine.lifecycle.manifests import ManifestLifecycle
from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.stored_secrets import Vault
from longline.model.manifests.idempotency_key import LEASE_MS
from longline.model.manifests.manifest import ManifestResource, SubmittedManifest
from longline.plugins.manifest_handlers import Manifest, ManifestHandler
from longline.ports.blobs import Blobs
from longline.ports.records import Records
from longline.services.manifests import submissions
from longline.services.manifests.idempotency import IdempotencyKeys
from longline.services.manifests.submissions import IdempotencyRules, ManifestSubmissions, NotQueued
from longline.settings import Settings
from longline.wiring.subjects.manifests import manifest_kinds

MANIFEST = SubmittedManifest(
    "default", "", (ManifestResource("a", "https://a.example/"),), b"{}", b'{"metadata":{}}', b"{}", "key"
)


class HangingBlobs:
    """An object store that hangs at its first objects."""

    def __init__(self, kept: Blobs, hangs: int) -> None:
        self._kept, self._hangs, self.asked = kept, hangs, 0

    async def put(self, key: str, data: bytes, labels: Mapping[str, str] | None = None) -> None:
        self.asked += 1
        if self.asked <= self._hangs:
            await asyncio.sleep(60)
        await self._kept.put(key, data, labels)


def intake(records: Records, blobs: object) -> ManifestSubmissions:
    lifecycle = ManifestLifecycle(records.manifests.runs, Lifecycle(records).downloads)
    keys, rules = IdempotencyKeys(records.manifests.keys), IdempotencyRules(3_600_000)
    return ManifestSubmissions(lifecycle, keys, blobs, Vault("a key of tests"), rules, records.pools)  # type: ignore[arg-type]


async def test_an_upload_to_a_hanging_store_is_repeated(
    records: Records, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(submissions, "PUT_TIMEOUT_SECONDS", 0.1)
    blobs = HangingBlobs(open_blobs(f"file://{tmp_path}/objects"), 2)
    kind = manifest_kinds(Settings(data=tmp_path)).get("default")
    accepted = await intake(records, blobs).submit(MANIFEST, kind)
    assert (accepted.receipt.resources, blobs.asked) == (1, 4)


async def test_a_submission_to_a_hanging_store_fails_within_the_lease_of_the_key(
    records: Records, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    assert submissions.ATTEMPTS * submissions.PUT_TIMEOUT_SECONDS * 1000 + 5000 < LEASE_MS
    monkeypatch.setattr(submissions, "PUT_TIMEOUT_SECONDS", 0.1)
    blobs = HangingBlobs(open_blobs(f"file://{tmp_path}/objects"), 6)
    kind, door = manifest_kinds(Settings(data=tmp_path)).get("default"), intake(records, blobs)
    with pytest.raises(NotQueued, match="did not answer within") as caught:
        await asyncio.wait_for(door.submit(MANIFEST, kind), 20)
    assert caught.value.is_passing
    failed = await records.manifests.snapshots.get(caught.value.uid)
    assert failed is not None
    assert (failed.state, failed.error_code) == ("failed", "STORAGE_UNAVAILABLE")
    again = await door.submit(MANIFEST, kind)
    assert not again.is_replay
    assert again.receipt.uid != caught.value.uid


class Reading:
    """A handler that reads manifests."""

    def prepare_manifest(self, manifest: Manifest) -> Manifest:
        return manifest


async def test_a_manifest_that_is_nested_too_deep_for_the_handler_is_refused(records: Records, tmp_path: Path):
    kind = manifest_kinds(Settings(data=tmp_path)).get("default")
    reading = msgspec.structs.replace(kind, handler=ManifestHandler(Reading()))
    metadata = b'{"a":%s}' % (b"[" * 5000 + b"]" * 5000)
    manifest = msgspec.structs.replace(MANIFEST, metadata=metadata, key=None)
    door = intake(records, open_blobs(f"file://{tmp_path}/objects"))
    with pytest.raises(NotQueued, match="nested too deep") as caught:
        await door.submit(manifest, reading)
    assert caught.value.is_refusal
    failed = await records.manifests.snapshots.get(caught.value.uid)
    assert failed is not None
    assert failed.state == "failed"
