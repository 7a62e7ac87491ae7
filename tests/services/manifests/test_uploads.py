"""Uploads of manifests: old ones are deleted, young ones stay."""

import pytest

from longline.drivers.blobs import open_blobs
from longline.model.errors import NotFound
from longline.services.manifests.uploads import MAX_AGE_MS, ManifestUploads
from tests.services.clock import HandClock


async def test_old_uploads_are_deleted_and_young_ones_stay():
    clock, blobs = HandClock(), open_blobs("memory:///")
    uploads = ManifestUploads(blobs, clock, 1)
    old = await uploads.begin("t")
    clock.millis = uploads.expires_at(old) - MAX_AGE_MS
    await uploads.put(old, "t", 1, b"x")
    assert await uploads.sweep() == 0
    clock.millis += MAX_AGE_MS + 1
    with pytest.raises(NotFound):
        await uploads.find(old, "t")
    assert await uploads.sweep() == 2
    assert [info async for info in blobs.list()] == []
