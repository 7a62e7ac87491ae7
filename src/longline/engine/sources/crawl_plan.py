"""Sources as crawls need them, from our own table or from a source manager, and the plans made of them."""

import logging
from collections.abc import Iterable
from typing import Any

import msgspec

from longline.model.duration import parse_duration
from longline.model.errors import BadInput
from longline.model.frontier import reasons
from longline.model.patterns import MAX_PATTERNS, Patterns, is_usable
from longline.model.runs.crawl_bounds import DOWNLOADS, FILES, UNBOUNDED_DEPTH, CrawlBounds
from longline.model.runs.crawl_plan import BY_NAME, CrawlPlan, FetchOptions, ParseOptions, Politeness, Proxying, Retries
from longline.model.runs.end_effect import PlannedEffect, RunEffectKind
from longline.model.runs.end_judgement import EndRules
from longline.model.sources.source import (
    DEFAULT_CONCURRENCY,
    DEFAULT_DEPTH,
    MAX_RATE_LIMIT_SECONDS,
    WARN_ABOVE_DEPTH,
    CrawlSource,
    SourceRow,
)
from longline.model.sources.source_uses import SourceUse
from longline.model.urls.url import Url, parse
from longline.plugins.parser import CONFIG_KEY, LAST_RESORT_KEY, PARSER_KEY
from longline.plugins.registry import Registry

log = logging.getLogger(__name__)


_BINARY = Patterns((FILES, DOWNLOADS))


class CrawlRules(msgspec.Struct, frozen=True):
    """The operator's rules for every run of a schedule, with any source."""

    robots: bool = True
    max_redirects: int = 5
    max_attempts: int = 3
    retry_seconds: float = 2.0
    user_agents: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    disallowed: tuple[str, ...] = ()
    readability: bool = False
    delay_ms: int = 2000
    jitter_ms: int = 1000
    max_url: int = 0

    def refuses(self, url: Url) -> bool:
        """Return whether a host lies in a domain that is not to be crawled; no allowed domain, or `*`, means any."""
        open_to_all = not self.allowed or "*" in self.allowed
        return _within(url, self.disallowed) or not (open_to_all or _within(url, self.allowed))


def _within(url: Url, domains: Iterable[str]) -> bool:
    return any(url.hostname == domain or url.hostname.endswith(f".{domain}") for domain in domains)


def as_crawled(row: SourceRow) -> CrawlSource:
    """Return a source of our table as crawls need it."""
    said: dict[str, Any] = msgspec.json.decode(row.crawl)
    said |= {PARSER_KEY: row.parser, CONFIG_KEY: msgspec.json.decode(row.config)}
    source = _source(row.public_id, row.name, row.base_url, said, row.id, enabled=row.enabled)
    return msgspec.structs.replace(
        source,
        delay_ms=row.delay_ms,
        concurrency=row.concurrency,
        user_agent=row.user_agent or "",
        proxy_pools=msgspec.json.decode(row.proxy_pools, type=tuple[str, ...]),
        is_scheduled=row.has_use(SourceUse.INTERVAL),
    )


def described(said: dict[str, Any]) -> CrawlSource:
    """Return a source as a source manager describes it."""
    name, url = str(said.get("name") or ""), str(said.get("url") or "")
    return _source(str(said.get("id") or ""), name, url, said, None, enabled=bool(said.get("enabled", True)))


def _source(
    ref: str, name: str, url: str, said: dict[str, Any], source_id: int | None, *, enabled: bool
) -> CrawlSource:
    rules = said.get("rules") or {}
    depth = said.get("max_depth")
    return CrawlSource(
        ref=ref,
        name=name,
        url=url,
        id=source_id,
        enabled=enabled,
        rate_limit=str(said.get("rate_limit") or ""),
        max_depth=depth if isinstance(depth, int) else 0,
        priority=str(said.get("priority") or "normal"),
        dynamic=said.get("render_mode") == "dynamic",
        parser=str(said.get(PARSER_KEY) or ""),
        config=config if isinstance(config := said.get(CONFIG_KEY), dict) else {},
        reading={name: said[name] for name in EXTRACTION_KEYS if said.get(name)},
        allow=_patterns(rules.get("allow")),
        disallow=_patterns(rules.get("disallow")),
        discover=said.get("allow_source_discovery") is True,
    )


EXTRACTION_KEYS = ("selectors", "article_url_patterns", "template_hint", "indigenous_region")
"""Fields of a source that are settings for the parser of its pages."""


LAST_RESORT = "article"
"""Parser of pages that only the default parser accepts, in runs of schedules and among single URLs."""


def parse_options(source: CrawlSource | None, *, readability: bool, by_name: bool = False) -> ParseOptions:
    """Return the choice of the parser for pages of a source, its config, and the settings of the source for parsers."""
    said: dict[str, Any] = {"readability": readability, LAST_RESORT_KEY: LAST_RESORT}
    if by_name:
        said[BY_NAME] = True
    if source is not None:
        said |= source.reading
        said |= {PARSER_KEY: source.parser, CONFIG_KEY: source.config} if source.parser else {}
    return ParseOptions(config=msgspec.json.encode(said, order="sorted").decode())


def check_parser(source: CrawlSource, parsers: Registry) -> None:
    """Raise `BadInput` for a source with a parser that is not loaded, or with an invalid config for its parser."""
    try:
        parsers.check(source.parser, source.config)
    except BadInput as error:
        raise BadInput(f"the source {source.name!r} cannot be parsed: {error}") from None


def is_binary(href: str) -> bool:
    """Return whether a URL is that of a file or a download, which needs no browser."""
    return _BINARY.found_in(href)


def _patterns(found: Any) -> tuple[str, ...]:
    """Return the usable patterns; the contract leaves out the others, which are logged once."""
    wanted = [str(pattern) for pattern in found] if isinstance(found, list) else []
    return tuple(pattern for pattern in wanted[:MAX_PATTERNS] if is_usable(pattern))


def plan_of(source: CrawlSource, url: str, rules: CrawlRules, parsers: Registry) -> CrawlPlan:
    """Return the plan of a schedule's run.

    Raise `BadInput` for a start page that is no URL or not allowed, and for a parser that is not loaded.
    """
    check_parser(source, parsers)
    start = parse(source.url)
    asked = parse(url)
    # A schedule for a page on another host, as made from a found link, begins there and not at the source's URL.
    first = start if set(hosts_with_and_without_www(start)) & set(hosts_with_and_without_www(asked)) else asked
    if rules.refuses(first):
        raise BadInput(f"start URL refused: {first.hostname} is a forbidden domain")
    depth = source.max_depth or DEFAULT_DEPTH
    if depth > WARN_ABOVE_DEPTH:
        log.warning("source crawl depth is above the usual limit", extra={"source": source.name, "depth": depth})
    return CrawlPlan(
        seeds=(first.href,),
        bounds=CrawlBounds(
            max_depth=UNBOUNDED_DEPTH if depth < 0 else depth - 1,
            hosts=hosts_with_and_without_www(first),
            include=source.allow,
            exclude=source.disallow,
            max_url_chars=rules.max_url,
            discover=source.discover,
        ),
        politeness=_politeness(source, rules),
        retries=Retries(rules.max_attempts, rules.retry_seconds, rules.retry_seconds, final=reasons.TIMEOUTS),
        fetch=FetchOptions(
            max_redirects=rules.max_redirects,
            content_types=parsers.content_types(source.parser),
            user_agents=(source.user_agent,) if source.user_agent else rules.user_agents,
            render=source.dynamic,
            proxying=Proxying.by_pools(source.proxy_pools),
        ),
        parse=parse_options(source, readability=rules.readability),
        end=EndRules(effects=(PlannedEffect(RunEffectKind.SOURCE_HEALTH),) if source.id is not None else ()),
        source_id=source.id,
        source_name=source.name,
    )


def _politeness(source: CrawlSource, rules: CrawlRules) -> Politeness:
    pause = pause_ms(source)
    return Politeness(
        robots=rules.robots,
        delay_ms=rules.delay_ms if pause is None else pause,
        jitter_ms=rules.jitter_ms if pause is None else pause // 2,
        concurrency=source.concurrency or DEFAULT_CONCURRENCY,
    )


def pause_ms(source: CrawlSource | None) -> int | None:
    """Return the pause of a source's rate limit, a duration or a bare number of seconds, else its delay, if any.

    A longer rate limit than a day, of another service's source, is a mistake, and may be too large for an engine.
    """
    if source is None:
        return None
    try:
        return round(min(parse_duration(source.rate_limit), MAX_RATE_LIMIT_SECONDS) * 1000)
    except ValueError:
        return source.delay_ms


def hosts_with_and_without_www(url: Url) -> tuple[str, str]:
    """Return a host without and with `www.`: one site."""
    bare = url.host.removeprefix("www.")
    return bare, f"www.{bare}"
