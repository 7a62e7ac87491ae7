"""Proxies as stored and shown."""

from longline.model.proxies.proxy import NewProxy, Picked, ProxyChange, ProxyRow

NOW = 1_700_000_000_000


def proxy(**facts: object) -> ProxyRow:
    none = dict.fromkeys(ProxyRow.__struct_fields__)
    known = {"id": 1, "scheme": "http", "host": "p.example", "port": 80, "username": "", "secret": "", "active": True}
    figures = {"failure_count": 0, "success_count": 0, "total_failures": 0, "max_per_hour": 1000, "priority": 5}
    times = {"turn": 0, "created_at": 0, "updated_at": 0}
    return ProxyRow(**none | known | figures | times | facts)  # type: ignore[arg-type]


def test_no_pool_is_not_an_exhausted_one():
    assert not Picked().exhausted
    assert Picked(size=2).exhausted
    assert Picked(named=True).exhausted
    assert not Picked((proxy(),), 2).exhausted


def test_what_is_locked_is_not_even_shown_locked():
    told = f"{NewProxy('h', 1, secret='S3')!r} {proxy(secret='S3')!r} {proxy(secret='S3').__rich_repr__()}"
    told += repr(ProxyChange(secret="S3", city="Bonn"))
    assert "S3" not in told
    assert "secret" in told
