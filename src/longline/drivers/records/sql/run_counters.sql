-- Counters, outcomes and events of runs: written with a move, in the same transaction.

-- name: lock_runs
SELECT u.id, u.state, u.budget, u.admitted, u.source_id FROM runs u /*rows , r(id bigint) */
WHERE u.id = r.id /*pg ORDER BY u.id FOR NO KEY UPDATE OF u */;

-- name: count_runs
UPDATE runs SET admitted = runs.admitted + r.admitted, open = runs.open + r.open,
    completed = runs.completed + r.completed, failed = runs.failed + r.failed,
    cancelled = runs.cancelled + r.cancelled, skipped = runs.skipped + r.skipped,
    indexed = runs.indexed + r.indexed, untitled = runs.untitled + r.untitled, bodiless = runs.bodiless + r.bodiless,
    cpu_ms = COALESCE(runs.cpu_ms, 0) + r.cpu_ms, last_item = runs.last_item + r.last_item,
    memory_mb = CASE WHEN r.memory_mb > COALESCE(runs.memory_mb, 0) THEN r.memory_mb ELSE runs.memory_mb END
/*rows FROM r(id bigint, admitted bigint, open bigint, completed bigint, failed bigint, cancelled bigint, skipped bigint, indexed bigint, untitled bigint, bodiless bigint, cpu_ms bigint, last_item bigint, memory_mb bigint) */
WHERE runs.id = r.id
RETURNING runs.id, runs.admitted, runs.open, runs.state, runs.completed, runs.schedule_id, runs.last_item;

-- name: end_run
UPDATE runs SET state = :became, ended_at = :now, owner = NULL, token = token + 1, lease_until = NULL,
    error = COALESCE(CAST(:error AS TEXT), error)
WHERE id = :id AND state = :was AND open = 0
RETURNING id;

-- name: schedule_of_run
SELECT id FROM schedules WHERE id = :id AND run_id = :run_id AND state = 'running';

-- name: start_of_run
SELECT t.id, t.url, t.state, t.reason, t.error, p.body_bytes = 0 AND p.body_of IS NULL AS empty
FROM tasks t LEFT JOIN pages p ON p.task_id = t.id
WHERE t.id = (SELECT MIN(m.id) FROM tasks m WHERE m.run_id = :run_id);

-- name: redirect_target
SELECT t.id, t.url, t.state, t.reason, t.error, p.body_bytes = 0 AND p.body_of IS NULL AS empty
FROM tasks t LEFT JOIN pages p ON p.task_id = t.id
WHERE t.parent_id = :id AND t.hops > 0 ORDER BY t.id LIMIT 1;

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

-- name: count_standing
INSERT INTO standing_counts (run_id, rest, count)
SELECT r.run_id, r.rest, r.count /*rows FROM r(run_id bigint, rest text, count bigint) */
WHERE TRUE
ON CONFLICT (run_id, rest) DO UPDATE SET count = standing_counts.count + excluded.count;
