-- Counters, outcomes and events of runs: written with a move, in the same transaction.

-- name: lock_runs
-- State, budget and source are those from before a wait for the lock: a run that ended meanwhile is seen by `runs_to_settle`.
SELECT u.id, u.state, u.budget, u.source_id, c.admitted
FROM run_counts c JOIN runs u ON u.id = c.run_id /*rows , r(id bigint) */
WHERE c.run_id = r.id /*pg ORDER BY c.run_id FOR NO KEY UPDATE OF c */;

-- name: add_run_counts
INSERT INTO run_counts (run_id)
SELECT r.run_id /*rows FROM r(run_id bigint) */ WHERE TRUE;

-- name: count_runs
UPDATE run_counts SET admitted = run_counts.admitted + r.admitted, open = run_counts.open + r.open,
    completed = run_counts.completed + r.completed, failed = run_counts.failed + r.failed,
    cancelled = run_counts.cancelled + r.cancelled, skipped = run_counts.skipped + r.skipped,
    indexed = run_counts.indexed + r.indexed, untitled = run_counts.untitled + r.untitled,
    bodiless = run_counts.bodiless + r.bodiless, items = run_counts.items + r.items, last_item = run_counts.last_item + r.last_item,
    new_items = run_counts.new_items OR r.last_item > 0,
    cpu_ms = COALESCE(run_counts.cpu_ms, 0) + r.cpu_ms,
    memory_mb = CASE WHEN r.memory_mb > COALESCE(run_counts.memory_mb, 0) THEN r.memory_mb ELSE run_counts.memory_mb END,
    counted_at = :now
/*rows FROM r(id bigint, admitted bigint, open bigint, completed bigint, failed bigint, cancelled bigint, skipped bigint, indexed bigint, untitled bigint, bodiless bigint, items bigint, cpu_ms bigint, last_item bigint, memory_mb bigint) */
WHERE run_counts.run_id = r.id
RETURNING run_counts.run_id AS id, run_counts.open, run_counts.completed, run_counts.last_item;

-- name: runs_to_settle
-- After the lock on the counters: a state that was read with the lock may be older than the lock.
SELECT u.id, u.kind, u.state, u.schedule_id, u.number IS NOT NULL AS scheduled, c.admitted, c.open, c.completed
FROM runs u JOIN run_counts c ON c.run_id = u.id /*rows , r(id bigint) */ WHERE u.id = r.id ORDER BY u.id;

-- name: measure_runs
UPDATE run_counts SET cpu_ms = COALESCE(run_counts.cpu_ms, 0), memory_mb = COALESCE(run_counts.memory_mb, r.memory_mb)
/*rows FROM r(id bigint, memory_mb bigint) */
WHERE run_counts.run_id = r.id;

-- name: end_run
-- Under the lock on the counters.
UPDATE runs SET state = :became, ended_at = :now, owner = NULL, token = token + 1, lease_until = NULL,
    error = COALESCE(CAST(:error AS TEXT), error), updated_at = :now
WHERE id = :id AND state = :was AND NOT EXISTS (SELECT 1 FROM run_counts c WHERE c.run_id = runs.id AND c.open > 0)
RETURNING id;

-- name: total_runs
-- Add ended runs to the totals, or take them out with a sign of -1.
INSERT INTO run_totals (kind, scheduled, state, runs, completed, failed, cancelled, skipped, timed, duration_ms)
SELECT u.kind, u.number IS NOT NULL, u.state, CAST(SUM(r.sign) AS BIGINT), CAST(SUM(r.sign * c.completed) AS BIGINT),
       CAST(SUM(r.sign * c.failed) AS BIGINT), CAST(SUM(r.sign * c.cancelled) AS BIGINT), CAST(SUM(r.sign * c.skipped) AS BIGINT),
       CAST(SUM(CASE WHEN u.ended_at - u.started_at IS NULL THEN 0 ELSE r.sign END) AS BIGINT),
       CAST(SUM(r.sign * COALESCE(u.ended_at - u.started_at, 0)) AS BIGINT)
FROM runs u JOIN run_counts c ON c.run_id = u.id /*rows , r(id bigint, sign bigint) */
WHERE u.id = r.id AND u.state IN ('completed', 'failed', 'cancelled')
GROUP BY u.kind, u.number IS NOT NULL, u.state /*pg ORDER BY 1, 2, 3 */
ON CONFLICT (kind, scheduled, state) DO UPDATE SET runs = run_totals.runs + excluded.runs,
    completed = run_totals.completed + excluded.completed, failed = run_totals.failed + excluded.failed,
    cancelled = run_totals.cancelled + excluded.cancelled, skipped = run_totals.skipped + excluded.skipped,
    timed = run_totals.timed + excluded.timed, duration_ms = run_totals.duration_ms + excluded.duration_ms;

-- name: shift_totals
-- Fates that changed in runs that had ended.
UPDATE run_totals SET completed = run_totals.completed + r.completed, failed = run_totals.failed + r.failed,
    cancelled = run_totals.cancelled + r.cancelled, skipped = run_totals.skipped + r.skipped
/*rows FROM r(kind text, scheduled boolean, state text, completed bigint, failed bigint, cancelled bigint, skipped bigint) */
WHERE run_totals.kind = r.kind AND run_totals.scheduled = r.scheduled AND run_totals.state = r.state;

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
