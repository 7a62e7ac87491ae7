"""The contents of a large platform, written by SQL: tasks, runs, and lists of all other subjects that pages show.

The contents are at rest: no row is due within two hours, no worker is alive, and every event has its place. A program
that runs on them is idle.
"""

import asyncpg

REST_MS = 2 * 3_600_000

FILL = """
INSERT INTO sources (id, name, slug, base_url, uid, created_at, updated_at, failures)
    SELECT n, 'Source ' || n, 'source-' || n, 'https://h' || n || '.example/', 'source' || n, 0, 0, n % 50 / 49
    FROM generate_series(1, {lists}) n;
INSERT INTO schedules (id, uid, source_id, source_ref, source_name, url, state, interval_ms, every, unit,
        enabled, next_due,
                       created_at, updated_at, runs_made)
    SELECT n, 'schedule' || n, n, 'source' || n, 'Source ' || n, 'https://h' || n || '.example/', 'scheduled',
           21600000, 6, 'hours', TRUE, {rest} + n * 2000, 0, 0, 10 FROM generate_series(1, {lists}) n;
INSERT INTO runs (id, uid, kind, state, plan, seed, source_id, schedule_id, number, created_at, updated_at,
        started_at, ended_at)
    SELECT n, 'run' || n, CASE WHEN n % 4 = 0 THEN 'manifest' WHEN n % 4 = 1 THEN 'series' ELSE 'crawl' END,
           CASE WHEN n > {runs} - 20 THEN 'running' WHEN n % 20 = 0 THEN 'failed' ELSE 'completed' END, '{{}}',
           'https://h' || n % {lists} + 1 || '.example/', n % {lists} + 1,
           CASE WHEN n % 4 > 1 THEN n % {lists} + 1 END, CASE WHEN n % 4 > 1 THEN n END, {now} - n * 1000,
           {now}, {now} - n * 900, CASE WHEN n <= {runs} - 20 THEN {now} - n * 800 END
    FROM generate_series(1, {runs}) n;
INSERT INTO run_counts (run_id, admitted, open, completed) SELECT id, {tasks} / {runs}, 0, {tasks} / {runs} FROM runs;
INSERT INTO fates (run_id, fate, reason, count) SELECT id, 'completed', 'ok', {tasks} / {runs} FROM runs;
INSERT INTO manifests (run_id, kind, tenant, origin, metadata_key, resources, total, attributes, trace_id, bytes)
    SELECT id, 'files', 't', 'api', 'key ' || id, 10, 10, '{{}}', '', 100 FROM runs WHERE kind = 'manifest';
INSERT INTO series (id, title, slug, status, facts, created_at, updated_at)
    SELECT 'series' || n, 'Title ' || n, 'title-' || n, 'ongoing', '{{}}', n, n FROM generate_series(1, {lists}) n;
INSERT INTO targets (series_id, source_id, external_id, url, active, tried_at, created_at, updated_at)
    SELECT 'series' || n, n, 'e' || n, 'https://h' || n || '.example/s', TRUE, 0, 0, 0 FROM generate_series(1,
        {lists}) n;
INSERT INTO series_runs (run_id, source_id, series_id)
    SELECT id, source_id, 'series' || source_id FROM runs WHERE kind = 'series';
INSERT INTO hosts (id, host, delay_ms, concurrency)
    SELECT n, 'h' || n || '.example', 1000, 1 FROM generate_series(1, {lists}) n;
INSERT INTO workers (id, name, roles, mark, started_at, seen_at) SELECT n, 'w' || n, 'fetch', '', 0,
        {now} FROM generate_series(1, 20) n;
INSERT INTO line (host_id, wake_at, owner, token)
    SELECT n, {rest} + n, CASE WHEN n % 100 = 0 THEN n / 100 % 20 + 1 END, 1 FROM generate_series(1, {lists}) n;
INSERT INTO tasks (id, scope, host_id, key, run_id, executor, state, priority, due, depth, created_at, finished_at, url)
    SELECT n, n % {runs} + 1, n % {lists} + 1, sha256(n::text::bytea), n % {runs} + 1,
           CASE WHEN n % 10 = 9 THEN 'bot' ELSE 'fetch' END,

                  CASE WHEN n % 10 < 2 THEN 'pending' WHEN n % 50 = 9 THEN 'pending'
                WHEN n % 10 = 2 THEN 'failed' ELSE 'completed' END,
           500, {rest}, 1, {now}, {now}, 'https://h' || (n % {lists} + 1) || '.example/page/' || n
    FROM generate_series(1, {tasks}) n;
INSERT INTO queue (host_id, due, priority, run_id, id)
    SELECT host_id, due, priority, run_id, id FROM tasks WHERE state = 'pending' AND executor = 'fetch';
INSERT INTO bots (id, name, created_at, updated_at) SELECT n, 'bot' || n, 0, 0 FROM generate_series(1, {lists} / 100) n;
INSERT INTO schedules (id, uid, url, state, kind, interval_ms, created_at, updated_at)
    SELECT {lists} + n, 'policy' || n, 'u' || n, 'scheduled', 'bot', 1000, 0, 0 FROM generate_series(1, {lists}) n;
INSERT INTO bot_schedules (schedule_id, url, priority, max_retries, backoff_ms, lease_ms, next_due)
    SELECT {lists} + n, 'u' || n, 500, 3, 1, 1, {rest} + n FROM generate_series(1, {lists}) n;
INSERT INTO bot_tasks (task_id, max_retries, lease_ms, held_ms, updated_at)
    SELECT id, 3, 1, 1, 0 FROM tasks WHERE executor = 'bot';
INSERT INTO bot_results (task_id, uid, price, currency, title, in_stock, data, crawled_at, created_at)
    SELECT task_id, 'result' || task_id, 1, 'USD', 'Title', TRUE, '{{}}', {now}, {now} FROM bot_tasks;
INSERT INTO offers (id, executor, host_id, due, priority)
    SELECT id, 'bot', host_id, 0, priority FROM tasks WHERE executor = 'bot' AND state = 'pending';
INSERT INTO items (id, source_id, key, hash, kind, run_id, task_id, created_at, updated_at, url, title, fields, body)
    SELECT id, run_id % {lists} + 1, int8send(id), '', 'product', run_id, id, {now}, {now}, url,
        'Title ' || id, '{{}}', 'text'
    FROM tasks WHERE id % 10 = 3;
INSERT INTO texts (item_id, length, title_words, words)
    SELECT id, 2, '', to_tsvector('simple', 'text word' || id % 5000) FROM items;
INSERT INTO dead_letters (run_id, run_uid, task_id, resource_id, url, kind, tenant, reason, attempts, host, failed_at)
    SELECT run_id, 'run' || run_id, id, 'r' || id, url, 'files', 't', 'http_5xx', 3, 'h' || host_id || '.example', {now}
    FROM tasks WHERE state = 'failed' AND id % 100 = 12;
INSERT INTO proxies (id, scheme, host, port, created_at, updated_at)
    SELECT n, 'http', 'p' || n || '.example', 8080, 0, 0 FROM generate_series(1, {lists} / 10) n;
INSERT INTO source_proxies (source_id, proxy_id, created_at, updated_at)
    SELECT s, p, 0, 0 FROM generate_series(1, 100) s, generate_series(1, {lists} / 10) p;
INSERT INTO audit (uid, at, subject, name, role, kind, tenant, door, action, noun, thing, address)
    SELECT 'audit' || n, {now}, 'me', 'me', 'admin', 'person', '', 'console', 'source.change', 'source',
        n::text, '127.0.0.1'
    FROM generate_series(1, {runs}) n;
INSERT INTO events (at, noun, subject, move, actor, place)
    SELECT {now}, 'run', n, 'start', 'scheduler', n FROM generate_series(1, {runs}) n;
UPDATE places SET last = {runs} WHERE noun = 'event';
"""


async def fill(url: str, now: int, tasks: int, runs: int, lists: int) -> None:
    """Write so many tasks and runs, and so many sources, schedules, series and policies, into empty tables."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(FILL.format(now=now, rest=now + REST_MS, tasks=tasks, runs=runs, lists=lists))
        await connection.execute("VACUUM ANALYZE")
    finally:
        await connection.close()


def page_paths(runs: int) -> tuple[str, ...]:
    """Return the addresses of all pages, each of an existing object."""
    run = runs - 1
    return (
        *("/console", "/console/runs", "/console/runs?state=failed", f"/console/runs/{run}", "/console/runs/1"),
        *("/console/tasks", f"/console/tasks?run={run}", f"/console/tasks?run={run}&state=failed", "/console/tasks/5"),
        *("/console/schedules", "/console/schedules?text=Source+99", "/console/schedules/schedule9"),
        *("/console/sources", "/console/sources?text=99", "/console/sources?show=failing", "/console/sources/9"),
        *("/console/hosts", "/console/hosts?show=held", "/console/hosts?text=h9", "/console/hosts/h9.example"),
        *("/console/workers", "/console/workers/3", "/console/proxies", "/console/proxies/3"),
        *("/console/items", "/console/items?text=word77", "/console/items/3"),
        *("/console/catalogue", "/console/catalogue?text=99", "/console/catalogue/series9"),
        *(
            "/console/manifests",
            "/console/manifests/run4",
            "/console/dead-letters",
            "/console/dead-letters?waiting=true",
        ),
        *("/console/bots", "/console/policies", "/console/results", "/console/alerts"),
        *("/console/audit", "/console/audit/audit7", "/console/keys", "/console/settings", "/console/sessions"),
    )
