"""Promises of every object store, on each engine."""

import asyncio
import random

import pytest

from longline.model.errors import BadInput, NotFound
from longline.ports.blobs import BlobInfo, Blobs

ODD_KEYS = [
    "plain",
    "a/b/c",
    "with space",
    "per%20cent",
    "ünï/中",
    "h#12",
    "q?x*y[z]",
    "plus+a&b=c;d",
    "{b}|^\"<>`'~!$(),:@",
    ".hidden/.file",
    "x" * 255,
    "/".join(["seg" * 20] * 15),
]
BAD_KEYS = [
    "",
    "/",
    "/absolute",
    "trailing/",
    "a//b",
    ".",
    "..",
    "../up",
    "a/../b",
    "a/./b",
    "a/..",
    "nul\0",
    "line\nbreak",
    "back\\slash",
    ".staging/x",
    "x" * 256,
    "/".join(["x" * 200] * 6),
    "\ud800",
]


async def listed(blobs: Blobs, prefix: str = "") -> list[BlobInfo]:
    return [info async for info in blobs.list(prefix)]


async def keys(blobs: Blobs, prefix: str = "") -> list[str]:
    return [info.key for info in await listed(blobs, prefix)]


# Writing and reading


@pytest.mark.parametrize("key", ODD_KEYS)
async def test_a_stored_object_is_read_back(blobs, key):
    await blobs.put(key, b"content of " + key.encode())
    assert await blobs.get(key) == b"content of " + key.encode()
    assert await listed(blobs) == [BlobInfo(key, len(b"content of " + key.encode()))]
    await blobs.delete([key])
    assert await listed(blobs) == []


async def test_put_replaces(blobs):
    await blobs.put("a/b", b"first, and longer")
    await blobs.put("a/b", b"second")
    assert await blobs.get("a/b") == b"second"


@pytest.mark.parametrize("data", [b"", [], [b""], [b"one"], [b"one", b"", b"two"]])
async def test_chunks_are_joined(blobs, data):
    await blobs.put("put", data)
    assert await blobs.get("put") == (data if isinstance(data, bytes) else b"".join(data))


async def test_a_large_object_of_many_chunks_is_stored(blobs):
    source = random.Random(1)
    chunks = [source.randbytes(30_011) for _ in range(700)]  # 21 MB: three parts on S3
    await blobs.put("large", chunks)
    whole = b"".join(chunks)
    assert await blobs.get("large") == whole
    border = 8 * 1024 * 1024
    assert await blobs.get_range("large", border - 5, 10) == whole[border - 5 : border + 5]
    await blobs.put("large", whole[: border + 1])
    assert await blobs.get("large") == whole[: border + 1]


async def test_a_missing_object_is_not_found(blobs):
    for key in ("nothing", "no/thing"):
        with pytest.raises(NotFound, match=key):
            await blobs.get(key)
        with pytest.raises(NotFound, match=key):
            await blobs.get_range(key, 0, 1)
    await blobs.put("a/b", b"x")
    for key in ("a", "a/b/c"):
        with pytest.raises(NotFound, match=key):
            await blobs.get(key)


# Ranges


@pytest.mark.parametrize(("offset", "length"), [(0, 10), (0, 1), (9, 1), (3, 4), (0, 0), (10, 0)])
async def test_a_range_has_its_exact_bytes(blobs, offset, length):
    await blobs.put("digits", b"0123456789")
    assert await blobs.get_range("digits", offset, length) == b"0123456789"[offset : offset + length]


@pytest.mark.parametrize(("offset", "length"), [(0, 11), (9, 2), (10, 1), (500, 5), (0, 10**15)])
async def test_a_range_beyond_the_end_is_an_error(blobs, offset, length):
    await blobs.put("digits", b"0123456789")
    with pytest.raises(NotFound, match=f"ends before byte {offset + length}"):
        await blobs.get_range("digits", offset, length)


@pytest.mark.parametrize(("offset", "length"), [(-1, 1), (0, -1)])
async def test_a_negative_range_is_bad_input(blobs, offset, length):
    with pytest.raises(BadInput):
        await blobs.get_range("digits", offset, length)


# Removing


async def test_delete_removes_many_objects_and_ignores_missing_ones(blobs):
    for key in ("a/1", "a/2", "b", "keep"):
        await blobs.put(key, b"x")
    await blobs.delete(iter(["missing", "a/1", "mis/sing", "a/2", "b", "b", "a", "keep/deeper"]))
    assert await keys(blobs) == ["keep"]
    await blobs.delete([])
    assert await keys(blobs) == ["keep"]


# Listing


async def test_a_list_is_in_key_order(blobs):
    names = ["a", "a-b", "a.b/1", "a/b", "a/b-c", "a0", "B", "zz/1", "zz/10", "zz/2", "é", "中/1"]
    shuffled = [name for name in names if name != "a"]  # a folder cannot hold 'a' beside 'a/b'
    random.Random(3).shuffle(shuffled)
    for name in shuffled:
        await blobs.put(name, name.encode())
    assert await listed(blobs) == [BlobInfo(name, len(name.encode())) for name in sorted(shuffled)]


async def test_a_prefix_ends_at_a_slash(blobs):
    for key in ("a/1", "a/b/2", "ab/3", "c/a/4", "a.txt"):
        await blobs.put(key, b"x")
    assert await keys(blobs, "a") == await keys(blobs, "a/") == ["a/1", "a/b/2"]
    assert await keys(blobs, "a/b") == ["a/b/2"]
    assert await keys(blobs, "a/1") == await keys(blobs, "no/where") == await keys(blobs, "a/1/2") == []


async def test_a_long_list_is_complete(blobs):
    names = sorted(f"folder{n % 7}/object-{n}" for n in range(1100))
    for start in range(0, len(names), 100):
        await asyncio.gather(*(blobs.put(name, b"x") for name in names[start : start + 100]))
    assert await keys(blobs) == names


async def test_an_empty_store_lists_nothing(blobs):
    assert await listed(blobs) == []


# Keys


@pytest.mark.parametrize("key", BAD_KEYS)
async def test_a_bad_key_is_refused_by_every_operation(blobs, key):
    for attempt in (
        blobs.put(key, b"x"),
        blobs.get(key),
        blobs.get_range(key, 0, 1),
        blobs.delete(["fine", key]),
    ):
        with pytest.raises(BadInput):
            await attempt


@pytest.mark.parametrize("prefix", ["/", "/a", "..", "a/../..", "a//b", "nul\0"])
async def test_a_bad_prefix_is_refused(blobs, prefix):
    with pytest.raises(BadInput):
        await listed(blobs, prefix)


# The check


async def test_check_names_the_store_and_leaves_no_object(blobs):
    said = await blobs.check()
    assert said.startswith(("folder /", "memory", "S3 bucket 'test-"))
    assert "secret" not in said
    assert await listed(blobs) == []
