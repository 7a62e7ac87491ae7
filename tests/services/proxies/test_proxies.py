import base64
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import msgspec
import pytest

from longline.drivers.records import open_records
from longline.engine.proxies.stored_proxies import StoredProxies
from longline.engine.stored_secrets import Vault
from longline.model.errors import BadInput, NotFound, Unavailable
from longline.model.proxies.proxy import NoProxies, ProxyFilter, ProxyRequest, ProxyUse
from longline.model.proxies.proxy_uri import Proxy
from longline.model.sources.source import NewSource
from longline.ports.records import Records
from longline.ports.records.proxies import ProxySource
from longline.services.proxies.proxies import MAX_LIST_SIZE, DuplicateProxy, Proxies
from longline.testing.clock import FakeClock

PASSWORD = "correct horse battery"
PROXY = Proxy("socks5", "P.example", 1080, "ann", PASSWORD)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def records(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Records]:
    opened = await open_records(f"sqlite:///{tmp_path}/longline.db", clock)
    await opened.schema.migrate()
    yield opened
    await opened.schema.close()


@pytest.fixture(scope="module")
def vault() -> Vault:
    return Vault("a key")


@pytest.fixture
def proxies(records: Records, vault: Vault) -> Proxies:
    return Proxies(records.proxies, vault)


@pytest.fixture
def ways(records: Records, vault: Vault) -> ProxySource:
    return StoredProxies(records.proxies, vault)


async def source(records: Records) -> int:
    return (await records.sources.add(NewSource("news", "https://news.example/"))).id


async def test_a_password_is_in_no_output(proxies: Proxies, ways: ProxySource, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.DEBUG):
        shown = await proxies.add(PROXY)
        shown2 = await proxies.update(shown.id, password=PASSWORD + "2")
        (way,) = await ways.pick(ProxyRequest())
    assert way.proxy.password == PASSWORD + "2"
    told = f"{shown!r} {shown2!r} {msgspec.json.encode(shown2)!r} {way!r} {proxies!r} {caplog.text}"
    assert PASSWORD not in told
    assert shown2.has_password


def files_of(folder: Path) -> str:
    return "".join(path.read_bytes().decode(errors="replace") for path in sorted(folder.iterdir()))


async def dump(url: str) -> str:
    """Return all stored proxies as text, as a copy of the database has them."""
    if url.startswith("sqlite"):
        return files_of(Path(url.removeprefix("sqlite:///")).parent)
    server = await asyncpg.connect(url)
    try:
        return "\n".join(row[0] for row in await server.fetch("SELECT p::text FROM proxies p"))
    finally:
        await server.close()


async def test_a_copy_of_the_database_has_no_password(migrated_url: str, clock: FakeClock, vault: Vault):
    opened = await open_records(migrated_url, clock)
    await opened.schema.migrate()
    service = Proxies(opened.proxies, vault)
    made = await service.add(PROXY)
    await service.update(made.id, password=PASSWORD + "2")
    stolen = await dump(migrated_url)
    await opened.schema.close()
    assert "p.example" in stolen
    assert PASSWORD not in stolen
    assert base64.b64encode(PASSWORD.encode()).decode().rstrip("=") not in stolen


async def test_a_password_can_be_removed_and_needs_its_key(proxies: Proxies, records: Records):
    shown = await proxies.add(PROXY)
    with pytest.raises(Unavailable, match="another key"):
        await StoredProxies(records.proxies, Vault("b key")).pick(ProxyRequest())
    assert not (await proxies.update(shown.id, password="")).has_password
    (way,) = await StoredProxies(records.proxies, Vault("b key")).pick(ProxyRequest())
    assert (way.proxy.username, way.proxy.password) == ("ann", "")


async def test_a_proxy_is_shown_with_its_figures(proxies: Proxies, ways: ProxySource, clock: FakeClock):
    made = await proxies.add(PROXY, country="de", city="Bonn", provider="acme", monthly_cost=1250, max_per_hour=5)
    assert made.scheme == "socks5"
    assert made.host == "p.example"
    assert made.port == 1080
    assert made.username == "ann"
    assert made.country == "DE"
    assert (made.monthly_cost, made.max_per_hour, made.success_rate) == (1250, 5, 0)
    await ways.account([ProxyUse(made.id, None, ok, 50, clock.now()) for ok in (True, True, False)])
    shown = await proxies.get(made.id)
    assert (shown.success_count, shown.failure_count, shown.total_failures, shown.success_rate) == (2, 1, 1, 66.67)
    assert await proxies.find(ProxyFilter(country="DE", provider="acme", active=True)) == [shown]
    assert await proxies.find(ProxyFilter(active=False)) == []
    assert await proxies.find(offset=1) == []


async def test_lists_are_bounded(proxies: Proxies, records: Records, monkeypatch: pytest.MonkeyPatch):
    asked: list[int] = []
    find = records.proxies.find

    async def spy(wanted: ProxyFilter | None, **page: int) -> list[object]:
        asked.append(page["limit"])
        return list(await find(wanted, **page))

    monkeypatch.setattr(records.proxies, "find", spy)
    for limit in (10**9, -1):
        await proxies.find(limit=limit, offset=-5)
    assert asked == [MAX_LIST_SIZE, 0]


async def test_scheme_host_port_and_username_are_unique(proxies: Proxies):
    await proxies.add(PROXY)
    with pytest.raises(DuplicateProxy, match=r"p\.example:1080"):
        await proxies.add(Proxy(PROXY.scheme, "p.EXAMPLE", 1080, PROXY.username))
    await proxies.add(Proxy("http", "p.EXAMPLE", 1080))


@pytest.mark.parametrize(
    "facts",
    [{"country": "GER"}, {"country": "4x"}, {"max_per_hour": -1}, {"max_per_hour": "9"}, {"secret": "x"}, {"turn": 3}],
)
async def test_invalid_fields_are_refused(proxies: Proxies, facts: dict[str, Any]):
    with pytest.raises(BadInput):
        await proxies.add(PROXY, **facts)
    assert await proxies.find() == []
    made = await proxies.add(PROXY)
    with pytest.raises(BadInput):
        await proxies.update(made.id, **facts)
    assert await proxies.get(made.id) == made


async def test_a_proxy_that_resolves_names_itself_is_refused(proxies: Proxies):
    with pytest.raises(BadInput, match="socks5h"):
        await proxies.add(Proxy("socks5h", "p.example", 1080))


async def test_a_person_disables_and_enables_a_proxy(proxies: Proxies, ways: ProxySource, clock: FakeClock):
    made = await proxies.add(PROXY)
    off = await proxies.disable(made.id)
    assert (off.active, off.disabled_reason) == (False, "manual")
    await ways.account([ProxyUse(made.id, None, True, 1, clock.now())])
    assert not (await proxies.get(made.id)).active
    with pytest.raises(NoProxies, match="none of 1"):
        await ways.pick(ProxyRequest())
    assert (await proxies.enable(made.id)).active
    assert len(await ways.pick(ProxyRequest())) == 1


async def test_an_unknown_proxy_is_not_found(proxies: Proxies, records: Records):
    made = await proxies.add(PROXY)
    await proxies.remove(made.id)
    here = await source(records)
    for asked in (
        proxies.get(made.id),
        proxies.update(made.id, city="Bonn"),
        proxies.enable(made.id),
        proxies.disable(made.id),
        proxies.remove(made.id),
        proxies.assign(here, [made.id]),
        proxies.unassign(here, made.id),
        proxies.switch(here, made.id, True),
    ):
        with pytest.raises(NotFound, match=str(made.id)):
            await asked


async def test_a_source_with_proxies_of_its_own(
    proxies: Proxies, ways: ProxySource, records: Records, clock: FakeClock
):
    one, two = await proxies.add(PROXY), await proxies.add(Proxy("http", "q.example", 80))
    here = await source(records)
    (way,) = await ways.pick(ProxyRequest(source_id=here))
    assert way.source_id is None, "a proxy of all sources has no figures of the source"
    with pytest.raises(BadInput, match="no proxy"):
        await proxies.assign(here, [])
    assert await proxies.assign(here, [two.id]) == 1
    (way,) = await ways.pick(ProxyRequest(source_id=here))
    assert (way.proxy_id, way.source_id, way.proxy) == (two.id, here, Proxy("http", "q.example", 80))
    await ways.account([ProxyUse(way.proxy_id, way.source_id, True, 9, clock.now())])
    assert [m.success_count for m in await proxies.mappings(here)] == [1]
    assert not (await proxies.switch(here, two.id, False)).active
    with pytest.raises(NoProxies):
        await ways.pick(ProxyRequest(source_id=here))
    await proxies.unassign(here, two.id)
    assert await proxies.mappings(here) == []
    assert {w.proxy_id for w in await ways.pick(ProxyRequest(source_id=here, wanted=2))} == {one.id, two.id}


async def test_proxies_of_the_settings_are_registered_once_and_updated(proxies: Proxies, ways: ProxySource):
    await proxies.ensure(["socks5://ann:one@192.0.2.1:1080", "http://192.0.2.2:8080"])
    first = await proxies.find()
    await proxies.ensure(["socks5://ann:one@192.0.2.1:1080", "http://192.0.2.2:8080"])
    assert await proxies.find() == first
    await proxies.ensure(["socks5://ann:two@192.0.2.1:1080", "https://bob:x@192.0.2.2:8080"])
    picked = [way.proxy for way in await ways.pick(ProxyRequest(wanted=2))]
    assert {(p.scheme, p.username, p.password) for p in picked} == {("socks5", "ann", "two"), ("https", "bob", "x")}
    await proxies.ensure(["https://bob:x@192.0.2.2:8080", "https://eve:y@192.0.2.2:8080"])
    assert sorted(view.username for view in await proxies.find()) == ["ann", "bob", "eve"]
