"""Every setting there is: one typed, frozen object. The sentence beside a key is its documentation."""

import ipaddress
from typing import Annotated, Any, get_type_hints

import msgspec

from longline import __version__
from longline.settings.premises import STORE, Premises
from longline.settings.values import (
    FILES,
    NETWORKS,
    PAUSE,
    PROXIES,
    SIZE,
    SPAN,
    SWITCH,
    TEXT,
    WORDS,
    Key,
    among,
    mask,
    url,
    whole,
)

TLS = among("1.0", "1.1", "1.2", "1.3", highest="1.3")
"""Versions of TLS."""

_AGENT = "longline/" + ".".join(__version__.split(".")[:2])


class Settings(Premises, frozen=True, kw_only=True):
    """The operator's settings, each with a default. Durations are seconds, sizes are bytes."""

    workers: Annotated[int, Key(whole(1, 256), "Worker processes that `longline up` runs.")] = 1
    concurrency: Annotated[int, Key(whole(1, 10_000), "Fetches at once in each worker.")] = 64
    lease: Annotated[float, Key(SPAN, "How long a worker may hold a host without a sign of life.")] = 30.0
    reap: Annotated[float, Key(SPAN, "How often leases that lapsed are looked for.")] = 5.0
    claim_pause: Annotated[float, Key(SPAN, "How long a worker that found nothing waits before it looks again.")] = 0.5
    feeds: Annotated[bool, Key(SWITCH, "Poll the feeds of sources, and fetch what is new in them.")] = False
    frontier: Annotated[bool, Key(SWITCH, "Fetch the URLs of the frontier; off, they wait until it is on.")] = True
    frontier_links: Annotated[
        bool, Key(SWITCH, "Give every link that a run of a schedule finds on its site to the frontier as well.")
    ] = False
    frontier_attempts: Annotated[int, Key(whole(1, 100), "How often a URL of the frontier is tried in all.")] = 3
    frontier_redirects: Annotated[
        int, Key(whole(0, 100), "Redirects that are followed from a URL of the frontier.")
    ] = 5
    sitemaps: Annotated[
        bool, Key(SWITCH, "Read the sitemaps of sources every six hours, and fetch what changed lately.")
    ] = False
    feed_poll: Annotated[float, Key(SPAN, "How often feeds that have come due are looked for.")] = 5.0
    feed_discovery: Annotated[bool, Key(SWITCH, "Search the feeds of sources that name none.")] = False
    feed_search: Annotated[float, Key(SPAN, "How often sources whose feed is to be searched are looked for.")] = 5.0
    feed_search_again: Annotated[
        float, Key(SPAN, "How long a source is left alone after a search that found no feed.")
    ] = 604800.0
    parsers: Annotated[
        tuple[str, ...], Key(FILES, "Python files with parsers of one's own; the closest match parses a page.")
    ] = ()
    parser: Annotated[str, Key(TEXT, "Parser for every page of a crawl, by name; unless set, the closest match.")] = ""
    parse_processes: Annotated[
        int,
        Key(whole(0, 256), "Processes for parsers that take long, started when needed; 0 parses beside the fetches."),
    ] = 2
    parse_timeout: Annotated[float, Key(SPAN, "How long one page may be parsed in such a process.")] = 30.0
    parse_memory: Annotated[
        int, Key(SIZE, "Memory that such a process may write to; a page that needs more fails. 0 is no bound.")
    ] = 1024 * 1024 * 1024
    max_links: Annotated[
        int, Key(whole(1, 1_000_000), "Links of one page that are followed; the rest is counted as `too_many_links`.")
    ] = 10_000
    readability: Annotated[
        bool, Key(SWITCH, "Let a library look for the text of a page where the selectors of its source find little.")
    ] = False
    scheduler: Annotated[bool, Key(SWITCH, "Fire schedules when they come due.")] = True
    max_runs: Annotated[int, Key(whole(1, 10_000), "Runs of schedules at once that one process starts.")] = 100
    poll: Annotated[float, Key(SPAN, "How often schedules that have come due are looked for.")] = 10.0
    schedule_lease: Annotated[
        float, Key(SPAN, "How long a schedule stays held by a process that shows no sign of life.")
    ] = 300.0
    run_timeout: Annotated[float, Key(SPAN, "How long one run of a schedule may take.")] = 3600.0
    rhythms: Annotated[
        str,
        Key(
            among("redis", "database"),
            "Where it is kept how often sources change; in redis without a Redis, intervals do not follow it.",
        ),
    ] = "redis"

    cleanup: Annotated[float, Key(SPAN, "How often old runs of schedules are forgotten.")] = 86400.0
    max_requests: Annotated[int, Key(whole(0), "URLs that one run of a schedule may fetch; 0 for no limit.")] = 0
    max_url: Annotated[
        int, Key(whole(0), "Longest URL that a run of a schedule takes, in characters; 0 for any that can be a URL.")
    ] = 0
    max_redirects: Annotated[int, Key(whole(0, 100), "Redirects that a run of a schedule follows from one URL.")] = 5
    page_retries: Annotated[
        int,
        Key(
            whole(0, 100),
            "How often a run of a schedule tries a page again after a failure, but never after a timeout.",
        ),
    ] = 2
    page_retry_delay: Annotated[float, Key(SPAN, "Pause before a run of a schedule tries a page again.")] = 2.0
    vary_user_agent: Annotated[
        bool, Key(SWITCH, "Let runs of schedules call themselves by the names of browsers, in turn.")
    ] = False
    allowed_domains: Annotated[
        tuple[str, ...], Key(WORDS, "Domains that schedules may crawl; unless set, or with *, any.")
    ] = ()
    disallowed_domains: Annotated[tuple[str, ...], Key(WORDS, "Domains that schedules may not crawl.")] = ()
    sources_url: Annotated[
        str, Key(url("http", "https"), "Source list of another service to crawl by; unless set, our own sources.")
    ] = ""
    sources_every: Annotated[float, Key(SPAN, "How often that list is read.")] = 60.0

    user_agent: Annotated[
        str, Key(TEXT, "What every request calls itself, and whom robots.txt rules are read for.")
    ] = _AGENT
    referer: Annotated[
        bool, Key(SWITCH, "Say with a request which page its link was found on; other sites are told the origin only.")
    ] = True
    respect_robots: Annotated[bool, Key(SWITCH, "Keep to robots.txt; leave on for sites that are not yours.")] = True
    politeness: Annotated[
        str,
        Key(among("host", "domain", "address"), "What pauses and limits are for: each host, domain or machine."),
    ] = "host"
    delay: Annotated[float, Key(PAUSE, "Pause between two requests to one host.")] = 1.0
    schedule_delay: Annotated[
        float,
        Key(PAUSE, "That pause in runs of schedules whose source names no rate limit."),
    ] = 2.0
    random_delay: Annotated[
        float,
        Key(PAUSE, "Most that is added to the pause, at random, where the source of a schedule names no rate limit."),
    ] = 1.0
    host_concurrency: Annotated[int, Key(whole(1, 1000), "Requests at once to one host.")] = 1
    request_timeout: Annotated[float, Key(SPAN, "How long one request may take from first to last byte.")] = 30.0
    connect_timeout: Annotated[float, Key(SPAN, "How long a connection may take to stand.")] = 10.0
    idle_timeout: Annotated[float, Key(SPAN, "How long a server may say nothing while it answers.")] = 15.0
    max_body: Annotated[int, Key(SIZE, "Largest body that is read; KB, MB and GB count in steps of 1024.")] = 10485760
    max_retries: Annotated[
        int, Key(whole(0, 100), "How often `crawl` tries a page again after a failure that may pass.")
    ] = 3
    egress_allow: Annotated[
        tuple[str, ...],
        Key(NETWORKS, "Networks that pages may be fetched from although their addresses are not public."),
    ] = ()
    proxies: Annotated[
        tuple[str, ...],
        Key(
            PROXIES, "Proxies that requests leave by, in turn; more, and pools of them, can be registered.", secret=True
        ),
    ] = ()
    proxy_sticky: Annotated[
        float, Key(PAUSE, "How long a host is asked by the same proxy; 0 gives every request the next one.")
    ] = 0.0
    probe_url: Annotated[
        str, Key(url("http", "https"), "Page by which a proxy that failed shows whether it works again.")
    ] = "https://example.com/"
    ca_file: Annotated[
        str, Key(TEXT, "PEM file of further issuers of certificates to believe, besides the well-known ones.")
    ] = ""

    tls_verify: Annotated[bool, Key(SWITCH, "Believe sites only by a certificate; off for trials alone.")] = True
    tls_min: Annotated[str, Key(TLS, "Oldest version of TLS that is spoken to sites.")] = "1.2"
    tls_max: Annotated[str, Key(TLS, "Newest version of TLS that is spoken to sites.")] = "1.3"
    render_url: Annotated[
        str, Key(url("http", "https"), "Service that renders the pages of sources that ask for it; unless set, none.")
    ] = ""

    bot_auth: Annotated[
        str,
        Key(
            among("auto", "optional", "required"),
            "Whether bots must be registered and bring a token; auto asks for it beyond loopback only.",
        ),
    ] = "auto"
    bot_reclaim: Annotated[
        bool, Key(SWITCH, "Hand out tasks again that a bot held for too long, without waiting for a person.")
    ] = True
    bot_domain_match: Annotated[
        str,
        Key(among("contains", "suffix"), "Which hosts a bot means by a domain: those that contain it, or end in it."),
    ] = "contains"

    log_level: Annotated[
        str,
        Key(among("debug", "info", "warning", "error", warn="warning", fatal="error"), "Least severe log line shown."),
    ] = "info"
    log_format: Annotated[
        str,
        Key(
            among("auto", "json", "text", console="text"),
            "Form of log lines; auto is text on a terminal and JSON elsewhere.",
        ),
    ] = "auto"

    log_outputs: Annotated[
        tuple[str, ...], Key(WORDS, "Where log lines of a service go: stdout, stderr, or files that they are added to.")
    ] = ("stderr",)

    run_logs: Annotated[bool, Key(SWITCH, "Write down what runs say.")] = True
    run_log_streams: Annotated[bool, Key(SWITCH, "Let clients follow logs of runs while they are written.")] = True
    run_log_archive: Annotated[bool, Key(SWITCH, "Keep the log of a run that ended as an object.")] = True
    run_log_verbosity: Annotated[
        str,
        Key(among("quiet", "normal", "debug", "trace"), "How much runs say; quiet is warnings, errors and lifecycle."),
    ] = "normal"
    run_log_level: Annotated[
        str,
        Key(
            among("auto", "debug", "info", "warn", "error", warning="warn"),
            "Least severe entry of a run's log; auto is what the verbosity says.",
        ),
    ] = "auto"
    run_log_rate: Annotated[
        int, Key(whole(0), "Debug entries a second that each run may write in each process; 0 is no bound.")
    ] = 0
    run_log_buffer: Annotated[
        int,
        Key(whole(1, 50_000), "Newest entries that whoever follows anew is given at most, and never more than 200."),
    ] = 1000
    run_log_milestone: Annotated[int, Key(whole(1), "Pages after which a run says how far it is.")] = 50
    run_log_ttl: Annotated[
        float, Key(SPAN, "How long entries stay in the database once they are archived; streams replay from there.")
    ] = 86400.0
    run_log_retention: Annotated[float, Key(SPAN, "How long logs of ended runs are kept.")] = 2592000.0
    run_log_objects: Annotated[str, Key(STORE, "Where archived logs are kept; unless set, with the other objects.")] = (
        ""
    )
    run_log_mirror: Annotated[
        str, Key(TEXT, "Prefix of Redis streams, one for each schedule, that entries are copied to; unless set, none.")
    ] = ""
    source_events: Annotated[bool, Key(SWITCH, "Hear from Redis when sources are made, changed or removed.")] = False
    archive_requests: Annotated[
        bool, Key(SWITCH, "Archive requests beside their responses, with all headers that were sent (cookies too).")
    ] = False
    save_links: Annotated[bool, Key(SWITCH, "Remember links that lead away from the sources they were found on.")] = (
        False
    )

    discovery: Annotated[bool, Key(SWITCH, "Look for new sources where pages lead to, if theirs allows it.")] = False
    discovery_allow: Annotated[tuple[str, ...], Key(WORDS, "Texts of which such a link must have one.")] = ()
    discovery_block: Annotated[tuple[str, ...], Key(WORDS, "Texts that no such link may have.")] = ()
    discovery_budget: Annotated[int, Key(whole(0), "Candidates that are made in a day; 0 for no limit.")] = 0
    discovery_per_run: Annotated[int, Key(whole(0), "Candidates that one run may bring; 0 for no limit.")] = 0

    def __post_init__(self) -> None:
        here = self.data.absolute()
        msgspec.structs.force_setattr(self, "data", here)
        if not self.database:
            msgspec.structs.force_setattr(self, "database", f"sqlite:///{here / 'longline.db'}")
        if not self.objects:
            msgspec.structs.force_setattr(self, "objects", (here / "objects").as_uri())
        if not self.run_log_objects:
            msgspec.structs.force_setattr(self, "run_log_objects", self.objects)

    @property
    def loopback(self) -> bool:
        """Return True if the server can be reached from this machine alone."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def shown(self, name: str) -> str:
        """Return the value of a key as a person would write it, secrets masked."""
        value = getattr(self, name)
        key = KEYS[name]
        if key.secret:
            return "***" if value else ""
        return key.kind.show(value)

    def __repr__(self) -> str:
        # The object may end up in a log line; passwords must not.
        return "Settings(" + ", ".join(f"{name}={self.shown(name)!r}" for name in KEYS) + ")"


def _keys() -> dict[str, Key]:
    hints = get_type_hints(Settings, include_extras=True)
    return {name: hints[name].__metadata__[0] for name in Settings.__struct_fields__}


KEYS: dict[str, Key] = _keys()
"""Every key with its kind and sentence, in the order of the manual."""


def default(name: str) -> str:
    """Return the default of a key as the manual shows it, free of this machine's paths."""
    fields: dict[str, Any] = {f.name: f.default for f in msgspec.structs.fields(Settings)}
    derived = {
        "database": "sqlite in the data folder",
        "objects": "folder in the data folder",
        "run_log_objects": "objects",
    }
    return derived.get(name) or mask(KEYS[name].kind.show(fields[name]))
