-- Ended runs of schedules: lists and sums.

-- name: run_by_uid
SELECT u.*, l.key AS log_key, l.bytes AS log_bytes, l.kept AS log_lines
FROM runs_now u LEFT JOIN logs l ON l.run_id = u.id AND l.key IS NOT NULL WHERE u.uid = :uid;

-- name: runs_of_schedule
SELECT u.*, l.key AS log_key, l.bytes AS log_bytes, l.kept AS log_lines
FROM runs_now u LEFT JOIN logs l ON l.run_id = u.id AND l.key IS NOT NULL
WHERE u.schedule_id = :schedule_id AND u.number IS NOT NULL ORDER BY u.number DESC LIMIT :limit OFFSET :offset;

-- name: record_of_schedule
SELECT COUNT(*) AS total, COUNT(CASE WHEN state = 'completed' THEN 1 END) AS completed,
       COUNT(CASE WHEN state = 'failed' THEN 1 END) AS failed, COUNT(CASE WHEN state = 'cancelled' THEN 1 END) AS cancelled,
       CAST(AVG(ended_at - started_at) AS DOUBLE PRECISION) AS average_ms, MAX(started_at) AS last_at
FROM runs WHERE schedule_id = :schedule_id AND number IS NOT NULL;

-- name: record_of_all
SELECT CAST(COALESCE(SUM(runs), 0) AS BIGINT) AS total,
       CAST(COALESCE(SUM(CASE WHEN state = 'completed' THEN runs END), 0) AS BIGINT) AS completed,
       CAST(COALESCE(SUM(CASE WHEN state = 'failed' THEN runs END), 0) AS BIGINT) AS failed,
       CAST(COALESCE(SUM(CASE WHEN state = 'cancelled' THEN runs END), 0) AS BIGINT) AS cancelled,
       CAST(SUM(duration_ms) AS DOUBLE PRECISION) / NULLIF(SUM(timed), 0) AS average_ms,
       (SELECT MAX(started_at) FROM runs WHERE number IS NOT NULL) AS last_at
FROM (
    SELECT state, runs, timed, duration_ms FROM run_totals WHERE scheduled
    UNION ALL SELECT 'open', COUNT(*), 0, 0 FROM runs WHERE state IN ('queued', 'running') AND number IS NOT NULL
) s;

-- name: brought_since
SELECT CAST(COALESCE(SUM(c.completed), 0) AS BIGINT) AS crawled, CAST(COALESCE(SUM(c.indexed), 0) AS BIGINT) AS indexed
FROM runs u JOIN run_counts c ON c.run_id = u.id
WHERE u.state = 'completed' AND u.number IS NOT NULL AND u.started_at >= :since;

-- name: unschedule_runs
-- The pages and items of a run are kept: it goes on as a run of its own, which no history of a schedule lists.
UPDATE runs SET schedule_id = NULL, number = NULL, due = NULL /*rows FROM r(id bigint) */ WHERE runs.id = r.id
RETURNING runs.id;

-- name: first_tasks
SELECT t.run_id, t.url, t.state, t.reason, t.error FROM tasks t /*rows , r(run_id bigint) */
WHERE t.id = (SELECT MIN(m.id) FROM tasks m WHERE m.run_id = r.run_id);

-- name: start_pages
SELECT t.run_id, t.url, p.digest FROM tasks t JOIN pages p ON p.task_id = t.id /*rows , r(run_id bigint) */
WHERE t.run_id = r.run_id AND t.depth = 0 ORDER BY t.id;

-- name: fate_sums
SELECT f.run_id, f.fate, f.reason, f.count FROM fates f /*rows , r(run_id bigint) */
WHERE f.run_id = r.run_id AND f.count > 0;

-- name: item_sums
SELECT u.id AS run_id, c.indexed AS items, c.untitled, c.bodiless, u.state, c.admitted, c.completed
FROM runs u JOIN run_counts c ON c.run_id = u.id /*rows , r(run_id bigint) */
WHERE u.id = r.run_id;

-- name: note_runs
UPDATE runs SET figures = COALESCE(r.figures, runs.figures), stack = COALESCE(r.stack, runs.stack)
/*rows FROM r(id bigint, figures text, stack text) */
WHERE runs.id = r.id;

-- name: ended_runs
SELECT u.id FROM runs u /*rows , r(id bigint) */ WHERE u.id = r.id AND u.state IN ('completed', 'failed', 'cancelled');

-- name: age_logs
-- A log goes with its run: it is as old as can be, and forgotten with the other old ones.
UPDATE logs SET beat_at = 0 /*rows FROM r(run_id bigint) */ WHERE logs.run_id = r.run_id;
