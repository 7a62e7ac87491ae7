"""The part of an extension's config that is about requests: rate, proxy, headers and hosts."""

from collections.abc import Mapping
from typing import Any

import msgspec

from longline.engine.stored_secrets import Vault
from longline.model.errors import BadInput
from longline.model.fetch.credentials import Credentials, Headers, parse_header
from longline.model.proxies.proxy_uri import Proxy
from longline.model.runs.crawl_bounds import UNBOUNDED_DEPTH, CrawlBounds
from longline.model.runs.crawl_plan import FetchOptions, Politeness, Proxying
from longline.model.series.series_run import DEFAULT_DELAY_MS, MAX_DELAY_MS, MAX_HOSTS
from longline.model.sources.source import SourceRow
from longline.model.urls.url import BadUrl, parse

REQUEST_KEYS = frozenset({"proxy", "headers"})
"""Keys of the config that parsers do not see: their values may be secret."""

_AGENT = "user-agent"


def check_requests(config: Mapping[str, Any]) -> None:
    """Raise `BadInput` for a config that no run can make requests with."""
    _delay_ms(config)
    _headers(config)
    _proxy(config)
    bounds((), config)


def politeness(source: SourceRow, config: Mapping[str, Any]) -> Politeness:
    """Return the pace of a run; `ratelimit` is a number of requests a second, else the source's own pause holds."""
    delay = _delay_ms(config)
    if delay is None:
        delay = DEFAULT_DELAY_MS if source.delay_ms is None else source.delay_ms
    return Politeness(delay_ms=delay, concurrency=source.concurrency or 1)


def _delay_ms(config: Mapping[str, Any]) -> int | None:
    """Return the pause between requests that `ratelimit` stands for, None without one."""
    rate = config.get("ratelimit")
    if rate is None:
        return None
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not rate > 0:
        raise BadInput("ratelimit of the config must be a number of requests a second, more than 0")
    return max(1, round(min(1000 / rate, MAX_DELAY_MS)))


def bounds(seeds: tuple[str, ...], config: Mapping[str, Any]) -> CrawlBounds:
    """Return the hosts of a run: those of its start pages, and further ones of the config, for pages on other hosts."""
    given = config.get("hosts", [])
    if not isinstance(given, list) or len(given) > MAX_HOSTS or not all(isinstance(each, str) for each in given):
        raise BadInput("hosts of the config must be a list of host names")
    try:
        further = {parse(f"https://{each}/").host for each in given}
    except BadUrl as error:
        raise BadInput(f"hosts of the config must be a list of host names: {error.reason}") from None
    hosts = {parse(url).host for url in seeds} | further
    return CrawlBounds(max_depth=UNBOUNDED_DEPTH, hosts=tuple(sorted(hosts)))


def fetch_options(source: SourceRow, config: Mapping[str, Any], vault: Vault) -> FetchOptions:
    """Return headers and proxy of a run; both may be secret, so the plan has them locked."""
    headers = _headers(config)
    agents = tuple(value for name, value in headers if name.lower() == _AGENT) or tuple(
        filter(None, (source.user_agent,))
    )
    own = tuple((name, value) for name, value in headers if name.lower() != _AGENT)
    return FetchOptions(
        user_agents=agents, credentials=vault.lock(Credentials(own).text()), proxying=_proxying(source, config, vault)
    )


def _headers(config: Mapping[str, Any]) -> Headers:
    given = config.get("headers") or {}
    if not isinstance(given, Mapping):
        raise BadInput("headers of the config must be an object of names and values")
    found = []
    for name, value in given.items():
        is_agent = name.lower() == _AGENT
        checked = parse_header(f"{'x-agent' if is_agent else name}: {value}")
        found.append((name, checked[1]) if is_agent else checked)
    return tuple(found)


def _proxying(source: SourceRow, config: Mapping[str, Any], vault: Vault) -> Proxying:
    """Return the proxy of the config, which no other source uses; without one, the pools of the source."""
    given = _proxy(config)
    if given is None:
        return Proxying.by_pools(msgspec.json.decode(source.proxy_pools, type=tuple[str, ...]))
    return Proxying(own=vault.lock(given), max_proxies=1)


def _proxy(config: Mapping[str, Any]) -> str | None:
    """Return the proxy of the config, None without one."""
    given = config.get("proxy")
    if not given:
        return None
    if not isinstance(given, str):
        raise BadInput("proxy of the config must be a URI, as in http://user:password@proxy.example:8080")
    Proxy.parse(given)
    return given.strip()
