"""Environment names of the interval contract, and the settings they stand for.

Every variable of the contract is in one of two tables: `INTERVAL_ALIASES` gives its settings, `IGNORED_VARIABLES` the
reason why it has no effect. A variable without effect is logged at start, and an invalid value is an error in both
tables.
"""

from urllib.parse import quote, urlencode

from longline.model.errors import BadInput
from longline.settings.aliases.alias import (
    Alias,
    IgnoredVariable,
    Variables,
    is_on,
    negated,
    prefixed,
    renamed,
    switches,
    with_unit,
)
from longline.settings.values import (
    DURATION,
    HOST_AND_PORT,
    ID_AND_KEY,
    PASSWORD,
    PROXIES,
    SWITCH,
    URLS,
    Kind,
    integer,
    one_of,
)


def _address(found: Variables) -> dict[str, str]:
    text = found["CRAWLER_SERVER_ADDRESS"]
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal():
        raise BadInput(f'CRAWLER_SERVER_ADDRESS: "{text}" is not an address like :8060 or 127.0.0.1:8060')
    # An address without a host means every interface to the services that share this variable.
    return {"host": host.strip("[]") or "0.0.0.0", "port": port}


def _database(found: Variables) -> dict[str, str]:
    def part(name: str, default: str) -> str:
        return quote(found.get(f"POSTGRES_CRAWLER_{name}", default), safe="")

    if "POSTGRES_CRAWLER_HOST" not in found:
        return {}
    host = found["POSTGRES_CRAWLER_HOST"]
    host = f"[{host}]" if ":" in host else host
    password = f":{part('PASSWORD', '')}" if "POSTGRES_CRAWLER_PASSWORD" in found else ""
    where = f"{part('USER', 'postgres')}{password}@{host}:{part('PORT', '5432')}"
    return {"database": f"postgresql://{where}/{part('DB', 'crawler')}?sslmode={part('SSLMODE', 'disable')}"}


def _redis(found: Variables) -> dict[str, str]:
    if "REDIS_ADDRESS" not in found:
        return {}
    password = f":{quote(found['REDIS_PASSWORD'], safe='')}@" if "REDIS_PASSWORD" in found else ""
    return {"redis": f"redis://{password}{found['REDIS_ADDRESS']}/{found.get('REDIS_DB', '0')}"}


def _objects(found: Variables) -> dict[str, str]:
    if not is_on(found, "CRAWLER_MINIO_ENABLED"):
        return {}
    pages = found.get("CRAWLER_MINIO_BUCKET", "html-archives")
    facts = found.get("CRAWLER_MINIO_METADATA_BUCKET", "crawler-metadata")
    # The archive (`objects`) does not move there: crawling goes on while the store for copies is down.
    logs = found.get("JOB_LOGS_MINIO_BUCKET", "crawler-logs")
    buckets = {"html_archive": pages, "html_facts": facts, "run_log_objects": logs}
    return {setting: _s3(found, bucket) for setting, bucket in buckets.items()}


def _s3(found: Variables, bucket: str) -> str:
    missing = [n for n in ("CRAWLER_MINIO_ACCESS_KEY", "CRAWLER_MINIO_SECRET_KEY") if n not in found]
    if missing:
        raise BadInput(f"CRAWLER_MINIO_ENABLED is on, so {' and '.join(missing)} must be set")
    scheme = "https" if is_on(found, "CRAWLER_MINIO_USE_SSL") else "http"
    query = {
        "endpoint": f"{scheme}://{found.get('CRAWLER_MINIO_ENDPOINT', 'localhost:9000')}",
        "access_key_id": found["CRAWLER_MINIO_ACCESS_KEY"],
        "secret_access_key": found["CRAWLER_MINIO_SECRET_KEY"],
    }
    return f"s3://{bucket}?{urlencode(query, quote_via=quote)}"


def _log_mirror(found: Variables) -> dict[str, str]:
    on = is_on(found, "JOB_LOGS_REDIS_ENABLED")
    return {"run_log_mirror": found.get("JOB_LOGS_REDIS_KEY_PREFIX", "logs")} if on else {}


def _proxies(found: Variables) -> dict[str, str]:
    if not is_on(found, "CRAWLER_PROXIES_ENABLED"):
        return {}
    return {"proxies": found.get("CRAWLER_PROXY_URLS", "")}


def _pool(found: Variables) -> dict[str, str]:
    if not is_on(found, "CRAWLER_PROXY_POOL_ENABLED"):
        return {}
    if "CRAWLER_PROXY_POOL_URLS" not in found:
        raise BadInput("CRAWLER_PROXY_POOL_ENABLED is on, so CRAWLER_PROXY_POOL_URLS must be set")
    sticky = found.get("CRAWLER_PROXY_STICKY_TTL", "10m")
    return {"proxies": found["CRAWLER_PROXY_POOL_URLS"], "proxy_sticky": sticky}


def _api_key(found: Variables) -> dict[str, str]:
    if not is_on(found, "CRAWLER_SERVER_SECURITY_ENABLED"):
        return {}
    if "CRAWLER_SERVER_API_KEY" not in found:
        raise BadInput("CRAWLER_SERVER_SECURITY_ENABLED is on, so CRAWLER_SERVER_API_KEY must be set")
    return {"api_key": found["CRAWLER_SERVER_API_KEY"]}


def _profiling(found: Variables) -> dict[str, str]:
    return {"profile_port": found.get("PPROF_PORT", "6060")} if is_on(found, "ENABLE_PROFILING") else {}


def _search_identity(found: Variables) -> dict[str, str]:
    names = {"ELASTICSEARCH_TLS_CERT_FILE": "search_cert", "ELASTICSEARCH_TLS_KEY_FILE": "search_cert_key"}
    if missing := [name for name in names if name not in found]:
        raise BadInput(f"{missing[0]} must be set as well: a certificate and its key come together")
    return {setting: found[name] for name, setting in names.items()}


def _cleanup(found: Variables) -> dict[str, str]:
    # In the contract an interval of zero or less means the default.
    text = found["CRAWLER_CLEANUP_INTERVAL"].strip()
    return {} if text.startswith("-") or not DURATION.read(text) else {"cleanup": text}


def _search(found: Variables) -> dict[str, str]:
    nodes = found.get("ELASTICSEARCH_ADDRESSES") or found.get("ELASTICSEARCH_HOSTS")
    if not nodes:
        return {}
    if "ELASTICSEARCH_USERNAME" not in found:
        return {"search": nodes}
    who = [quote(found.get(f"ELASTICSEARCH_{name}", ""), safe="") for name in ("USERNAME", "PASSWORD")]
    return {"search": ",".join(node.strip().replace("://", f"://{':'.join(who)}@", 1) for node in nodes.split(","))}


def _debug(found: Variables) -> dict[str, str]:
    return {"log_level": "debug"} if is_on(found, "APP_DEBUG") else {}


def _environment(found: Variables) -> dict[str, str]:
    return {"log_format": "json" if found["APP_ENV"] == "production" else "text"}


def _source_manager(name: str) -> Alias:
    return Alias((name,), ("sources_url",), lambda found: {"sources_url": f"{found[name].rstrip('/')}/api/v1/sources"})


def _polling(found: Variables) -> dict[str, str]:
    # In the contract the poll loop of feeds polls sitemaps too.
    return dict.fromkeys(("feeds", "sitemaps"), found["CRAWLER_FEED_POLL_ENABLED"])


def _no_redirects(found: Variables) -> dict[str, str]:
    return {} if is_on(found, "CRAWLER_FOLLOW_REDIRECTS") else {"max_redirects": "0"}


def _fetcher(found: Variables) -> dict[str, str]:
    return dict.fromkeys(("frontier", "frontier_links"), found["FETCHER_ENABLED"])


def _delays(found: Variables) -> dict[str, str]:
    return dict.fromkeys(("delay", "schedule_delay"), found["CRAWLER_DELAY"])


def _no_frontier_redirects(found: Variables) -> dict[str, str]:
    return {} if is_on(found, "FETCHER_FOLLOW_REDIRECTS") else {"frontier_redirects": "0"}


PORT = integer(1, 65535)
SSLMODE = one_of("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
DURATION_OR_NEGATIVE = Kind(DURATION.word, DURATION.wanted, lambda text: DURATION.read(text.strip().removeprefix("-")))

_SAME_VALUE = """
    AUTH_JWT_SECRET=jwt_secret AUTH_INTERNAL_SECRET=internal_secret CRAWLER_SERVER_READ_TIMEOUT=server_read_timeout
    CRAWLER_SERVER_WRITE_TIMEOUT=server_write_timeout CRAWLER_SERVER_IDLE_TIMEOUT=server_idle_timeout
    FETCHER_DATABASE_URL=database FETCHER_ELASTICSEARCH_URL=search ELASTICSEARCH_API_KEY=search_key
    ELASTICSEARCH_TLS_CA_FILE=ca_file ELASTICSEARCH_BULK_SIZE=index_batch ELASTICSEARCH_FLUSH_INTERVAL=index_every
    FETCHER_STALE_TIMEOUT=lease FETCHER_STALE_CHECK_INTERVAL=reap FETCHER_CLAIM_RETRY_DELAY=claim_pause
    REDIS_EVENTS_ENABLED=source_events CRAWLER_SAVE_DISCOVERED_LINKS=save_links
    CRAWLER_AUTO_SOURCE_DISCOVERY_ENABLED=discovery CRAWLER_DISCOVERY_ALLOWLIST=discovery_allow
    CRAWLER_DISCOVERY_BLOCKLIST=discovery_block CRAWLER_DISCOVERY_GLOBAL_BUDGET_PER_DAY=discovery_budget
    CRAWLER_DISCOVERY_MAX_CANDIDATES_PER_RUN=discovery_per_run JOB_LOGS_ENABLED=run_logs
    JOB_LOGS_SSE_ENABLED=run_log_streams JOB_LOGS_ARCHIVE_ENABLED=run_log_archive
    JOB_LOGS_REDIS_TTL_SECONDS=run_log_ttl JOB_LOGS_BUFFER_SIZE=run_log_buffer JOB_LOGS_MIN_LEVEL=run_log_level
    JOB_LOGS_MILESTONE_INTERVAL=run_log_milestone JOB_LOGS_VERBOSITY=run_log_verbosity
    JOB_LOGS_MAX_PER_SEC=run_log_rate CRAWLER_SCHEDULER_ENABLED=scheduler
    CRAWLER_FEED_DISCOVERY_ENABLED=feed_discovery CRAWLER_SOURCES_API_URL=sources_url
    CRAWLER_MAX_REQUESTS=max_requests CRAWLER_MAX_URL_LENGTH=max_url CRAWLER_USE_REFERER=referer
    CRAWLER_MAX_REDIRECTS=max_redirects CRAWLER_HTTP_RETRY_MAX=page_retries CRAWLER_HTTP_RETRY_DELAY=page_retry_delay
    CRAWLER_USE_RANDOM_USER_AGENT=vary_user_agent CRAWLER_ALLOWED_DOMAINS=allowed_domains
    CRAWLER_DISALLOWED_DOMAINS=disallowed_domains CRAWLER_MAX_CONCURRENCY=max_runs FETCHER_WORKER_COUNT=concurrency
    CRAWLER_USER_AGENT=user_agent FETCHER_USER_AGENT=user_agent CRAWLER_RESPECT_ROBOTS_TXT=respect_robots
    CRAWLER_RANDOM_DELAY=random_delay CRAWLER_REQUEST_TIMEOUT=request_timeout FETCHER_REQUEST_TIMEOUT=request_timeout
    CRAWLER_MAX_BODY_SIZE=max_body CRAWLER_TLS_MIN_VERSION=tls_min CRAWLER_TLS_MAX_VERSION=tls_max
    CRAWLER_RENDER_WORKER_URL=render_url CRAWLER_MAX_RETRIES=max_retries FETCHER_MAX_RETRIES=frontier_attempts
    FETCHER_MAX_REDIRECTS=frontier_redirects PIPELINE_URL=pipeline_url
    CRAWLER_READABILITY_FALLBACK_ENABLED=readability LOG_LEVEL=log_level FETCHER_LOG_LEVEL=log_level
    LOG_FORMAT=log_format LOG_OUTPUT_PATHS=log_outputs
"""
"""Variables that are passed on unchanged, each with its setting."""

INTERVAL_ALIASES: tuple[Alias, ...] = (
    Alias(("CRAWLER_SERVER_ADDRESS",), ("host", "port"), _address),
    Alias(
        prefixed("CRAWLER_SERVER_", "SECURITY_ENABLED API_KEY"),
        ("api_key",),
        _api_key,
        {**switches("CRAWLER_SERVER_SECURITY_ENABLED"), "CRAWLER_SERVER_API_KEY": ID_AND_KEY},
    ),
    Alias(
        prefixed("POSTGRES_CRAWLER_", "HOST PORT USER PASSWORD DB SSLMODE"),
        ("database",),
        _database,
        {"POSTGRES_CRAWLER_PORT": PORT, "POSTGRES_CRAWLER_SSLMODE": SSLMODE},
    ),
    Alias(
        prefixed("REDIS_", "ADDRESS PASSWORD DB"),
        ("redis",),
        _redis,
        {"REDIS_ADDRESS": HOST_AND_PORT, "REDIS_DB": integer(0)},
    ),
    Alias(
        (
            *prefixed("CRAWLER_MINIO_", "ENABLED ENDPOINT ACCESS_KEY SECRET_KEY USE_SSL BUCKET METADATA_BUCKET"),
            "JOB_LOGS_MINIO_BUCKET",
        ),
        ("run_log_objects", "html_archive", "html_facts"),
        _objects,
        {**switches("CRAWLER_MINIO_ENABLED", "CRAWLER_MINIO_USE_SSL"), "CRAWLER_MINIO_ENDPOINT": HOST_AND_PORT},
    ),
    Alias(
        prefixed("ELASTICSEARCH_", "ADDRESSES HOSTS USERNAME PASSWORD"),
        ("search",),
        _search,
        {**dict.fromkeys(prefixed("ELASTICSEARCH_", "ADDRESSES HOSTS"), URLS), "ELASTICSEARCH_PASSWORD": PASSWORD},
    ),
    Alias(prefixed("ELASTICSEARCH_TLS_", "CERT_FILE KEY_FILE"), ("search_cert", "search_cert_key"), _search_identity),
    negated("ELASTICSEARCH_TLS_INSECURE_SKIP_VERIFY", "search_verify"),
    Alias(
        prefixed("JOB_LOGS_REDIS_", "ENABLED KEY_PREFIX"),
        ("run_log_mirror",),
        _log_mirror,
        switches("JOB_LOGS_REDIS_ENABLED"),
    ),
    with_unit("JOB_LOGS_RETENTION_DAYS", "run_log_retention", "d"),
    Alias(("CRAWLER_FEED_POLL_ENABLED",), ("feeds", "sitemaps"), _polling),
    with_unit("CRAWLER_FEED_POLL_INTERVAL_MINUTES", "feed_poll", "m"),
    with_unit("CRAWLER_FEED_DISCOVERY_INTERVAL_MINUTES", "feed_search", "m"),
    with_unit("CRAWLER_FEED_DISCOVERY_RETRY_HOURS", "feed_search_again", "h"),
    Alias(("CRAWLER_CLEANUP_INTERVAL",), ("cleanup",), _cleanup, {"CRAWLER_CLEANUP_INTERVAL": DURATION_OR_NEGATIVE}),
    Alias(("CRAWLER_FOLLOW_REDIRECTS",), ("max_redirects",), _no_redirects, switches("CRAWLER_FOLLOW_REDIRECTS")),
    Alias(("CRAWLER_DELAY",), ("delay", "schedule_delay"), _delays),
    Alias(
        prefixed("CRAWLER_PROXY_", "POOL_ENABLED POOL_URLS STICKY_TTL"),
        ("proxies", "proxy_sticky"),
        _pool,
        {
            **switches("CRAWLER_PROXY_POOL_ENABLED"),
            "CRAWLER_PROXY_POOL_URLS": PROXIES,
            "CRAWLER_PROXY_STICKY_TTL": DURATION,
        },
    ),
    Alias(
        ("CRAWLER_PROXIES_ENABLED", "CRAWLER_PROXY_URLS"),
        ("proxies",),
        _proxies,
        {**switches("CRAWLER_PROXIES_ENABLED"), "CRAWLER_PROXY_URLS": PROXIES},
    ),
    negated("CRAWLER_TLS_INSECURE_SKIP_VERIFY", "tls_verify"),
    Alias(("FETCHER_ENABLED",), ("frontier", "frontier_links"), _fetcher),
    Alias(
        ("FETCHER_FOLLOW_REDIRECTS",),
        ("frontier_redirects",),
        _no_frontier_redirects,
        switches("FETCHER_FOLLOW_REDIRECTS"),
    ),
    Alias(
        ("ENABLE_PROFILING", "PPROF_PORT"),
        ("profile_port",),
        _profiling,
        {**switches("ENABLE_PROFILING"), "PPROF_PORT": PORT},
    ),
    *(renamed(*pair.split("=")) for pair in _SAME_VALUE.split()),
    _source_manager("SOURCE_MANAGER_URL"),
    _source_manager("FETCHER_SOURCE_MANAGER_URL"),
    Alias(("APP_DEBUG",), ("log_level",), _debug, switches("APP_DEBUG")),
    Alias(("APP_ENV",), ("log_format",), _environment),
)
"""Aliases of the contract; where two rows set the same key the earlier row wins."""


_RETRIED = "items that could not be indexed wait in the database"
_VISITED = "the database stores the visited URLs of a run"
_OWN_INDEX = "every source has its own index"

IGNORED_VARIABLES: dict[str, IgnoredVariable] = {
    "CONFIG_PATH": IgnoredVariable("the settings file is longline.toml, or the file of LONGLINE_CONFIG"),
    "CRAWLER_RETRY_DELAY": IgnoredVariable("links are queued in the transaction that reports their page", DURATION),
    "CRAWLER_VALIDATE_URLS": IgnoredVariable("every URL is validated", SWITCH),
    "CRAWLER_DETECT_CHARSET": IgnoredVariable("the encoding of every page is detected by the rules of HTML", SWITCH),
    "CRAWLER_TRACE_HTTP": IgnoredVariable("the time of every request is always measured", SWITCH),
    "CRAWLER_TLS_PREFER_SERVER_CIPHER_SUITES": IgnoredVariable(
        "the option is for servers, and a crawler is a client", SWITCH
    ),
    "CRAWLER_REDIS_STORAGE_ENABLED": IgnoredVariable(_VISITED, SWITCH),
    "CRAWLER_REDIS_STORAGE_EXPIRES": IgnoredVariable(_VISITED, DURATION),
    "ELASTICSEARCH_INDEX_NAME": IgnoredVariable(_OWN_INDEX),
    "ELASTICSEARCH_INDEX_PREFIX": IgnoredVariable(_OWN_INDEX),
    "ELASTICSEARCH_RETRY_ENABLED": IgnoredVariable(_RETRIED, SWITCH),
    "ELASTICSEARCH_RETRY_INITIAL_WAIT": IgnoredVariable(_RETRIED, DURATION),
    "ELASTICSEARCH_RETRY_MAX_WAIT": IgnoredVariable(_RETRIED, DURATION),
    "ELASTICSEARCH_MAX_RETRIES": IgnoredVariable(_RETRIED, integer(0)),
    "ELASTICSEARCH_DISCOVER_NODES": IgnoredVariable("only the configured nodes are used", SWITCH),
    "ELASTICSEARCH_TLS_ENABLED": IgnoredVariable("TLS is used for addresses that begin with https://", SWITCH),
    "ENABLE_CONTINUOUS_PROFILING": IgnoredVariable(
        "there is no profile collector; ENABLE_PROFILING serves profiles on demand", SWITCH
    ),
}
"""Ignored variables by name; a variable that is set gives a warning with its reason."""
