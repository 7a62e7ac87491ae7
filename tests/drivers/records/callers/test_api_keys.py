"""API keys on both engines."""

from longline.model.callers.api_key import NewApiKey, digest
from longline.model.callers.roles import Role
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.peek import Peek

KEY = NewApiKey("shop", "bots", Role.MEMBER, "acme", 60, 5)


async def test_a_key_is_stored_found_and_listed(records: Records, peek: Peek):
    made = await records.api_keys.add(KEY, "ab", digest("hunter2"))
    other = await records.api_keys.add(NewApiKey("other", "intervals"), "cd", digest("x"))
    assert (made.uid, made.name, made.door, made.role, made.tenant) == ("ab", "shop", "bots", Role.MEMBER, "acme")
    assert (made.per_minute, made.expires_at, made.revoked_at, made.last_used_at) == (60, 5, None, None)
    assert await records.api_keys.get(["ab", "zz"]) == {"ab": made}
    assert await records.api_keys.find() == [other, made]
    assert await records.api_keys.find(limit=1, before_id=other.id) == [made]
    assert "hunter2" not in str(await peek.rows("SELECT * FROM api_keys"))


async def test_a_revoked_key_keeps_its_time(records: Records, clock: FakeClock):
    await records.api_keys.add(KEY, "ab", "h")
    first = await records.api_keys.revoke("ab")
    clock.advance(10)
    again = await records.api_keys.revoke("ab")
    assert first is not None
    assert first == again
    assert first.revoked_at is not None
    assert await records.api_keys.revoke("zz") is None


async def test_the_last_use_is_written_at_most_once_a_minute(records: Records, clock: FakeClock):
    made = await records.api_keys.add(KEY, "ab", "h")

    async def used() -> int | None:
        await records.api_keys.touch([made.id, made.id])
        return (await records.api_keys.get(["ab"]))["ab"].last_used_at

    first = await used()
    clock.advance(59)
    assert first is not None
    assert await used() == first
    clock.advance(1)
    assert await used() == first + 60_000
