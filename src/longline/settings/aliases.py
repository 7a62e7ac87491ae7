"""Environment names of the interval contract, and the settings they stand for.

Every variable that the contract names is in one of three tables: `ALIASES` says what it sets here, `NEEDLESS` why it
need not set anything, `NOT_YET` that nothing obeys it so far. Whoever sets one of the latter two is told so at start;
none is ignored in silence.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from longline.model.errors import BadInput
from longline.settings.values import SWITCH

Found = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Alias:
    """Variables that together say what `settings` are; `build` answers nothing when they do not say enough."""

    names: tuple[str, ...]
    settings: tuple[str, ...]
    build: Callable[[Found], dict[str, str]]


def _same(name: str, setting: str) -> Alias:
    return Alias((name,), (setting,), lambda found: {setting: found[name]})


def _address(found: Found) -> dict[str, str]:
    text = found["CRAWLER_SERVER_ADDRESS"]
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal():
        raise BadInput(f'CRAWLER_SERVER_ADDRESS: "{text}" is not an address like :8060 or 127.0.0.1:8060')
    # An address without a host means every interface to the services that share this variable.
    return {"host": host.strip("[]") or "0.0.0.0", "port": port}


def _database(found: Found) -> dict[str, str]:
    def part(name: str, default: str) -> str:
        return quote(found.get(f"POSTGRES_CRAWLER_{name}", default), safe="")

    if "POSTGRES_CRAWLER_HOST" not in found:
        return {}
    host = found["POSTGRES_CRAWLER_HOST"]
    host = f"[{host}]" if ":" in host else host
    password = f":{part('PASSWORD', '')}" if "POSTGRES_CRAWLER_PASSWORD" in found else ""
    where = f"{part('USER', 'postgres')}{password}@{host}:{part('PORT', '5432')}"
    return {"database": f"postgresql://{where}/{part('DB', 'crawler')}?sslmode={part('SSLMODE', 'disable')}"}


def _redis(found: Found) -> dict[str, str]:
    if "REDIS_ADDRESS" not in found:
        return {}
    password = f":{quote(found['REDIS_PASSWORD'], safe='')}@" if "REDIS_PASSWORD" in found else ""
    return {"redis": f"redis://{password}{found['REDIS_ADDRESS']}/{found.get('REDIS_DB', '0')}"}


def _switched(found: Found, name: str) -> bool:
    try:
        return bool(SWITCH.read(found.get(name, "false")))
    except ValueError:
        raise BadInput(f'{name}: "{found[name]}" is not {SWITCH.wanted}') from None


def _objects(found: Found) -> dict[str, str]:
    if not _switched(found, "CRAWLER_MINIO_ENABLED"):
        return {}
    pages = found.get("CRAWLER_MINIO_BUCKET", "html-archives")
    facts = found.get("CRAWLER_MINIO_METADATA_BUCKET", "crawler-metadata")
    buckets = {"objects": pages, "html_archive": pages, "html_facts": facts}
    if "JOB_LOGS_MINIO_BUCKET" in found:
        buckets["run_log_objects"] = found["JOB_LOGS_MINIO_BUCKET"]
    return {setting: _s3(found, bucket) for setting, bucket in buckets.items()}


def _s3(found: Found, bucket: str) -> str:
    missing = [n for n in ("CRAWLER_MINIO_ACCESS_KEY", "CRAWLER_MINIO_SECRET_KEY") if n not in found]
    if missing:
        raise BadInput(f"CRAWLER_MINIO_ENABLED is on, so {' and '.join(missing)} must be set")
    scheme = "https" if _switched(found, "CRAWLER_MINIO_USE_SSL") else "http"
    query = {
        "endpoint": f"{scheme}://{found.get('CRAWLER_MINIO_ENDPOINT', 'localhost:9000')}",
        "access_key_id": found["CRAWLER_MINIO_ACCESS_KEY"],
        "secret_access_key": found["CRAWLER_MINIO_SECRET_KEY"],
    }
    return f"s3://{bucket}?{urlencode(query, quote_via=quote)}"


def _log_mirror(found: Found) -> dict[str, str]:
    on = _switched(found, "JOB_LOGS_REDIS_ENABLED")
    return {"run_log_mirror": found.get("JOB_LOGS_REDIS_KEY_PREFIX", "logs")} if on else {}


def _retention(found: Found) -> dict[str, str]:
    return {"run_log_retention": f"{found['JOB_LOGS_RETENTION_DAYS'].strip()}d"}


def _proxies(found: Found) -> dict[str, str]:
    if not _switched(found, "CRAWLER_PROXIES_ENABLED"):
        return {}
    return {"proxies": found.get("CRAWLER_PROXY_URLS", "")}


def _pool(found: Found) -> dict[str, str]:
    if not _switched(found, "CRAWLER_PROXY_POOL_ENABLED"):
        return {}
    if "CRAWLER_PROXY_POOL_URLS" not in found:
        raise BadInput("CRAWLER_PROXY_POOL_ENABLED is on, so CRAWLER_PROXY_POOL_URLS must be set")
    return {"proxies": found["CRAWLER_PROXY_POOL_URLS"]}


def _search(found: Found) -> dict[str, str]:
    nodes = found.get("ELASTICSEARCH_ADDRESSES") or found.get("ELASTICSEARCH_HOSTS")
    if not nodes:
        return {}
    if "ELASTICSEARCH_USERNAME" not in found:
        return {"search": nodes}
    who = [quote(found.get(f"ELASTICSEARCH_{name}", ""), safe="") for name in ("USERNAME", "PASSWORD")]
    return {"search": ",".join(node.strip().replace("://", f"://{':'.join(who)}@", 1) for node in nodes.split(","))}


def _debug(found: Found) -> dict[str, str]:
    return {"log_level": "debug"} if _switched(found, "APP_DEBUG") else {}


def _environment(found: Found) -> dict[str, str]:
    return {"log_format": "json" if found["APP_ENV"] == "production" else "text"}


def _source_manager(name: str) -> Alias:
    return Alias((name,), ("sources_url",), lambda found: {"sources_url": f"{found[name].rstrip('/')}/api/v1/sources"})


def _polling(found: Found) -> dict[str, str]:
    # Sitemaps are polled by the same loop there.
    return dict.fromkeys(("feeds", "sitemaps"), found["CRAWLER_FEED_POLL_ENABLED"])


def _no_redirects(found: Found) -> dict[str, str]:
    return {} if _switched(found, "CRAWLER_FOLLOW_REDIRECTS") else {"max_redirects": "0"}


def _fetcher(found: Found) -> dict[str, str]:
    return dict.fromkeys(("frontier", "frontier_links"), found["FETCHER_ENABLED"])


def _no_frontier_redirects(found: Found) -> dict[str, str]:
    return {} if _switched(found, "FETCHER_FOLLOW_REDIRECTS") else {"frontier_redirects": "0"}


def _named(prefix: str, names: str) -> tuple[str, ...]:
    return tuple(prefix + name for name in names.split())


ALIASES: tuple[Alias, ...] = (
    _same("AUTH_JWT_SECRET", "jwt_secret"),
    _same("AUTH_INTERNAL_SECRET", "internal_secret"),
    Alias(("CRAWLER_SERVER_ADDRESS",), ("host", "port"), _address),
    Alias(_named("POSTGRES_CRAWLER_", "HOST PORT USER PASSWORD DB SSLMODE"), ("database",), _database),
    _same("FETCHER_DATABASE_URL", "database"),
    Alias(_named("REDIS_", "ADDRESS PASSWORD DB"), ("redis",), _redis),
    Alias(
        (
            *_named("CRAWLER_MINIO_", "ENABLED ENDPOINT ACCESS_KEY SECRET_KEY USE_SSL BUCKET METADATA_BUCKET"),
            "JOB_LOGS_MINIO_BUCKET",
        ),
        ("objects", "run_log_objects", "html_archive", "html_facts"),
        _objects,
    ),
    Alias(_named("ELASTICSEARCH_", "ADDRESSES HOSTS USERNAME PASSWORD"), ("search",), _search),
    _same("FETCHER_ELASTICSEARCH_URL", "search"),
    _same("ELASTICSEARCH_API_KEY", "search_key"),
    _same("ELASTICSEARCH_TLS_CA_FILE", "ca_file"),
    _same("FETCHER_STALE_TIMEOUT", "lease"),
    _same("REDIS_EVENTS_ENABLED", "source_events"),
    _same("CRAWLER_SAVE_DISCOVERED_LINKS", "save_links"),
    _same("CRAWLER_AUTO_SOURCE_DISCOVERY_ENABLED", "discovery"),
    _same("CRAWLER_DISCOVERY_ALLOWLIST", "discovery_allow"),
    _same("CRAWLER_DISCOVERY_BLOCKLIST", "discovery_block"),
    _same("CRAWLER_DISCOVERY_GLOBAL_BUDGET_PER_DAY", "discovery_budget"),
    _same("CRAWLER_DISCOVERY_MAX_CANDIDATES_PER_RUN", "discovery_per_run"),
    _same("JOB_LOGS_ENABLED", "run_logs"),
    _same("JOB_LOGS_SSE_ENABLED", "run_log_streams"),
    _same("JOB_LOGS_ARCHIVE_ENABLED", "run_log_archive"),
    Alias(_named("JOB_LOGS_REDIS_", "ENABLED KEY_PREFIX"), ("run_log_mirror",), _log_mirror),
    _same("JOB_LOGS_REDIS_TTL_SECONDS", "run_log_ttl"),
    _same("JOB_LOGS_BUFFER_SIZE", "run_log_buffer"),
    _same("JOB_LOGS_MIN_LEVEL", "run_log_level"),
    Alias(("JOB_LOGS_RETENTION_DAYS",), ("run_log_retention",), _retention),
    _same("JOB_LOGS_MILESTONE_INTERVAL", "run_log_milestone"),
    _same("JOB_LOGS_VERBOSITY", "run_log_verbosity"),
    _same("JOB_LOGS_MAX_PER_SEC", "run_log_rate"),
    _same("CRAWLER_SCHEDULER_ENABLED", "scheduler"),
    Alias(("CRAWLER_FEED_POLL_ENABLED",), ("feeds", "sitemaps"), _polling),
    _same("CRAWLER_FEED_DISCOVERY_ENABLED", "feed_discovery"),
    _same("CRAWLER_SOURCES_API_URL", "sources_url"),
    _source_manager("SOURCE_MANAGER_URL"),
    _source_manager("FETCHER_SOURCE_MANAGER_URL"),
    _same("CRAWLER_CLEANUP_INTERVAL", "cleanup"),
    _same("CRAWLER_MAX_REQUESTS", "max_requests"),
    Alias(("CRAWLER_FOLLOW_REDIRECTS",), ("max_redirects",), _no_redirects),
    _same("CRAWLER_MAX_REDIRECTS", "max_redirects"),
    _same("CRAWLER_HTTP_RETRY_MAX", "page_retries"),
    _same("CRAWLER_USE_RANDOM_USER_AGENT", "vary_user_agent"),
    _same("CRAWLER_ALLOWED_DOMAINS", "allowed_domains"),
    _same("CRAWLER_DISALLOWED_DOMAINS", "disallowed_domains"),
    _same("CRAWLER_MAX_CONCURRENCY", "max_runs"),
    _same("FETCHER_WORKER_COUNT", "concurrency"),
    _same("CRAWLER_USER_AGENT", "user_agent"),
    _same("FETCHER_USER_AGENT", "user_agent"),
    _same("CRAWLER_RESPECT_ROBOTS_TXT", "respect_robots"),
    _same("CRAWLER_DELAY", "delay"),
    _same("CRAWLER_RANDOM_DELAY", "random_delay"),
    _same("CRAWLER_REQUEST_TIMEOUT", "request_timeout"),
    _same("FETCHER_REQUEST_TIMEOUT", "request_timeout"),
    _same("CRAWLER_MAX_BODY_SIZE", "max_body"),
    Alias(("CRAWLER_PROXY_POOL_ENABLED", "CRAWLER_PROXY_POOL_URLS"), ("proxies",), _pool),
    Alias(("CRAWLER_PROXIES_ENABLED", "CRAWLER_PROXY_URLS"), ("proxies",), _proxies),
    _same("CRAWLER_MAX_RETRIES", "max_retries"),
    Alias(("FETCHER_ENABLED",), ("frontier", "frontier_links"), _fetcher),
    _same("FETCHER_MAX_RETRIES", "frontier_attempts"),
    Alias(("FETCHER_FOLLOW_REDIRECTS",), ("frontier_redirects",), _no_frontier_redirects),
    _same("FETCHER_MAX_REDIRECTS", "frontier_redirects"),
    _same("PIPELINE_URL", "pipeline_url"),
    _same("CRAWLER_READABILITY_FALLBACK_ENABLED", "readability"),
    _same("LOG_LEVEL", "log_level"),
    _same("FETCHER_LOG_LEVEL", "log_level"),
    Alias(("APP_DEBUG",), ("log_level",), _debug),
    _same("LOG_FORMAT", "log_format"),
    Alias(("APP_ENV",), ("log_format",), _environment),
)
"""What each variable sets; where two set the same key the earlier row wins."""

NOT_YET: tuple[str, ...] = (
    *_named("CRAWLER_SERVER_", "READ_TIMEOUT WRITE_TIMEOUT IDLE_TIMEOUT SECURITY_ENABLED API_KEY"),
    *_named("CRAWLER_", "USE_REFERER HTTP_RETRY_DELAY MAX_URL_LENGTH PROXY_STICKY_TTL RENDER_WORKER_URL"),
    *_named("CRAWLER_TLS_", "INSECURE_SKIP_VERIFY MIN_VERSION MAX_VERSION"),
    *_named("CRAWLER_FEED_", "POLL_INTERVAL_MINUTES DISCOVERY_INTERVAL_MINUTES DISCOVERY_RETRY_HOURS"),
)
"""Variables of the contract that have no effect so far."""

NEEDLESS: dict[str, str] = {
    "CONFIG_PATH": "settings are in longline.toml, or in the file that LONGLINE_CONFIG names",
    "LOG_OUTPUT_PATHS": "log lines go to standard error, and whoever starts the process leads them on",
    "CRAWLER_RETRY_DELAY": "links are queued in the transaction that reports their page",
    "CRAWLER_VALIDATE_URLS": "every URL is parsed before anything is done with it",
    "CRAWLER_DETECT_CHARSET": "the encoding of every page is found by the rules of HTML",
    "CRAWLER_TRACE_HTTP": "how long every request takes is always measured",
    "CRAWLER_TLS_PREFER_SERVER_CIPHER_SUITES": "it is for servers, and crawling is done by a client",
    **dict.fromkeys(
        _named("CRAWLER_REDIS_STORAGE_", "ENABLED EXPIRES"), "what a run has visited is kept in the database"
    ),
    **dict.fromkeys(_named("ELASTICSEARCH_INDEX_", "NAME PREFIX"), "every source has an index of its own"),
    **dict.fromkeys(
        _named("ELASTICSEARCH_", "BULK_SIZE FLUSH_INTERVAL"), "what is new is indexed in bulk every second"
    ),
    **dict.fromkeys(
        _named("ELASTICSEARCH_", "RETRY_ENABLED RETRY_INITIAL_WAIT RETRY_MAX_WAIT MAX_RETRIES"),
        "what cannot be indexed waits in the database until it can",
    ),
    "ELASTICSEARCH_DISCOVER_NODES": "the nodes are those that are named",
    "ELASTICSEARCH_TLS_ENABLED": "an address that begins with https:// is spoken to by TLS",
    **dict.fromkeys(_named("ELASTICSEARCH_TLS_", "CERT_FILE KEY_FILE"), "we show a key or a password, no certificate"),
    "ELASTICSEARCH_TLS_INSECURE_SKIP_VERIFY": "an issuer of one's own is named with ELASTICSEARCH_TLS_CA_FILE",
    "FETCHER_CLAIM_RETRY_DELAY": "workers are called when there is work",
    "FETCHER_STALE_CHECK_INTERVAL": "leases that lapsed are looked for every five seconds",
    **dict.fromkeys(
        ("ENABLE_PROFILING", "PPROF_PORT", "ENABLE_CONTINUOUS_PROFILING"),
        "profilers attach by themselves",
    ),
}
"""Variables of the contract that nothing needs to heed here, and why."""


def environment_names(setting: str) -> tuple[str, ...]:
    """The environment names a key goes by, its own first."""
    return (own_name(setting), *(n for alias in ALIASES if setting in alias.settings for n in alias.names))


def own_name(setting: str) -> str:
    """The canonical environment name of a key."""
    return "LONGLINE_" + setting.upper()
