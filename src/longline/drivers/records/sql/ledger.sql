-- Counters, fates, events and pages: what a move writes besides the state, in the same transaction.

-- name: lock_runs
SELECT u.id, u.state, u.budget, u.admitted, u.source_id FROM runs u /*rows , r(id bigint) */
WHERE u.id = r.id /*pg ORDER BY u.id FOR NO KEY UPDATE OF u */;

-- name: run_limits
SELECT u.id, u.state, u.budget, u.admitted, u.source_id, s.budget AS source_budget
FROM runs u LEFT JOIN sources s ON s.id = u.source_id /*rows , r(id bigint) */ WHERE u.id = r.id;

-- name: lock_sources
SELECT s.id, s.budget, s.admitted FROM sources s /*rows , r(id bigint) */
WHERE s.id = r.id /*pg ORDER BY s.id FOR NO KEY UPDATE OF s */;

-- name: spend_sources
UPDATE sources SET admitted = sources.admitted + r.count /*rows FROM r(id bigint, count bigint) */ WHERE sources.id = r.id;

-- name: count_runs
UPDATE runs SET admitted = runs.admitted + r.admitted, open = runs.open + r.open,
    completed = runs.completed + r.completed, failed = runs.failed + r.failed,
    cancelled = runs.cancelled + r.cancelled, skipped = runs.skipped + r.skipped,
    indexed = runs.indexed + r.indexed, untitled = runs.untitled + r.untitled, bodiless = runs.bodiless + r.bodiless,
    cpu_ms = COALESCE(runs.cpu_ms, 0) + r.cpu_ms,
    memory_mb = CASE WHEN r.memory_mb > COALESCE(runs.memory_mb, 0) THEN r.memory_mb ELSE runs.memory_mb END
/*rows FROM r(id bigint, admitted bigint, open bigint, completed bigint, failed bigint, cancelled bigint, skipped bigint, indexed bigint, untitled bigint, bodiless bigint, cpu_ms bigint, memory_mb bigint) */
WHERE runs.id = r.id
RETURNING runs.id, runs.open, runs.state, runs.completed, runs.schedule_id;

-- name: end_run
UPDATE runs SET state = :became, ended_at = :now, owner = NULL, token = token + 1, lease_until = NULL,
    error = COALESCE(CAST(:error AS TEXT), error)
WHERE id = :id AND state = :was AND open = 0
RETURNING id;

-- name: start_of_run
SELECT id, url, state, reason, error FROM tasks WHERE id = (SELECT MIN(id) FROM tasks WHERE run_id = :run_id);

-- name: redirect_target
SELECT id, url, state, reason, error FROM tasks WHERE parent_id = :id AND hops > 0 ORDER BY id LIMIT 1;

-- name: first_page_of_run
SELECT t.id FROM tasks t JOIN pages p ON p.task_id = t.id WHERE t.run_id = :run_id AND t.depth = 0 ORDER BY t.id LIMIT 1;

-- name: count_fates
INSERT INTO fates (run_id, fate, reason, count)
SELECT r.run_id, r.fate, r.reason, r.count /*rows FROM r(run_id bigint, fate text, reason text, count bigint) */
WHERE TRUE
ON CONFLICT (run_id, fate, reason) DO UPDATE SET count = fates.count + excluded.count;

-- name: add_events
INSERT INTO events (at, noun, subject, move, was, became, actor, reason, moves)
SELECT :now, r.noun, r.subject, r.move, r.was, r.became, r.actor, r.reason, r.moves
/*rows FROM r(noun text, subject bigint, move text, was text, became text, actor text, reason text, moves text) */
WHERE TRUE;

-- name: add_pages
INSERT INTO pages (task_id, segment_id, start, length, digest, status, content_type, body_bytes, fetched_at, fetch_ms, url, title, etag, last_modified, body_of)
SELECT r.task_id, :segment_id, r.start, r.length, r.digest, r.status, r.content_type, r.body_bytes, r.fetched_at, r.fetch_ms, r.url, r.title, r.etag, r.last_modified, r.body_of
/*rows FROM r(task_id bigint, start bigint, length bigint, digest text, status bigint, content_type text, body_bytes bigint, fetched_at bigint, fetch_ms bigint, url text, title text, etag text, last_modified text, body_of bigint) */
WHERE TRUE
ON CONFLICT (task_id) DO UPDATE SET segment_id = excluded.segment_id, start = excluded.start,
    length = excluded.length, digest = excluded.digest, status = excluded.status,
    content_type = excluded.content_type, body_bytes = excluded.body_bytes, fetched_at = excluded.fetched_at,
    fetch_ms = excluded.fetch_ms, url = excluded.url, title = excluded.title, etag = excluded.etag,
    last_modified = excluded.last_modified, body_of = excluded.body_of;

-- name: remember_visits
INSERT INTO visits (host_id, key, task_id, digest, fetched_at, etag, last_modified)
SELECT /*pg DISTINCT ON (t.host_id, t.key) */ t.host_id, t.key, r.body, r.digest, r.fetched_at, r.etag, r.last_modified
FROM tasks t /*rows , r(id bigint, body bigint, digest text, fetched_at bigint, etag text, last_modified text) */ WHERE t.id = r.id
ON CONFLICT (host_id, key) DO UPDATE SET task_id = excluded.task_id, digest = excluded.digest,
    fetched_at = excluded.fetched_at, etag = excluded.etag, last_modified = excluded.last_modified;

-- name: add_redirects
INSERT INTO redirects (task_id, number, segment_id, start, length, digest, status, fetched_at, url)
SELECT r.task_id, r.number, :segment_id, r.start, r.length, r.digest, r.status, r.fetched_at, r.url
/*rows FROM r(task_id bigint, number bigint, start bigint, length bigint, digest text, status bigint, fetched_at bigint, url text) */
WHERE TRUE
ON CONFLICT (task_id, number) DO UPDATE SET segment_id = excluded.segment_id, start = excluded.start,
    length = excluded.length, digest = excluded.digest, status = excluded.status, fetched_at = excluded.fetched_at,
    url = excluded.url;

-- name: title_pages
UPDATE pages SET title = r.title /*rows FROM r(task_id bigint, title text) */ WHERE pages.task_id = r.task_id;

-- name: store_segment
UPDATE segments SET state = 'stored', records = :records, bytes = :bytes
WHERE id = :id AND state = 'writing'
RETURNING id;

-- name: find_events
SELECT place AS id, at, noun, subject, move, was, became, actor, reason, CASE WHEN :listed = 1 THEN moves END AS moves
FROM events WHERE place > :after ORDER BY place LIMIT :limit;

-- name: unplaced_event
SELECT id FROM events WHERE place IS NULL LIMIT 1;

-- name: last_place
SELECT last FROM places WHERE noun = 'event' /*pg FOR UPDATE */;

-- name: place_events
-- What is there by now is all that was committed; of one subject, the earlier has the smaller id.
UPDATE events SET place = fresh.place FROM (
    SELECT id, CAST(:last AS BIGINT) + ROW_NUMBER() OVER (ORDER BY id) AS place
    FROM (SELECT id FROM events WHERE place IS NULL ORDER BY id LIMIT :limit) unplaced
) fresh WHERE events.id = fresh.id
RETURNING events.id;

-- name: move_places
UPDATE places SET last = :last WHERE noun = 'event';
