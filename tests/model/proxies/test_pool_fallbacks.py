"""The choice of proxies."""

import pytest

from longline.model.errors import BadInput
from longline.model.proxies.pool_fallbacks import pools_in_order, proxies_from, tiers
from longline.model.proxies.proxy import Pool, ProxyRequest


def names(name: str, *pools: Pool) -> list[str]:
    return [pool.name for pool in tiers(name, pools)]


def test_pools_are_followed_depth_first_and_each_comes_once():
    pools = [Pool("a", (), ("b", "c")), Pool("b", (), ("d",)), Pool("c", (), ("d", "e")), Pool("d"), Pool("e")]
    assert names("a", *pools) == ["a", "b", "d", "c", "e"]
    assert names("c", *pools) == ["c", "d", "e"]


@pytest.mark.parametrize(
    ("pools", "said"),
    [
        ([Pool("b")], "no proxy pool named 'a'"),
        ([Pool("a", (), ("x",))], "named 'x', which a falls back on"),
        ([Pool("a", (), ("a",))], "a → a"),
        ([Pool("a", (), ("b",)), Pool("b", (), ("c",)), Pool("c", (), ("b",))], "b → c → b"),
    ],
)
def test_unknown_names_and_cycles_are_refused(pools: list[Pool], said: str):
    with pytest.raises(BadInput, match=said):
        tiers("a", pools)


def test_a_source_with_proxies_of_its_own_never_falls_back():
    assert proxies_from(ProxyRequest(source_id=1, pool="a"), has_own=True) == "own"
    assert proxies_from(ProxyRequest(source_id=1, pool="a"), has_own=False) == "pools"
    assert proxies_from(ProxyRequest(source_id=1), has_own=False) == "all"


def test_the_fallbacks_of_a_request_follow_those_of_its_pool():
    pools = [Pool("a", fallbacks=("b",)), Pool("b"), Pool("c", fallbacks=("b",))]
    assert [pool.name for pool in pools_in_order(ProxyRequest(pool="a", fallbacks=("c",)), pools)] == ["a", "b", "c"]
