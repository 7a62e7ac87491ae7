"""Options of a crawl: an option that is not given keeps the value of the crawl's earlier command."""

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from longline.engine.sources.crawl_plan import hosts_with_and_without_www
from longline.model.fetch.credentials import Credentials
from longline.model.runs.crawl_plan import SITEMAPS, CrawlPlan, ParseOptions
from longline.model.urls.url import parse
from longline.plugins.parser import CONFIG_KEY, PARSER_KEY

LIMIT, OFFSITE, HEADERS, COOKIES = "limit", "offsite", "headers", "cookies"
PARSER, PARSER_CONFIG = "parser", "parser_config"

FIELDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "depth": ("bounds", "max_depth"),
        "include": ("bounds", "include"),
        "exclude": ("bounds", "exclude"),
        "sitemap": ("bounds", "sitemap_only"),
        "respect_robots": ("politeness", "robots"),
        "delay": ("politeness", "delay_ms"),
        "host_concurrency": ("politeness", "concurrency"),
        "max_retries": ("retries", "max_attempts"),
        "user_agent": ("fetch", "user_agents"),
        "render_url": ("fetch", "render"),
        "parsers": ("parse", "files"),
    }
)
"""Part and field of the plan for each option that replaces one field."""

ALL_OPTIONS = frozenset({*FIELDS, LIMIT, OFFSITE, HEADERS, COOKIES, PARSER, PARSER_CONFIG})
"""Every option: a request that gives all of them keeps nothing of an earlier crawl but its seeds."""


class CrawlRequest(msgspec.Struct, frozen=True):
    """A request for a crawl. `again` starts anew where the last run from this seed has ended.

    `given` names the options of this command; for all others the plan of the earlier run from this seed holds, if there
    is one. `credentials` has the given headers and cookies in clear; the plan that is stored has them locked.
    """

    plan: CrawlPlan
    limit: int | None = None
    again: bool = False
    given: frozenset[str] = frozenset()
    credentials: Credentials = Credentials()


def revise(stored: CrawlPlan, request: CrawlRequest) -> CrawlPlan:
    """Return the plan of an earlier command with the given options and the new seeds of this one."""
    asked, given = request.plan, request.given
    changes: dict[str, dict[str, object]] = {}
    for option in given & FIELDS.keys():
        part, field = FIELDS[option]
        changes.setdefault(part, {})[field] = getattr(getattr(asked, part), field)
    seeds = tuple(dict.fromkeys((*stored.seeds, *(parse(url).href for url in asked.seeds))))
    changes.setdefault("bounds", {})["hosts"] = _hosts(stored, request, seeds)
    parts = {name: msgspec.structs.replace(getattr(stored, name), **fields) for name, fields in changes.items()}
    revised = msgspec.structs.replace(stored, seeds=seeds, **parts)
    return msgspec.structs.replace(revised, parse=_parse_options(revised, request))


def _hosts(stored: CrawlPlan, request: CrawlRequest, seeds: tuple[str, ...]) -> tuple[str, ...]:
    if OFFSITE in request.given:
        return site_hosts(seeds) if request.plan.bounds.hosts else ()
    # A crawl that follows links to other hosts has no hosts.
    return tuple(dict.fromkeys((*stored.bounds.hosts, *site_hosts(seeds)))) if stored.bounds.hosts else ()


def _parse_options(plan: CrawlPlan, request: CrawlRequest) -> ParseOptions:
    config = dict(plan.config)
    for option, key in ((PARSER, PARSER_KEY), (PARSER_CONFIG, CONFIG_KEY)):
        if option in request.given:
            config.pop(key, None)
            if chosen := request.plan.config.get(key):
                config[key] = chosen
    config.pop(SITEMAPS, None)
    if plan.bounds.sitemap_only:
        config[SITEMAPS] = True
    return msgspec.structs.replace(plan.parse, config=msgspec.json.encode(config, order="sorted").decode())


def revise_credentials(stored: Credentials, request: CrawlRequest) -> Credentials:
    """Return the headers and cookies of an earlier command, each replaced if this one gives any."""
    given = request.credentials
    return Credentials(
        given.headers if HEADERS in request.given else stored.headers,
        given.cookies if COOKIES in request.given else stored.cookies,
    )


def site_hosts(seeds: tuple[str, ...]) -> tuple[str, ...]:
    """Return the hosts of the seeds; a name without `www.` and with it are one site."""
    hosts: dict[str, None] = {}
    for url in map(parse, seeds):
        hosts[url.host] = None
        named = not url.hostname.endswith("]") and not url.hostname.rpartition(".")[2].isdigit()
        if named and "." in url.hostname:
            hosts.update(dict.fromkeys(hosts_with_and_without_www(url)))
    return tuple(hosts)
