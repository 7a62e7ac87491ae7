"""Pools of the settings, registered by every process at its start."""

import asyncio

from longline.engine.stored_secrets import Vault
from longline.model.proxies.proxy import Pool
from longline.ports.records import Records
from longline.services.proxies.configured_pools import UNLIMITED, ConfiguredPool, ConfiguredPools
from longline.services.proxies.proxies import Proxies
from tests.services.proxies.test_proxies import clock, records

__all__ = ["clock", "records"]  # fixtures

WANTED = [ConfiguredPool("a", tuple(f"http://me:pw@192.0.2.1:{port}" for port in range(1, 6)))]


async def test_processes_that_start_together_register_the_same_proxies(records: Records):
    proxies = Proxies(records.proxies, Vault("a key for tests"))
    together = [ConfiguredPools(proxies, records.pools) for _ in range(4)]
    await asyncio.gather(*(one.register(WANTED) for one in together))
    found = await proxies.find(limit=100)
    assert sorted(one.port for one in found) == [1, 2, 3, 4, 5]
    assert {one.max_per_hour for one in found} == {UNLIMITED}
    [pool] = await records.pools.find()
    assert pool == Pool("a", tuple(one.id for one in sorted(found, key=lambda one: one.port)))
