"""Logins at the console on both engines."""

import msgspec

from longline.model.callers.api_key import NewApiKey, digest
from longline.model.callers.console_session import NewConsoleSession
from longline.model.callers.roles import Role
from longline.ports.records import Records
from longline.testing.clock import FakeClock


def login(clock: FakeClock, uid: str, subject: str = "me", seconds: int = 60) -> NewConsoleSession:
    end = clock.now() + seconds * 1000
    return NewConsoleSession(uid, digest("s"), subject, subject, Role.ADMIN, "user", "::1", "browser", end)


async def test_a_login_is_found_until_it_expires(records: Records, clock: FakeClock):
    store = records.console_sessions
    first = await store.add(login(clock, "a"))
    second = await store.add(login(clock, "b", "you", 120))
    assert await store.get("a") == first
    assert await store.find() == [second, first]
    assert await store.find(before_id=second.id) == [first]
    assert await store.of_subject("you", "user") == [second]
    assert await store.in_force(["a", "b", "never"]) == {"a", "b"}
    assert await store.in_force([]) == set()
    clock.advance(60)
    assert await store.in_force(["a", "b"]) == {"b"}
    assert await store.get("a") is None
    assert await store.find() == [second]
    await store.touch("b")
    seen = await store.get("b")
    assert seen is not None
    assert seen.seen_at == clock.now()
    await store.forget()
    assert await store.remove("b") is True
    assert await store.remove("b") is False
    assert await store.remove("a") is False


async def test_a_login_by_a_key_ends_with_the_key(records: Records, clock: FakeClock):
    await records.api_keys.add(NewApiKey("k", "console", expires_at=clock.now() + 30_000), "key1", "h")
    await records.api_keys.add(NewApiKey("k", "console"), "key2", "h")
    store = records.console_sessions
    for uid in ("key1", "key2", "key3"):
        await store.add(msgspec.structs.replace(login(clock, f"s-{uid}", uid), kind="key"))
    assert [row.subject for row in await store.find()] == ["key2", "key1"]
    clock.advance(30)
    assert [row.subject for row in await store.find()] == ["key2"]
    await records.api_keys.revoke("key2")
    assert await store.get("s-key2") is None
    assert await store.in_force(["s-key1", "s-key2"]) == set()
