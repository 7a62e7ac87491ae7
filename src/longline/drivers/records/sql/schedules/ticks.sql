-- Ticks: schedules that come due, the runs that they start, and the moves after a run.

-- name: due_once
SELECT * FROM schedules WHERE state IN ('pending', 'scheduled') AND interval_ms IS NULL AND next_due <= :now
ORDER BY next_due LIMIT :limit /*pg FOR UPDATE SKIP LOCKED */;

-- name: due_again
SELECT * FROM schedules WHERE state IN ('pending', 'scheduled') AND interval_ms IS NOT NULL AND next_due <= :now
ORDER BY next_due LIMIT :limit /*pg FOR UPDATE SKIP LOCKED */;

-- name: held_schedules
SELECT COUNT(*) AS count FROM schedules WHERE lease_until IS NOT NULL AND owner = :owner;

-- name: add_ticks
INSERT INTO runs (uid, kind, state, plan, seed, source_id, schedule_id, number, due, attempt, created_at, updated_at, started_at, lineage)
SELECT r.uid, r.kind, :state, '{}', r.seed, r.source_id, r.schedule_id, r.number, r.due, r.attempt, :now, :now, :now, (
    SELECT COALESCE(o.lineage, o.id) FROM runs o
    WHERE r.source_id IS NULL AND o.source_id IS NULL AND o.kind = r.kind
      AND SUBSTR(o.seed, 1, 500) = SUBSTR(r.seed, 1, 500) AND o.seed = r.seed ORDER BY o.id LIMIT 1)
/*rows FROM r(uid text, kind text, seed text, source_id bigint, schedule_id bigint, number bigint, due bigint, attempt bigint) */
WHERE TRUE
RETURNING id, schedule_id;

-- name: start_schedules
UPDATE schedules SET state = :became, owner = :owner, token = token + 1, lease_until = CAST(:now AS BIGINT) + :ttl,
    started_at = :now, updated_at = :now, run_id = r.run_id, last_due = r.due, runs_made = runs_made + 1
/*rows FROM r(id bigint, was text, run_id bigint, due bigint) */
WHERE schedules.id = r.id AND schedules.state = r.was
RETURNING schedules.id, schedules.token, schedules.lease_until;

-- name: launch_runs
UPDATE runs SET state = :became, plan = r.plan, seed = r.seed, source_id = r.source_id, budget = r.budget, updated_at = :now
/*rows FROM r(id bigint, was text, plan text, seed text, source_id bigint, budget bigint) */
WHERE runs.id = r.id AND runs.state = r.was
RETURNING runs.id;

-- name: renew_schedules
UPDATE schedules SET lease_until = CAST(:now AS BIGINT) + :ttl
WHERE id /*pg = ANY (ARRAY */ /*lite IN */ (
    SELECT id FROM schedules WHERE lease_until IS NOT NULL AND owner = :owner AND lease_until >= :now
    /*pg ORDER BY id FOR NO KEY UPDATE */
) /*pg ) */
RETURNING id;

-- name: runs_to_look_at
-- Every lapsed schedule, and of the owner's those whose run has ended or is done, was never launched or takes too long.
SELECT s.id, u.id AS run FROM schedules s JOIN runs u ON u.id = s.run_id JOIN run_counts c ON c.run_id = u.id
WHERE s.lease_until IS NOT NULL AND (s.lease_until < :now
   OR (s.owner = :owner AND (u.state <> 'running' OR (c.open = 0 AND c.admitted > 0) OR s.started_at + u.unheld_ms < :begun)))
ORDER BY s.lease_until LIMIT :limit;

-- name: adopt_schedules
-- The token decides between two schedulers that adopt the same run, the deadline between a scheduler and a late renewal.
UPDATE schedules SET owner = :owner, token = schedules.token + 1, lease_until = CAST(:now AS BIGINT) + :ttl, updated_at = :now
/*rows FROM r(id bigint, was text, token bigint) */
WHERE schedules.id = r.id AND schedules.state = r.was AND schedules.token = r.token AND schedules.lease_until < :now
RETURNING schedules.id;

-- name: adopt_runs
UPDATE runs SET updated_at = :now, unheld_ms = runs.unheld_ms + r.unheld_ms,
    adoptions = CASE WHEN r.accused = 0 THEN runs.adoptions
        WHEN r.ended_urls > runs.adopted_ended THEN 1 ELSE runs.adoptions + 1 END,
    adopted_ended = CASE WHEN r.accused = 0 THEN runs.adopted_ended ELSE r.ended_urls END
/*rows FROM r(id bigint, accused bigint, unheld_ms bigint, ended_urls bigint) */
WHERE runs.id = r.id;

-- name: hand_over_schedules
-- Without an owner and past its deadline a running schedule waits for the next scheduler. A run that is done by now is not
-- handed over: its scheduler still ends it and moves the schedule.
UPDATE schedules SET owner = NULL, token = schedules.token + 1, lease_until = CAST(:now AS BIGINT) - 1, updated_at = :now
/*rows FROM r(id bigint, was text, token bigint) */
WHERE schedules.id = r.id AND schedules.state = r.was AND schedules.token = r.token
  AND EXISTS (SELECT 1 FROM runs u JOIN run_counts c ON c.run_id = u.id WHERE u.id = schedules.run_id
    AND (u.state = 'queued' OR (u.state = 'running' AND (c.open > 0 OR c.admitted = 0))))
RETURNING schedules.id;

-- name: schedules_by_id
SELECT s.* FROM schedules s /*rows , r(id bigint) */ WHERE s.id = r.id;

-- name: runs_by_id
SELECT u.* FROM runs_now u /*rows , r(id bigint) */ WHERE u.id = r.id;

-- name: schedules_of_owner
SELECT id, run_id AS run FROM schedules WHERE lease_until IS NOT NULL AND owner = :owner AND run_id IS NOT NULL;

-- name: lock_schedules
SELECT s.id FROM schedules s /*rows , r(id bigint, was text, token bigint) */
WHERE s.id = r.id AND s.state = r.was AND s.token = r.token /*pg ORDER BY s.id FOR NO KEY UPDATE OF s */;

-- name: end_runs
-- A URL that was opened again since the run was read may have changed how the run ends.
UPDATE runs SET state = r.became, ended_at = :now, owner = NULL, token = runs.token + 1, lease_until = NULL,
    error = COALESCE(r.error, runs.error), updated_at = :now
/*rows FROM r(id bigint, was text, became text, error text, completed bigint) */
WHERE runs.id = r.id AND runs.state = r.was
  AND EXISTS (SELECT 1 FROM run_counts c WHERE c.run_id = runs.id AND c.open = 0 AND c.completed = r.completed)
RETURNING runs.id;

-- name: turn_schedules
-- A place is written only where the turn gives one: a person may have given another since the row was read.
UPDATE schedules SET state = r.became, updated_at = :now, token = schedules.token + 1, owner = NULL, lease_until = NULL,
    next_due = r.next_due, anchor = COALESCE(r.anchor, schedules.anchor),
    placed_at = COALESCE(r.placed_at, schedules.placed_at), retries = r.retries, failures = r.failures, failed_at = r.failed_at,
    completed_at = r.completed_at, cancelled_at = r.cancelled_at, paused_at = r.paused_at,
    paused_by = r.paused_by, error = r.error
/*rows FROM r(id bigint, was text, token bigint, became text, next_due bigint, anchor bigint, placed_at bigint, retries bigint, failures bigint, failed_at bigint, completed_at bigint, cancelled_at bigint, paused_at bigint, paused_by text, error text) */
WHERE schedules.id = r.id AND schedules.state = r.was AND schedules.token = r.token
RETURNING schedules.id;
