"""References between tables must exist, and proxy pools must not form a cycle."""

import pytest

from longline.model.errors import BadInput
from longline.settings.tables import Tables
from longline.settings.tables.job_types import JobProxyTable, JobTypeTable
from longline.settings.tables.proxy_pools import ProxyPoolTable, ProxyTable
from longline.settings.tables.table_checks import check_tables


def pools(**follow: str) -> Tables:
    return Tables(proxy=ProxyTable(pools={name: ProxyPoolTable(fallbacks=tuple(to)) for name, to in follow.items()}))


def test_pools_may_share_a_fallback_and_be_many():
    check_tables(pools(a="bc", b="d", c="d", d=""), {})
    long = {f"p{i}": ProxyPoolTable(fallbacks=(f"p{i + 1}",)) for i in range(5000)} | {"p5000": ProxyPoolTable()}
    check_tables(Tables(proxy=ProxyTable(pools=long)), {})


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (pools(a="a"), "proxy pools follow each other in a circle: a -> a"),
        (pools(a="b", b="c", c="a"), "proxy pools follow each other in a circle: a -> b -> c -> a"),
        (pools(z="", a="bz", b="a"), "proxy pools follow each other in a circle: a -> b -> a"),
        (pools(a="x"), 'proxy.pools.a.fallbacks names the proxy pool "x"; configured are: a'),
        (
            Tables(job_types={"i": JobTypeTable(proxy=JobProxyTable(primary="x"))}),
            'job_types.i.proxy.primary names the proxy pool "x"; configured are: none',
        ),
        (
            Tables(job_types={"i": JobTypeTable(proxy=JobProxyTable(fallbacks=("x",)))}),
            'job_types.i.proxy.fallbacks names the proxy pool "x"; configured are: none',
        ),
    ],
)
def test_contradictory_tables_are_refused(tables: Tables, message: str):
    origins = {"proxy.pools.a.fallbacks": "my.toml", "job_types.i.proxy.primary": "my.toml"}
    with pytest.raises(BadInput) as raised:
        check_tables(tables, origins)
    assert str(raised.value).split(": ", 1)[1] == message
