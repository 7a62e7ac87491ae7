import re

import pytest

from longline.model.errors import BadInput
from longline.settings import load
from longline.settings.aliases import ALIASES, IGNORED_VARIABLES
from longline.settings.values import DURATION, SWITCH

CONTRACT = """
AUTH_JWT_SECRET AUTH_INTERNAL_SECRET CRAWLER_SERVER_ADDRESS CRAWLER_SERVER_READ_TIMEOUT CRAWLER_SERVER_WRITE_TIMEOUT
CRAWLER_SERVER_IDLE_TIMEOUT CRAWLER_SERVER_SECURITY_ENABLED CRAWLER_SERVER_API_KEY CRAWLER_SCHEDULER_ENABLED APP_DEBUG
APP_ENV LOG_LEVEL LOG_FORMAT LOG_OUTPUT_PATHS POSTGRES_CRAWLER_HOST POSTGRES_CRAWLER_PORT POSTGRES_CRAWLER_USER
POSTGRES_CRAWLER_PASSWORD POSTGRES_CRAWLER_DB POSTGRES_CRAWLER_SSLMODE REDIS_ADDRESS REDIS_PASSWORD REDIS_DB
REDIS_EVENTS_ENABLED CRAWLER_SOURCES_API_URL SOURCE_MANAGER_URL PIPELINE_URL CRAWLER_MAX_CONCURRENCY
CRAWLER_REQUEST_TIMEOUT CRAWLER_USER_AGENT CRAWLER_RESPECT_ROBOTS_TXT CRAWLER_USE_RANDOM_USER_AGENT CRAWLER_USE_REFERER
CRAWLER_ALLOWED_DOMAINS CRAWLER_DISALLOWED_DOMAINS CRAWLER_DELAY CRAWLER_RANDOM_DELAY CRAWLER_MAX_RETRIES
CRAWLER_RETRY_DELAY CRAWLER_HTTP_RETRY_MAX CRAWLER_HTTP_RETRY_DELAY CRAWLER_FOLLOW_REDIRECTS CRAWLER_MAX_REDIRECTS
CRAWLER_VALIDATE_URLS CRAWLER_MAX_BODY_SIZE CRAWLER_MAX_URL_LENGTH CRAWLER_MAX_REQUESTS CRAWLER_DETECT_CHARSET
CRAWLER_TRACE_HTTP CRAWLER_CLEANUP_INTERVAL CRAWLER_SAVE_DISCOVERED_LINKS CRAWLER_REDIS_STORAGE_ENABLED
CRAWLER_REDIS_STORAGE_EXPIRES CRAWLER_PROXIES_ENABLED CRAWLER_PROXY_URLS CRAWLER_PROXY_POOL_ENABLED
CRAWLER_PROXY_POOL_URLS CRAWLER_PROXY_STICKY_TTL CRAWLER_READABILITY_FALLBACK_ENABLED CRAWLER_RENDER_WORKER_URL
CRAWLER_TLS_INSECURE_SKIP_VERIFY CRAWLER_TLS_MIN_VERSION CRAWLER_TLS_MAX_VERSION
CRAWLER_TLS_PREFER_SERVER_CIPHER_SUITES CRAWLER_MINIO_ENABLED CRAWLER_MINIO_ENDPOINT CRAWLER_MINIO_ACCESS_KEY
CRAWLER_MINIO_SECRET_KEY CRAWLER_MINIO_USE_SSL CRAWLER_MINIO_BUCKET CRAWLER_MINIO_METADATA_BUCKET
ELASTICSEARCH_ADDRESSES ELASTICSEARCH_HOSTS ELASTICSEARCH_API_KEY ELASTICSEARCH_USERNAME ELASTICSEARCH_PASSWORD
ELASTICSEARCH_INDEX_NAME ELASTICSEARCH_INDEX_PREFIX ELASTICSEARCH_BULK_SIZE ELASTICSEARCH_FLUSH_INTERVAL
ELASTICSEARCH_RETRY_ENABLED ELASTICSEARCH_RETRY_INITIAL_WAIT ELASTICSEARCH_RETRY_MAX_WAIT ELASTICSEARCH_MAX_RETRIES
ELASTICSEARCH_DISCOVER_NODES ELASTICSEARCH_TLS_ENABLED ELASTICSEARCH_TLS_CERT_FILE ELASTICSEARCH_TLS_KEY_FILE
ELASTICSEARCH_TLS_CA_FILE ELASTICSEARCH_TLS_INSECURE_SKIP_VERIFY CRAWLER_FEED_POLL_ENABLED
CRAWLER_FEED_DISCOVERY_ENABLED CRAWLER_FEED_POLL_INTERVAL_MINUTES CRAWLER_FEED_DISCOVERY_INTERVAL_MINUTES
CRAWLER_FEED_DISCOVERY_RETRY_HOURS CRAWLER_AUTO_SOURCE_DISCOVERY_ENABLED CRAWLER_DISCOVERY_ALLOWLIST
CRAWLER_DISCOVERY_BLOCKLIST CRAWLER_DISCOVERY_GLOBAL_BUDGET_PER_DAY CRAWLER_DISCOVERY_MAX_CANDIDATES_PER_RUN
FETCHER_ENABLED FETCHER_FOLLOW_REDIRECTS FETCHER_MAX_REDIRECTS FETCHER_WORKER_COUNT FETCHER_USER_AGENT
FETCHER_REQUEST_TIMEOUT FETCHER_CLAIM_RETRY_DELAY FETCHER_MAX_RETRIES FETCHER_STALE_TIMEOUT
FETCHER_STALE_CHECK_INTERVAL FETCHER_DATABASE_URL FETCHER_ELASTICSEARCH_URL FETCHER_SOURCE_MANAGER_URL
FETCHER_LOG_LEVEL JOB_LOGS_ENABLED JOB_LOGS_SSE_ENABLED JOB_LOGS_ARCHIVE_ENABLED JOB_LOGS_REDIS_ENABLED
JOB_LOGS_REDIS_KEY_PREFIX JOB_LOGS_REDIS_TTL_SECONDS JOB_LOGS_BUFFER_SIZE JOB_LOGS_MIN_LEVEL JOB_LOGS_RETENTION_DAYS
JOB_LOGS_MINIO_BUCKET JOB_LOGS_MILESTONE_INTERVAL JOB_LOGS_VERBOSITY JOB_LOGS_MAX_PER_SEC ENABLE_PROFILING PPROF_PORT
ENABLE_CONTINUOUS_PROFILING CONFIG_PATH
"""


def test_every_variable_of_the_contract_is_known():
    heeded = [name for alias in ALIASES for name in alias.names]
    assert sorted(CONTRACT.split()) == sorted([*heeded, *IGNORED_VARIABLES])


@pytest.mark.parametrize(
    ("environ", "setting", "value"),
    [
        ({"AUTH_JWT_SECRET": "s" * 32}, "jwt_secret", "s" * 32),
        ({"CRAWLER_USER_AGENT": "bot/2"}, "user_agent", "bot/2"),
        ({"CRAWLER_RESPECT_ROBOTS_TXT": "no"}, "respect_robots", False),
        ({"CRAWLER_REQUEST_TIMEOUT": "5s"}, "request_timeout", 5.0),
        ({"CRAWLER_MAX_BODY_SIZE": "1024"}, "max_body", 1024),
        ({"CRAWLER_DELAY": "250ms"}, "delay", 0.25),
        ({"CRAWLER_DELAY": "250ms"}, "schedule_delay", 0.25),
        ({"CRAWLER_RANDOM_DELAY": "500ms"}, "random_delay", 0.5),
        ({"CRAWLER_MAX_RETRIES": "7"}, "max_retries", 7),
        ({"CRAWLER_MAX_CONCURRENCY": "5"}, "max_runs", 5),
        ({"CRAWLER_SOURCES_API_URL": "http://s:1/x"}, "sources_url", "http://s:1/x"),
        ({"CRAWLER_SCHEDULER_ENABLED": "no"}, "scheduler", False),
        ({"SOURCE_MANAGER_URL": "http://s:1/"}, "sources_url", "http://s:1/api/v1/sources"),
        ({"CRAWLER_CLEANUP_INTERVAL": "2h"}, "cleanup", 7200.0),
        ({"CRAWLER_MAX_REQUESTS": "9"}, "max_requests", 9),
        ({"CRAWLER_FOLLOW_REDIRECTS": "false", "CRAWLER_MAX_REDIRECTS": "0"}, "max_redirects", 0),
        ({"CRAWLER_FOLLOW_REDIRECTS": "true", "CRAWLER_MAX_REDIRECTS": "7"}, "max_redirects", 7),
        ({"CRAWLER_HTTP_RETRY_MAX": "0"}, "page_retries", 0),
        ({"CRAWLER_USE_RANDOM_USER_AGENT": "1"}, "vary_user_agent", True),
        ({"CRAWLER_ALLOWED_DOMAINS": "a.example, b.example"}, "allowed_domains", ("a.example", "b.example")),
        ({"CRAWLER_DISALLOWED_DOMAINS": "c.example"}, "disallowed_domains", ("c.example",)),
        ({"LOG_LEVEL": "warn"}, "log_level", "warning"),
        ({"LOG_FORMAT": "console"}, "log_format", "text"),
        ({"LOG_OUTPUT_PATHS": "stdout, a.log"}, "log_outputs", ("stdout", "a.log")),
        ({"APP_DEBUG": "true"}, "log_level", "debug"),
        ({"APP_DEBUG": "false"}, "log_level", "info"),
        ({"APP_ENV": "production"}, "log_format", "json"),
        ({"APP_ENV": "development"}, "log_format", "text"),
        ({"ELASTICSEARCH_HOSTS": "http://a:9200"}, "search", ("http://a:9200",)),
        ({"CRAWLER_SERVER_ADDRESS": ":8071"}, "host", "0.0.0.0"),
        ({"CRAWLER_SERVER_ADDRESS": ":8071"}, "port", 8071),
        ({"CRAWLER_SERVER_ADDRESS": "127.0.0.1:8072"}, "host", "127.0.0.1"),
        ({"CRAWLER_SERVER_ADDRESS": "[::1]:8073"}, "host", "::1"),
        ({"REDIS_ADDRESS": "r:6379"}, "redis", "redis://r:6379/0"),
        ({"REDIS_ADDRESS": "r:6379", "REDIS_PASSWORD": "a@b", "REDIS_DB": "2"}, "redis", "redis://:a%40b@r:6379/2"),
        ({"REDIS_EVENTS_ENABLED": "true"}, "source_events", True),
        ({"CRAWLER_SAVE_DISCOVERED_LINKS": "yes"}, "save_links", True),
        ({"JOB_LOGS_ENABLED": "false"}, "run_logs", False),
        ({"JOB_LOGS_SSE_ENABLED": "0"}, "run_log_streams", False),
        ({"JOB_LOGS_ARCHIVE_ENABLED": "no"}, "run_log_archive", False),
        ({"JOB_LOGS_REDIS_ENABLED": "true"}, "run_log_mirror", "logs"),
        ({"JOB_LOGS_REDIS_ENABLED": "true", "JOB_LOGS_REDIS_KEY_PREFIX": "mine"}, "run_log_mirror", "mine"),
        ({"JOB_LOGS_REDIS_ENABLED": "false"}, "run_log_mirror", ""),
        ({"JOB_LOGS_REDIS_TTL_SECONDS": "60"}, "run_log_ttl", 60.0),
        ({"JOB_LOGS_BUFFER_SIZE": "10"}, "run_log_buffer", 10),
        ({"JOB_LOGS_MIN_LEVEL": "warn"}, "run_log_level", "warn"),
        ({"JOB_LOGS_RETENTION_DAYS": "7"}, "run_log_retention", 7 * 86400.0),
        ({"JOB_LOGS_MILESTONE_INTERVAL": "5"}, "run_log_milestone", 5),
        ({"JOB_LOGS_VERBOSITY": "debug"}, "run_log_verbosity", "debug"),
        ({"JOB_LOGS_MAX_PER_SEC": "3"}, "run_log_rate", 3),
        ({"CRAWLER_SERVER_READ_TIMEOUT": "5s"}, "server_read_timeout", 5.0),
        ({"CRAWLER_SERVER_WRITE_TIMEOUT": "6s"}, "server_write_timeout", 6.0),
        ({"CRAWLER_SERVER_IDLE_TIMEOUT": "7s"}, "server_idle_timeout", 7.0),
        ({"CRAWLER_USE_REFERER": "no"}, "referer", False),
        ({"CRAWLER_HTTP_RETRY_DELAY": "250ms"}, "page_retry_delay", 0.25),
        ({"CRAWLER_MAX_URL_LENGTH": "200"}, "max_url", 200),
        ({"CRAWLER_RENDER_WORKER_URL": "http://r:1"}, "render_url", "http://r:1"),
        ({"CRAWLER_TLS_MIN_VERSION": "1.0"}, "tls_min", "1.0"),
        ({"CRAWLER_TLS_MAX_VERSION": "highest"}, "tls_max", "1.3"),
        ({"CRAWLER_FEED_POLL_INTERVAL_MINUTES": "5"}, "feed_poll", 300.0),
        ({"CRAWLER_FEED_DISCOVERY_INTERVAL_MINUTES": "60"}, "feed_search", 3600.0),
        ({"CRAWLER_FEED_DISCOVERY_RETRY_HOURS": "168"}, "feed_search_again", 604800.0),
        ({"FETCHER_STALE_CHECK_INTERVAL": "2m"}, "reap", 120.0),
        ({"FETCHER_CLAIM_RETRY_DELAY": "5s"}, "claim_pause", 5.0),
        ({"ELASTICSEARCH_BULK_SIZE": "1000"}, "index_batch", 1000),
        ({"ELASTICSEARCH_FLUSH_INTERVAL": "30s"}, "index_every", 30.0),
        ({"ELASTICSEARCH_TLS_INSECURE_SKIP_VERIFY": "true"}, "search_verify", False),
        ({"POSTGRES_CRAWLER_HOST": "db"}, "database", "postgresql://postgres@db:5432/crawler?sslmode=disable"),
    ],
)
def test_the_contracts_names_set_our_settings(environ: dict[str, str], setting: str, value: object):
    assert getattr(load(environ=environ).settings, setting) == value


def test_a_postgres_address_is_composed_of_its_parts():
    environ = {"HOST": "::1", "PORT": "5433", "USER": "me", "PASSWORD": "p/w@d:", "DB": "x y", "SSLMODE": "require"}
    loaded = load(environ={f"POSTGRES_CRAWLER_{name}": value for name, value in environ.items()})
    assert loaded.settings.database == "postgresql://me:p%2Fw%40d%3A@[::1]:5433/x%20y?sslmode=require"
    assert loaded.origins["database"] == "POSTGRES_CRAWLER_HOST"
    assert not loaded.notes


def test_every_search_node_gets_the_name_and_the_password():
    given = {"ELASTICSEARCH_ADDRESSES": "http://a:9200, https://b", "ELASTICSEARCH_API_KEY": "id:key"}
    assert load(environ=given).settings.search == ("http://a:9200", "https://b")
    assert load(environ=given).settings.search_key == "id:key"
    who = {"ELASTICSEARCH_USERNAME": "me@x", "ELASTICSEARCH_PASSWORD": "p:w45678"}
    assert load(environ=given | who).settings.search == (
        "http://me%40x:p%3Aw45678@a:9200",
        "https://me%40x:p%3Aw45678@b",
    )


def test_a_bucket_is_configured_by_its_parts():
    environ = {"ENABLED": "true", "ENDPOINT": "s3:9000", "ACCESS_KEY": "me", "SECRET_KEY": "a+b c/d", "USE_SSL": "yes"}
    loaded = load(environ={f"CRAWLER_MINIO_{name}": value for name, value in environ.items()})
    assert loaded.settings.objects.startswith("file:"), "crawling does not depend on that store"
    head, _, query = loaded.settings.html_archive.partition("?")
    assert head == "s3://html-archives"
    assert query == "endpoint=https%3A%2F%2Fs3%3A9000&access_key_id=me&secret_access_key=a%2Bb%20c%2Fd"


def test_logs_have_a_bucket_of_their_own():
    environ = {"CRAWLER_MINIO_ENABLED": "1", "CRAWLER_MINIO_ACCESS_KEY": "me", "CRAWLER_MINIO_SECRET_KEY": "x"}
    usual = load(environ=environ).settings
    assert usual.run_log_objects.startswith("s3://crawler-logs?endpoint=")
    apart = load(environ={**environ, "JOB_LOGS_MINIO_BUCKET": "ours"}).settings
    assert apart.run_log_objects.startswith("s3://ours?endpoint=")
    assert usual.objects == apart.objects == load(environ={}).settings.objects
    off = load(environ={**environ, "CRAWLER_MINIO_ENABLED": "0"}).settings
    assert off.run_log_objects == off.objects


def test_an_enabled_bucket_without_its_keys_is_refused():
    with pytest.raises(BadInput, match="CRAWLER_MINIO_ACCESS_KEY and CRAWLER_MINIO_SECRET_KEY must be set"):
        load(environ={"CRAWLER_MINIO_ENABLED": "1"})


@pytest.mark.parametrize(
    "environ",
    [
        {"POSTGRES_CRAWLER_PORT": "5433"},
        {"REDIS_PASSWORD": "x"},
        {"CRAWLER_MINIO_BUCKET": "x"},
        {"JOB_LOGS_MINIO_BUCKET": "x"},
        {"JOB_LOGS_REDIS_KEY_PREFIX": "x"},
        {"CRAWLER_MINIO_ENABLED": "false", "CRAWLER_MINIO_BUCKET": "x"},
    ],
)
def test_a_variable_without_effect_gives_a_note(environ: dict[str, str]):
    loaded = load(environ=environ)
    assert re.fullmatch(r"\w+ has no effect without \w+", loaded.notes[0])
    assert load(environ={}).settings == loaded.settings


@pytest.mark.parametrize("text", ["8060", "host:", "host:http"])
def test_an_invalid_server_address_is_refused(text: str):
    with pytest.raises(BadInput, match="CRAWLER_SERVER_ADDRESS"):
        load(environ={"CRAWLER_SERVER_ADDRESS": text})


def test_a_pool_keeps_hosts_to_their_proxies():
    pool = {"CRAWLER_PROXY_POOL_ENABLED": "yes", "CRAWLER_PROXY_POOL_URLS": "http://192.0.2.1:1"}
    assert load(environ=pool).settings.proxy_sticky == 600.0
    assert load(environ={**pool, "CRAWLER_PROXY_STICKY_TTL": "1m"}).settings.proxy_sticky == 60.0


@pytest.mark.parametrize("text", ["0", "-1h", "0s"])
def test_a_cleanup_interval_of_zero_or_less_keeps_the_default(text: str):
    assert load(environ={"CRAWLER_CLEANUP_INTERVAL": text}).settings == load(environ={}).settings


def test_keys_of_the_server_and_profiles_count_when_they_are_switched_on():
    key = {"CRAWLER_SERVER_API_KEY": "me:secret"}
    assert load(environ=key).settings.api_key == ""
    assert load(environ={**key, "CRAWLER_SERVER_SECURITY_ENABLED": "1"}).settings.api_key == "me:secret"
    assert load(environ={"ENABLE_PROFILING": "true"}).settings.profile_port == 6060
    assert load(environ={"ENABLE_PROFILING": "true", "PPROF_PORT": "6061"}).settings.profile_port == 6061
    with pytest.raises(BadInput, match="CRAWLER_SERVER_API_KEY must be set"):
        load(environ={"CRAWLER_SERVER_SECURITY_ENABLED": "yes"})


@pytest.mark.parametrize("name", ["ELASTICSEARCH_TLS_CERT_FILE", "ELASTICSEARCH_TLS_KEY_FILE"])
def test_a_certificate_and_its_key_must_be_set_together(name: str):
    with pytest.raises(BadInput, match="must be set as well"):
        load(environ={name: "file.pem"})


def test_versions_of_tls_are_in_order():
    with pytest.raises(BadInput, match=r"CRAWLER_TLS_MIN_VERSION: tls_min 1\.3 is above tls_max 1\.2"):
        load(environ={"CRAWLER_TLS_MIN_VERSION": "1.3", "CRAWLER_TLS_MAX_VERSION": "1.2"})


def test_disabled_certificate_verification_gives_one_note():
    loaded = load(environ={"CRAWLER_TLS_INSECURE_SKIP_VERIFY": "true"})
    assert not loaded.settings.tls_verify
    assert len(loaded.notes) == 1
    assert loaded.notes[0].startswith("CRAWLER_TLS_INSECURE_SKIP_VERIFY disables certificate verification")
    assert load(environ={"CRAWLER_TLS_INSECURE_SKIP_VERIFY": "false"}).notes == ()


def test_a_pool_of_proxies_precedes_others_and_must_be_named():
    both = {"CRAWLER_PROXY_POOL_ENABLED": "yes", "CRAWLER_PROXY_POOL_URLS": "http://192.0.2.1:1"}
    both |= {"CRAWLER_PROXIES_ENABLED": "yes", "CRAWLER_PROXY_URLS": "http://192.0.2.2:2"}
    assert load(environ=both).settings.proxies == ("http://192.0.2.1:1",)
    with pytest.raises(BadInput, match="CRAWLER_PROXY_POOL_URLS must be set"):
        load(environ={"CRAWLER_PROXY_POOL_ENABLED": "yes"})


@pytest.mark.parametrize(
    ("name", "text", "setting", "value"),
    [
        ("FETCHER_SOURCE_MANAGER_URL", "http://a:8050/", "sources_url", "http://a:8050/api/v1/sources"),
        ("ELASTICSEARCH_TLS_CA_FILE", "ca.pem", "ca_file", "ca.pem"),
        ("FETCHER_STALE_TIMEOUT", "10m", "lease", 600.0),
    ],
)
def test_a_second_name_sets_the_same_setting(name: str, text: str, setting: str, value: object):
    assert getattr(load(environ={name: text}).settings, setting) == value


def test_the_earlier_of_two_names_for_one_setting_wins_and_the_other_gives_a_note():
    loaded = load(environ={"FETCHER_USER_AGENT": "b", "CRAWLER_USER_AGENT": "a"})
    assert loaded.settings.user_agent == "a"
    assert loaded.notes == ("FETCHER_USER_AGENT is overruled by CRAWLER_USER_AGENT",)


FITTING = {SWITCH: "true", DURATION: "1s"}


@pytest.mark.parametrize("name", IGNORED_VARIABLES)
def test_a_variable_without_effect_gives_a_note_with_the_reason(name: str):
    ignored = IGNORED_VARIABLES[name]
    assert load(environ={name: FITTING.get(ignored.kind, "1")}).notes == (f"{name} has no effect: {ignored.reason}",)
