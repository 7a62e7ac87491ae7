-- Reports of workers: outcomes of tasks, released hosts, pages and segments, in one transaction.

-- name: unqueue_tasks
-- Deleting the marked row is the second gate: a task that was paused, cancelled or restarted meanwhile is not there.
DELETE FROM queue /*rows USING r(host_id bigint, due bigint, priority bigint, run_id bigint, id bigint, token bigint) */
WHERE queue.host_id = r.host_id AND queue.due = r.due AND queue.priority = r.priority AND queue.run_id = r.run_id
  AND queue.id = r.id AND queue.token = r.token
RETURNING queue.id;

-- name: unmark_tasks
UPDATE queue SET token = 0, claims = queue.claims - 1
/*rows FROM r(host_id bigint, due bigint, priority bigint, run_id bigint, id bigint, token bigint) */
WHERE queue.host_id = r.host_id AND queue.due = r.due AND queue.priority = r.priority AND queue.run_id = r.run_id
  AND queue.id = r.id AND queue.token = r.token;

-- name: rest_tasks
UPDATE tasks SET state = r.became, reason = r.reason, error = r.error, status = COALESCE(r.status, tasks.status),
    attempt = r.attempt, due = r.due, executor = r.executor, finished_at = r.finished_at,
    priority = COALESCE(tasks.next_priority, tasks.priority), next_priority = NULL,
    proxy_id = CASE WHEN r.began_at IS NULL THEN tasks.proxy_id ELSE r.proxy_id END,
    -- An attempt that goes on at another host began at home.
    began_at = CASE WHEN r.began_at IS NULL OR tasks.home_id IS NOT NULL THEN tasks.began_at ELSE r.began_at END
/*rows FROM r(id bigint, was text, became text, reason text, error text, status bigint, attempt bigint, due bigint, executor text, finished_at bigint, proxy_id bigint, began_at bigint) */
WHERE tasks.id = r.id AND tasks.state = r.was
RETURNING tasks.id, tasks.priority;

-- name: move_tasks_away
UPDATE tasks SET host_id = r.host_id, target = r.url, hops = r.hops, home_id = COALESCE(tasks.home_id, tasks.host_id)
/*rows FROM r(id bigint, host_id bigint, url text, hops bigint) */
WHERE tasks.id = r.id;

-- name: bring_tasks_home
UPDATE tasks SET host_id = tasks.home_id, home_id = NULL, target = NULL, hops = 0 /*rows FROM r(id bigint) */
WHERE tasks.id = r.id AND tasks.home_id IS NOT NULL;

-- name: rename_tasks
UPDATE tasks SET url = r.url, key = r.key /*rows FROM r(id bigint, url text, key bytea) */
WHERE tasks.id = r.id AND NOT EXISTS (
    SELECT 1 FROM tasks o WHERE o.scope = tasks.scope AND o.host_id = tasks.host_id AND o.key = r.key);

-- name: release_lines
-- A host whose only work is of runs under a hold sleeps until a hold ends.
UPDATE line SET owner = NULL, token = line.token + 1,
    not_before = /*pg GREATEST */ /*lite MAX */ (line.not_before, r.not_before),
    wake_at = (SELECT /*pg GREATEST */ /*lite MAX */ (:now, line.not_before, r.not_before, q.due)
               FROM queue q WHERE q.host_id = r.host_id
                 AND q.run_id NOT IN (SELECT d.run_id FROM holds d WHERE d.since <= :now AND d.until > :now)
               ORDER BY q.due LIMIT 1),
    -- A host without any task is one like all others.
    downloads = line.downloads AND (SELECT q.id FROM queue q WHERE q.host_id = r.host_id ORDER BY q.due LIMIT 1) IS NOT NULL
/*rows FROM r(host_id bigint, not_before bigint) */
WHERE line.host_id = r.host_id;

-- name: pace_hosts
-- Whoever holds a host says how polite one is to it.
UPDATE hosts SET delay_ms = r.delay_ms, pace_until = r.pace_until, concurrency = r.concurrency
/*rows FROM r(host_id bigint, delay_ms bigint, pace_until bigint, concurrency bigint) */
WHERE hosts.id = r.host_id;

-- name: hold_lines
-- What a host asked for outlives the worker that goes on holding it.
UPDATE line SET not_before = r.not_before /*rows FROM r(host_id bigint, not_before bigint) */
WHERE line.host_id = r.host_id AND line.not_before < r.not_before;

-- name: add_pages
INSERT INTO pages (task_id, segment_id, start, length, digest, status, content_type, body_bytes, fetched_at, fetch_ms, url, title, etag, last_modified, body_of, items)
SELECT r.task_id, :segment_id, r.start, r.length, r.digest, r.status, r.content_type, r.body_bytes, r.fetched_at, r.fetch_ms, r.url, r.title, r.etag, r.last_modified, r.body_of, r.items
/*rows FROM r(task_id bigint, start bigint, length bigint, digest text, status bigint, content_type text, body_bytes bigint, fetched_at bigint, fetch_ms bigint, url text, title text, etag text, last_modified text, body_of bigint, items text) */
WHERE TRUE
ON CONFLICT (task_id) DO UPDATE SET segment_id = excluded.segment_id, start = excluded.start,
    length = excluded.length, digest = excluded.digest, status = excluded.status,
    content_type = excluded.content_type, body_bytes = excluded.body_bytes, fetched_at = excluded.fetched_at,
    fetch_ms = excluded.fetch_ms, url = excluded.url, title = excluded.title, etag = excluded.etag,
    last_modified = excluded.last_modified, body_of = excluded.body_of, items = COALESCE(excluded.items, pages.items);

-- name: remember_visits
INSERT INTO visits (host_id, key, task_id, digest, fetched_at, etag, last_modified)
SELECT /*pg DISTINCT ON (t.host_id, t.key) */ t.host_id, t.key, r.body, r.digest, r.fetched_at, r.etag, r.last_modified
FROM tasks t /*rows , r(id bigint, body bigint, digest text, fetched_at bigint, etag text, last_modified text) */ WHERE t.id = r.id
ON CONFLICT (host_id, key) DO UPDATE SET task_id = excluded.task_id, digest = excluded.digest,
    fetched_at = excluded.fetched_at, etag = excluded.etag, last_modified = excluded.last_modified;

-- name: add_redirects
INSERT INTO redirects (task_id, number, segment_id, start, length, digest, status, fetched_at, url, target)
SELECT r.task_id, r.number, :segment_id, r.start, r.length, r.digest, r.status, r.fetched_at, r.url, r.target
/*rows FROM r(task_id bigint, number bigint, start bigint, length bigint, digest text, status bigint, fetched_at bigint, url text, target text) */
WHERE TRUE
ON CONFLICT (task_id, number) DO UPDATE SET segment_id = excluded.segment_id, start = excluded.start,
    length = excluded.length, digest = excluded.digest, status = excluded.status, fetched_at = excluded.fetched_at,
    url = excluded.url, target = excluded.target;

-- name: store_segment
UPDATE segments SET state = 'stored', records = :records, bytes = :bytes
WHERE id = :id AND state = 'writing'
RETURNING id;
