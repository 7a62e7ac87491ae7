"""API keys, from their creation to a request."""

import asyncio

import pytest

from longline.model.callers.api_key import ApiKeyParts, NewApiKey, parse_key
from longline.model.callers.caller import AccessRule, NotAllowed
from longline.model.callers.roles import ADMINS, Role
from longline.model.errors import BadInput, NotFound, Unavailable
from longline.ports.records import Records
from longline.services.callers.api_keys import ApiKeys
from longline.services.callers.callers import CallerCredentials, Callers
from longline.services.callers.tokens import TokenRefused, Tokens
from longline.testing.clock import FakeClock

NEW = NewApiKey("shop", "bots", Role.ADMIN)
RULE = AccessRule("bots", ADMINS)


@pytest.fixture
def keys(records: Records, clock: FakeClock) -> ApiKeys:
    return ApiKeys(records.api_keys, clock)


def parts(text: str) -> ApiKeyParts:
    found = parse_key(text)
    assert found
    return found


async def test_a_key_is_shown_once_and_works_until_it_is_revoked(keys: ApiKeys, clock: FakeClock):
    row, text = await keys.create(NEW)
    assert text not in str(await keys.find(10))
    assert (await keys.verify(parts(text))).uid == row.uid
    assert (await keys.find(10))[0].last_used_at is not None
    assert (await keys.revoke(row.uid)).revoked_at is not None
    with pytest.raises(TokenRefused, match="key"):
        await keys.verify(parts(text))
    with pytest.raises(NotFound):
        await keys.revoke("none")


async def test_wrong_and_expired_keys_are_refused(keys: ApiKeys, clock: FakeClock):
    _, text = await keys.create(NewApiKey("shop", "bots", expires_at=clock.now() + 1000))
    with pytest.raises(TokenRefused):
        await keys.verify(ApiKeyParts(parts(text).uid, "other"))
    with pytest.raises(TokenRefused):
        await keys.verify(ApiKeyParts("none", parts(text).secret))
    await keys.verify(parts(text))
    clock.advance(1)
    with pytest.raises(TokenRefused):
        await keys.verify(parts(text))
    with pytest.raises(BadInput):
        await keys.create(NewApiKey("", "bots"))


async def test_a_key_is_accepted_in_either_header(keys: ApiKeys):
    row, text = await keys.create(NEW)
    callers = Callers(Tokens("s" * 64, lambda: 0, api_key="me:secret"), keys)
    for given in (CallerCredentials(text), CallerCredentials(api_key=text)):
        caller = await callers.admit(given, RULE)
        assert (caller.subject, caller.name, caller.kind, caller.role) == (row.uid, "shop", "key", Role.ADMIN)
    with pytest.raises(TokenRefused):
        await callers.admit(CallerCredentials("x.y.z", text), RULE)


async def test_a_key_of_another_door_or_tenant_is_refused(keys: ApiKeys):
    callers = Callers(Tokens("s" * 64, lambda: 0), keys)
    for new, why in (
        (NewApiKey("a", "intervals", Role.ADMIN), "door"),
        (NewApiKey("a", "bots", Role.ADMIN, "t"), "tenant"),
    ):
        _, text = await keys.create(new)
        with pytest.raises(NotAllowed) as denied:
            await callers.admit(CallerCredentials(text), RULE)
        assert denied.value.why == why


async def test_many_requests_with_a_key_write_its_last_use_once(keys: ApiKeys, records: Records):
    _, text = await keys.create(NEW)
    await keys.verify(parts(text))
    first = (await keys.find(1))[0].last_used_at
    await asyncio.gather(*(keys.verify(parts(text)) for _ in range(20)))
    assert (await keys.find(1))[0].last_used_at == first


async def test_a_stream_is_served_until_its_key_is_revoked(keys: ApiKeys, clock: FakeClock):
    tokens = Tokens("s" * 64, clock.now)
    callers = Callers(tokens, keys)
    row, text = await keys.create(NEW)
    given = CallerCredentials(text)
    assert await callers.still_serves(given, RULE)
    await keys.revoke(row.uid)
    assert not await callers.still_serves(given, RULE)
    assert not await callers.still_serves(given, AccessRule("bots", ADMINS, is_open=True))
    token = CallerCredentials(tokens.issue("admin", "ann", 60))
    assert await callers.still_serves(token, RULE)
    assert not await callers.still_serves(token, AccessRule("bots", frozenset({Role.MEMBER})))
    clock.advance(61)
    assert not await callers.still_serves(token, RULE)
    assert await callers.still_serves(CallerCredentials(), AccessRule("bots", ADMINS | {Role.NONE}, is_open=True))


async def test_a_stream_is_served_during_an_outage_of_the_database(keys: ApiKeys, monkeypatch: pytest.MonkeyPatch):
    _, text = await keys.create(NEW)

    async def silent(_: object) -> object:
        raise Unavailable("no answer")

    monkeypatch.setattr(keys, "verify", silent)
    assert await Callers(Tokens("s" * 64, lambda: 0), keys).still_serves(CallerCredentials(text), RULE)
