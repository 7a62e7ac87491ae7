"""The part of an extension's config for requests."""

import msgspec
import pytest

from longline.engine.series.request_config import bounds, fetch_options, politeness
from longline.engine.stored_secrets import Vault
from longline.model.errors import BadInput
from longline.model.fetch.credentials import Credentials
from longline.model.sources.source import SourceRow

SOURCE = SourceRow(1, "site", "https://site.example/", "{}", True, 0, 0)
PASSWORD = "canary-0815"


@pytest.mark.parametrize(("rate", "delay"), [(2, 500), (0.5, 2000), (1000, 1), (10_000, 1), (1e-9, 86_400_000)])
def test_the_rate_is_a_number_of_requests_a_second(rate: float, delay: int):
    assert politeness(SOURCE, {"ratelimit": rate}).delay_ms == delay


@pytest.mark.parametrize("rate", [0, -1, True, "2", [1], float("nan")])
def test_another_rate_is_refused(rate: object):
    with pytest.raises(BadInput, match="ratelimit"):
        politeness(SOURCE, {"ratelimit": rate})


def test_without_a_rate_the_delay_of_the_source_is_used():
    assert politeness(SOURCE, {}).delay_ms == 1000
    slow = msgspec.structs.replace(SOURCE, delay_ms=7, concurrency=3)
    assert (politeness(slow, {}).delay_ms, politeness(slow, {}).concurrency) == (7, 3)


def test_the_proxy_and_the_headers_are_locked():
    vault = Vault("k")
    config = {
        "proxy": f"http://me:{PASSWORD}@10.0.0.1:8080",
        "headers": {"Authorization": PASSWORD, "User-Agent": "reader/1"},
    }
    found = fetch_options(SOURCE, config, vault)
    assert PASSWORD not in msgspec.json.encode(found).decode()
    assert vault.unlock(found.proxying.own) == config["proxy"]
    assert found.user_agents == ("reader/1",)
    assert Credentials.read(vault.unlock(found.credentials)).headers == (("Authorization", PASSWORD),)


def test_without_a_proxy_the_pools_of_the_source_are_used():
    pooled = msgspec.structs.replace(SOURCE, proxy_pools='["a","b"]', user_agent="own/1")
    found = fetch_options(pooled, {}, Vault("k"))
    assert (found.proxying.pool, found.proxying.fallbacks, found.proxying.own) == ("a", ("b",), "")
    assert (found.user_agents, found.credentials) == (("own/1",), "")


@pytest.mark.parametrize(
    "config",
    [
        {"proxy": f"me:{PASSWORD}@10.0.0.1:8080"},
        {"proxy": f"ftp://me:{PASSWORD}@10.0.0.1:8080"},
        {"proxy": f"http://me:{PASSWORD}@10.0.0.1:99999"},
        {"proxy": {"password": PASSWORD}},
        {"headers": [PASSWORD]},
        {"headers": {"Host": PASSWORD}},
        {"headers": {"X": f"a\n{PASSWORD}"}},
        {"headers": {"a b": PASSWORD}},
    ],
)
def test_an_invalid_config_is_refused_without_its_secret(config: dict[str, object]):
    with pytest.raises(BadInput) as refused:
        fetch_options(SOURCE, config, Vault("k"))
    assert PASSWORD not in str(refused.value)


def test_hosts_of_the_config_are_within_the_bounds():
    assert bounds(("https://a.example/x",), {"hosts": ["cdn.example", "img.example:8443"]}).hosts == (
        "a.example",
        "cdn.example",
        "img.example:8443",
    )
    for wrong in ("cdn.example", [1], ["a b"], ["x"] * 101):
        with pytest.raises(BadInput, match="hosts"):
            bounds(("https://a.example/",), {"hosts": wrong})
