import pytest

from longline.model.errors import BadInput, NotFound
from longline.model.proxies.proxy import NewProxy, Pool
from longline.ports.records import Records
from longline.services.proxies.pools import Pools
from tests.services.proxies.test_proxies import clock, records

__all__ = ["clock", "records"]  # fixtures


@pytest.fixture
async def pools(records: Records) -> Pools:
    for port in (1, 2, 3):
        await records.proxies.add(NewProxy("192.0.2.1", port))
    return Pools(records.pools)


async def test_a_pool_is_made_changed_and_deleted(pools: Pools):
    assert await pools.put("spare", [3]) == Pool("spare", (3,))
    assert await pools.put("main", [2, 1, 2], ["spare", "spare"]) == Pool("main", (2, 1), ("spare",))
    await pools.put("spare", [3, 1])
    assert await pools.find() == [Pool("main", (2, 1), ("spare",)), Pool("spare", (3, 1))]
    await pools.drop("main")
    assert [pool.name for pool in await pools.find()] == ["spare"]


async def test_an_invalid_pool_is_refused(pools: Pools):
    await pools.put("a", [1])
    await pools.put("b", [2], ["a"])
    with pytest.raises(BadInput, match="ring"):
        await pools.put("a", [1], ["b"])
    with pytest.raises(BadInput, match="needs a name"):
        await pools.put(" ", [1])
    with pytest.raises(BadInput, match="no proxy pool"):
        await pools.put("c", [1], ["nowhere"])
    with pytest.raises(NotFound, match="99"):
        await pools.put("c", [99])
    with pytest.raises(NotFound, match="nowhere"):
        await pools.drop("nowhere")
    assert await pools.find() == [Pool("a", (1,)), Pool("b", (2,), ("a",))]
