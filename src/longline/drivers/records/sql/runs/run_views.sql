-- Runs as pages show them.

-- part: run_view
u.id, u.uid, u.kind, u.state, SUBSTR(u.seed, 1, 2000) AS seed, u.source_id, s.name AS source, u.schedule_id,
c2.uid AS schedule, u.budget, u.standing, u.number, u.error, u.created_at, u.started_at, u.ended_at, u.owner,
w.name AS worker, c.admitted, c.open, c.completed, c.failed, c.cancelled, c.skipped, c.items

-- part: run_view_of
JOIN run_counts c ON c.run_id = u.id LEFT JOIN sources s ON s.id = u.source_id
LEFT JOIN schedules c2 ON c2.id = u.schedule_id LEFT JOIN workers w ON w.id = u.owner

-- part: run_choice
u.deleted_at IS NULL AND (CAST(:state AS TEXT) IS NULL OR u.state = :state) AND (CAST(:kind AS TEXT) IS NULL OR u.kind = :kind)
AND (CAST(:source_id AS BIGINT) IS NULL OR u.source_id = :source_id)
AND (CAST(:schedule_id AS BIGINT) IS NULL OR u.schedule_id = :schedule_id)

-- name: run_views
SELECT /*part run_view */ FROM runs u /*part run_view_of */
WHERE u.id < :before AND /*part run_choice */ ORDER BY u.id DESC LIMIT :limit;

-- name: newer_run_views
SELECT /*part run_view */ FROM runs u /*part run_view_of */
WHERE u.id > :after AND /*part run_choice */ ORDER BY u.id LIMIT :limit;

-- name: search_run_views
-- Among the newest runs before the last one shown: a text has no index.
SELECT /*part run_view */ FROM (
    SELECT * FROM runs WHERE id < :before ORDER BY id DESC LIMIT :window
) u /*part run_view_of */
WHERE /*part run_choice */
  AND (LOWER(u.seed) LIKE LOWER(:pattern) ESCAPE '\' OR LOWER(s.name) LIKE LOWER(:pattern) ESCAPE '\')
ORDER BY u.id DESC LIMIT :limit;

-- name: open_run_views
SELECT /*part run_view */ FROM runs u /*part run_view_of */
WHERE u.state IN ('queued', 'running') AND u.state = :state AND u.deleted_at IS NULL ORDER BY u.id DESC LIMIT :limit;

-- name: run_view
SELECT /*part run_view */ FROM runs u /*part run_view_of */ WHERE u.id = :id AND u.deleted_at IS NULL;

-- name: run_views_among
SELECT /*part run_view */ /*all rows FROM r(id bigint) */ JOIN runs u ON u.id = r.id /*part run_view_of */
WHERE u.deleted_at IS NULL;

-- name: host_tasks
SELECT (SELECT h.host FROM hosts h WHERE h.id = c.host_id) AS host, c.state, c.reason, c.count FROM (
    SELECT t.host_id, t.state, t.reason, COUNT(*) AS count FROM (
        SELECT host_id, state, reason FROM tasks WHERE run_id = :run_id ORDER BY id DESC LIMIT :window
    ) t GROUP BY t.host_id, t.state, t.reason ORDER BY count DESC, t.host_id, t.state LIMIT :limit
) c;

-- name: run_pace
SELECT (finished_at - CAST(:begin AS BIGINT)) / CAST(:step AS BIGINT) AS step,
       CAST(SUM(CASE WHEN state = 'completed' THEN 1 ELSE 0 END) AS BIGINT) AS pages,
       CAST(SUM(CASE WHEN state = 'failed' THEN 1 ELSE 0 END) AS BIGINT) AS failures
FROM tasks WHERE run_id = :run_id AND state IN ('completed', 'failed') AND finished_at IS NOT NULL
GROUP BY 1 ORDER BY 1;

-- name: failed_tasks_of_run
SELECT id FROM tasks WHERE run_id = :run_id AND id > :after AND state = 'failed' ORDER BY id LIMIT :limit;

-- name: request_sums_of_run
SELECT reason, status, CAST(SUM(count) AS BIGINT) AS count, CAST(SUM(bytes) AS BIGINT) AS bytes, CAST(SUM(ms) AS BIGINT) AS ms,
       MIN(least_ms) AS least_ms, MAX(most_ms) AS most_ms
FROM requests WHERE run_id = :run_id GROUP BY reason, status ORDER BY count DESC, reason, status;
