"""Page changes in Redis, in the form that other services of the interval contract read."""

import json

import pytest
from redis.asyncio import Redis

from longline.drivers.schedules.redis_page_changes import RedisPageChanges
from longline.model.errors import Unavailable
from longline.ports.records.schedules import PageChanges

PAGE_CHANGES = PageChanges("sha256:ab", 1_700_000_000_123, 3, 14_400_000)


async def test_saved_page_changes_are_read_again_and_deleted(redis_url: str):
    page_changes = RedisPageChanges(redis_url)
    assert await page_changes.get("7") is None
    await page_changes.save("7", PAGE_CHANGES)
    assert await page_changes.get("7") == PAGE_CHANGES
    await page_changes.forget("7")
    assert await page_changes.get("7") is None
    await page_changes.close()


async def test_page_changes_are_stored_in_the_form_of_the_contract(redis_url: str):
    page_changes, client = RedisPageChanges(redis_url), Redis.from_url(redis_url)
    await page_changes.save("7", PAGE_CHANGES)
    said = json.loads(await client.get("crawler:adaptive:7") or "")
    assert (said["last_hash"], said["unchanged_count"]) == ("ab", 3), "the SHA-256 without a prefix"
    assert said["current_interval"] == 4 * 3600 * 10**9, "nanoseconds"
    assert said["last_change_at"] == "2023-11-14T22:13:20.123000+00:00"
    assert await client.ttl("crawler:adaptive:7") == -1, "the key does not expire"
    await client.set("crawler:adaptive:8", '{"last_hash": 1}')
    assert await page_changes.get("8") is None, "an unreadable value counts as unknown"
    await page_changes.close()
    await client.aclose()


async def test_an_unreachable_server_is_unavailable():
    page_changes = RedisPageChanges("redis://127.0.0.1:1/0")
    with pytest.raises(Unavailable, match="Redis cannot be asked"):
        await page_changes.get("7")
    await page_changes.close()
