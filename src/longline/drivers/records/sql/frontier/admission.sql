-- Admission of URLs: hosts, tasks, and the limits of runs and sources.

-- name: add_hosts
INSERT INTO hosts (host, delay_ms, concurrency)
SELECT r.host, r.delay_ms, r.concurrency /*rows FROM r(host text, delay_ms bigint, concurrency bigint) */
WHERE TRUE
ON CONFLICT (host) DO NOTHING;

-- name: add_lines
INSERT INTO line (host_id)
SELECT h.id FROM hosts h /*rows , r(host text) */ WHERE h.host = r.host
ON CONFLICT (host_id) DO NOTHING;

-- name: host_ids
SELECT h.id, h.host FROM hosts h /*rows , r(host text) */ WHERE h.host = r.host;

-- name: admit_tasks
/*pg WITH fresh AS ( */
INSERT INTO tasks (scope, host_id, key, run_id, executor, state, priority, due, depth, parent_id, created_at, url, hops, max_attempts, credentials)
SELECT r.scope, r.host_id, r.key, r.run_id, r.executor, :state, r.priority, r.due, r.depth, r.parent_id, :now, r.url, r.hops, r.max_attempts, r.credentials
/*rows FROM r(scope bigint, host_id bigint, key bytea, run_id bigint, executor text, priority bigint, due bigint, depth bigint, parent_id bigint, url text, hops bigint, max_attempts bigint, credentials text) */
WHERE NOT EXISTS (SELECT 1 FROM tasks t WHERE t.scope = r.scope AND t.host_id = r.host_id AND t.key = r.key)
/*pg ORDER BY r.scope, r.host_id, r.key */
ON CONFLICT (scope, host_id, key) DO NOTHING
RETURNING id, host_id, run_id, executor, due, priority
/*pg ), queued AS (
    INSERT INTO queue (host_id, due, priority, run_id, id)
    SELECT host_id, due, priority, run_id, id FROM fresh WHERE executor = 'fetch'
), offered AS (
    INSERT INTO offers (id, executor, host_id, due, priority)
    SELECT id, executor, host_id, due, priority FROM fresh WHERE executor <> 'fetch'
)
SELECT id, host_id, run_id, executor, due, priority FROM fresh */;

-- name: known_tasks
SELECT t.scope, t.host_id, t.key FROM tasks t /*rows , r(scope bigint, host_id bigint, key bytea) */
WHERE t.scope = r.scope AND t.host_id = r.host_id AND t.key = r.key;

-- name: away_tasks
SELECT t.scope, t.home_id AS host_id, t.key FROM tasks t /*rows , r(scope bigint, host_id bigint, key bytea) */
WHERE t.scope = r.scope AND t.home_id = r.host_id AND t.home_id IS NOT NULL AND t.key = r.key;

-- name: queue_tasks
INSERT INTO queue (host_id, due, priority, run_id, id, attempt)
SELECT r.host_id, r.due, r.priority, r.run_id, r.id, r.attempt
/*rows FROM r(host_id bigint, due bigint, priority bigint, run_id bigint, id bigint, attempt bigint) */
WHERE TRUE;

-- name: run_limits
SELECT u.id, u.state, u.budget, c.admitted, u.source_id, s.budget AS source_budget
FROM runs u JOIN run_counts c ON c.run_id = u.id LEFT JOIN sources s ON s.id = u.source_id /*rows , r(id bigint) */ WHERE u.id = r.id;

-- name: lock_sources
SELECT s.id, s.budget, s.admitted FROM sources s /*rows , r(id bigint) */
WHERE s.id = r.id /*pg ORDER BY s.id FOR NO KEY UPDATE OF s */;

-- name: spend_sources
UPDATE sources SET admitted = sources.admitted + r.count /*rows FROM r(id bigint, count bigint) */ WHERE sources.id = r.id;
