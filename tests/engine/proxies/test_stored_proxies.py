from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from longline.drivers.records import open_records
from longline.engine.proxies.stored_proxies import StoredProxies
from longline.engine.stored_secrets import Vault
from longline.model.proxies.proxy import SKIP_AFTER_FAILURES, NewProxy, ProxyRequest, ProxyUse
from longline.model.proxies.proxy_health import PROBE_INTERVAL_MS
from longline.ports.records import Records
from longline.ports.records.proxies import ProxySource
from longline.testing.clock import FakeClock

PASSWORD = "correct horse battery"


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
def ways(records: Records, vault: Vault) -> ProxySource:
    return StoredProxies(records.proxies, vault)


async def test_a_pick_without_proxies_is_empty(ways: ProxySource):
    assert await ways.pick(ProxyRequest()) == []


async def test_a_failed_proxy_is_probed_after_the_interval(
    records: Records, vault: Vault, ways: ProxySource, clock: FakeClock
):
    made = await records.proxies.add(NewProxy("p.example", 1080, secret=vault.lock(PASSWORD)))
    assert made is not None
    await ways.account([ProxyUse(made.id, None, False, 1, clock.now())] * SKIP_AFTER_FAILURES)
    assert await ways.probes() == []
    clock.advance(PROBE_INTERVAL_MS / 1000)
    (way,) = await ways.probes()
    assert (way.proxy_id, way.source_id, way.proxy.password) == (made.id, None, PASSWORD)
