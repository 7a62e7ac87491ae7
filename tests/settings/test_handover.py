from pathlib import Path

from longline.settings import KEYS, Settings, load
from longline.settings.handover import environment

CHANGED = Settings(
    data=Path("/a folder"),
    database="postgresql://me:p%20w@db/x?sslmode=disable",
    objects="s3://b?access_key_id=me&secret_access_key=hunter2",
    html_archive="s3://h?access_key_id=me&secret_access_key=hunter2",
    html_facts="file:///facts",
    redis="redis://:hunter2@r:1/2",
    search=("http://me:hunter2@s:9200", "http://t:9200"),
    search_key="id:hunter2",
    pipeline_url="http://pipeline.example/",
    host="::",
    port=0,
    metrics_open=True,
    jwt_secret="x" * 40,
    vault_key="y" * 40,
    internal_secret="hunter2",
    workers=3,
    concurrency=5,
    lease=12.345,
    feeds=True,
    frontier=False,
    frontier_links=True,
    frontier_attempts=2,
    frontier_redirects=7,
    readability=True,
    sitemaps=True,
    feed_discovery=True,
    parsers=("mine.py", "a folder/yours.py"),
    parser="article",
    parse_processes=0,
    parse_timeout=2.5,
    scheduler=False,
    max_runs=7,
    poll=1.5,
    schedule_lease=60.5,
    run_timeout=90.25,
    rhythms="database",
    cleanup=60.0,
    max_requests=9,
    max_redirects=3,
    page_retries=1,
    vary_user_agent=True,
    allowed_domains=("a.example", "b.example"),
    disallowed_domains=("c.example",),
    sources_url="https://sources.example/api/v1/sources",
    user_agent="bot/1 (+me)",
    respect_robots=False,
    politeness="domain",
    delay=0.25,
    random_delay=0.75,
    host_concurrency=2,
    request_timeout=90.5,
    connect_timeout=0.5,
    idle_timeout=7.0,
    max_body=1234567,
    max_retries=0,
    egress_allow=("10.0.0.0/8", "fd00::/8"),
    proxies=("socks5://me:hunter2@p:1", "http://q:2"),
    probe_url="http://probe.example/",
    ca_file="issuers.pem",
    bot_auth="required",
    bot_reclaim=False,
    bot_domain_match="suffix",
    log_level="debug",
    log_format="json",
    run_logs=False,
    run_log_streams=False,
    run_log_archive=False,
    run_log_verbosity="quiet",
    run_log_level="warn",
    run_log_rate=9,
    run_log_buffer=7,
    run_log_milestone=8,
    run_log_ttl=60.0,
    run_log_retention=86400.5,
    run_log_objects="s3://l?access_key_id=me&secret_access_key=hunter2",
    run_log_mirror="mirror",
    source_events=True,
    save_links=True,
)


def test_a_child_reads_exactly_what_we_have():
    defaults = Settings()
    assert not [name for name in KEYS if getattr(CHANGED, name) == getattr(defaults, name)], "change this one as well"
    assert load(environ=environment(CHANGED)).settings == CHANGED


def test_defaults_are_handed_over_as_well():
    settings = Settings()
    loaded = load(environ={**environment(settings), "CRAWLER_DELAY": "9s", "POSTGRES_CRAWLER_HOST": "elsewhere"})
    assert loaded.settings == settings
