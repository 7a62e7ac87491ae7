from ipaddress import ip_address

import pytest

from longline.engine.lifecycle.politeness_key import PolitenessKey
from longline.model.frontier.task import NewTask
from longline.model.urls.url import parse
from longline.ports.http import FetchFailed
from longline.ports.records.frontier.frontier import HostSetting

ADDRESSES = {"a.example": "203.0.113.5", "b.example": "203.0.113.5", "c.example": "2001:db8::1"}


async def resolve(hostname: str):
    if hostname not in ADDRESSES:
        raise FetchFailed("dns", "no such name")
    return (ip_address(ADDRESSES[hostname]), ip_address("203.0.113.99"))


@pytest.mark.parametrize(
    ("by", "url", "key"),
    [
        ("host", "https://www.a.example/x", "www.a.example"),
        ("host", "http://a.example:8080/", "a.example:8080"),
        ("domain", "https://www.a.example/x", "a.example"),
        ("domain", "https://deep.down.shop.co.uk:8443/", "shop.co.uk"),
        ("domain", "https://co.uk/", "co.uk"),
        ("domain", "https://someone.github.io/", "someone.github.io"),
        ("domain", "http://203.0.113.5:81/", "203.0.113.5"),
        ("domain", "http://[2001:db8::1]:81/", "[2001:db8::1]"),
        ("domain", "http://localhost:81/", "localhost"),
        ("address", "https://a.example/", "203.0.113.5"),
        ("address", "http://b.example:8080/", "203.0.113.5"),
        ("address", "http://c.example/", "2001:db8::1"),
        ("address", "http://unknown.example/", "unknown.example"),
    ],
)
async def test_the_politeness_key_of_a_url(by, url, key):
    assert await PolitenessKey(by, resolve).key(parse(url)) == key


async def test_tasks_and_hosts_are_placed_under_their_keys():
    urls = ["https://www.a.example/1", "https://img.a.example/2", "https://b.example/3"]
    tasks = [NewTask(u, parse(u).host, b"k", 1, 1) for u in urls]
    hosts = [HostSetting(t.host, 100 + n, 1) for n, t in enumerate(tasks)]
    placed, settings = await PolitenessKey("domain").place(tasks, hosts)
    assert [(t.url, t.host) for t in placed] == list(zip(urls, ["a.example", "a.example", "b.example"], strict=True))
    assert sorted(settings) == [HostSetting("a.example", 100, 1), HostSetting("b.example", 102, 1)]


async def test_with_the_key_host_nothing_is_changed():
    tasks, hosts = [NewTask("https://www.a.example/1", "www.a.example", b"k", 1, 1)], [HostSetting("x", 1, 1)]
    placed, settings = await PolitenessKey().place(tasks, hosts)
    assert placed is tasks
    assert settings is hosts


@pytest.mark.parametrize(("by", "covered"), [("host", False), ("domain", True)])
async def test_a_lease_of_a_domain_covers_its_hosts(by, covered):
    assert await PolitenessKey(by).covers("a.example", "https://www.a.example/") is covered
    assert await PolitenessKey(by).covers("a.example", "https://a.example/x") is True
    assert await PolitenessKey(by).covers("a.example", "https://other.example/") is False
