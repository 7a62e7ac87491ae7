"""Objects that are encrypted with a key of the operator before they are stored."""

import pytest

from longline.drivers.blobs import open_blobs
from longline.drivers.blobs.encrypted import EncryptedBlobs
from longline.model.errors import NotFound, Unavailable
from longline.ports.blobs import Blobs

KEY = "a key of the operator"


async def test_an_object_is_stored_encrypted_and_read_back_decrypted(blobs: Blobs):
    encrypted = EncryptedBlobs(blobs, KEY)
    await encrypted.put("m/a", [b'{"secret"', b": 1}"])
    stored = await blobs.get("m/a")
    assert b"secret" not in stored
    assert await EncryptedBlobs(blobs, KEY).get("m/a") == b'{"secret": 1}'
    assert await encrypted.get_range("m/a", 2, 6) == b"secret"
    with pytest.raises(NotFound):
        await encrypted.get_range("m/a", 10, 100)


async def test_equal_objects_are_stored_as_different_bytes():
    blobs = open_blobs("memory://")
    encrypted = EncryptedBlobs(blobs, KEY)
    for key in ("m/a", "m/b"):
        await encrypted.put(key, b"{}")
    assert await blobs.get("m/a") != await blobs.get("m/b")


@pytest.mark.parametrize("reader", ["another key, too", ""])
async def test_an_object_cannot_be_read_without_its_key(reader: str):
    blobs = open_blobs("memory://")
    await EncryptedBlobs(blobs, KEY).put("m/a", b"{}")
    with pytest.raises(Unavailable, match="'m/a'"):
        await EncryptedBlobs(blobs, reader).get("m/a")


async def test_an_object_that_was_changed_or_moved_is_refused():
    blobs = open_blobs("memory://")
    encrypted = EncryptedBlobs(blobs, KEY)
    await encrypted.put("m/a", b"{}")
    stored = await blobs.get("m/a")
    await blobs.put("m/b", stored)
    await blobs.put("m/a", stored[:-1] + bytes([stored[-1] ^ 1]))
    await blobs.put("m/c", stored[:30])
    for key in ("m/a", "m/b", "m/c"):
        with pytest.raises(Unavailable, match="another key, or was changed"):
            await encrypted.get(key)


async def test_an_object_from_before_the_key_is_read_unchanged():
    blobs = open_blobs("memory://")
    await blobs.put("m/a", b"{}")
    assert await EncryptedBlobs(blobs, KEY).get("m/a") == b"{}"


async def test_without_a_key_nothing_is_encrypted():
    blobs = open_blobs("memory://")
    await EncryptedBlobs(blobs, "").put("m/a", b"{}")
    assert await blobs.get("m/a") == b"{}"
