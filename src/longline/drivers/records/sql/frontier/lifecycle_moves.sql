-- Single, guarded moves: the row changes only if its state and, where given, its token are still the same.

-- name: schedule_standing
SELECT state, state AS rest, token, owner, lease_until FROM schedules WHERE id = :id;

-- name: move_schedule
UPDATE schedules SET state = :became, updated_at = :now, token = token + 1,
    owner = :owner, lease_until = CAST(:lease_until AS BIGINT),
    next_due = COALESCE(CAST(:due AS BIGINT), next_due)
WHERE id = :id AND state = :was AND (CAST(:token AS BIGINT) IS NULL OR token = :token)
  AND (CAST(:lease_seen AS BIGINT) IS NULL OR lease_until = :lease_seen)
RETURNING state, state AS rest, token, owner, lease_until;

-- name: renew_schedule
UPDATE schedules SET lease_until = CAST(:now AS BIGINT) + :ttl
WHERE id = :id AND token = :token AND lease_until >= :now
RETURNING id;

-- name: lapsed_schedules
-- Those with a run of their own are the scheduler's: the run ends with them.
SELECT id, lease_until FROM schedules WHERE lease_until < :now AND run_id IS NULL ORDER BY lease_until LIMIT :limit;

-- name: run_standing
SELECT state, state AS rest, token, owner, lease_until FROM runs WHERE id = :id;

-- name: move_run
UPDATE runs SET state = :became, token = token + 1, updated_at = :now,
    owner = :owner, lease_until = CAST(:lease_until AS BIGINT),
    error = CASE WHEN :became = 'running' THEN NULL ELSE COALESCE(CAST(:error AS TEXT), error) END,
    started_at = CASE WHEN :became = 'running' THEN COALESCE(started_at, :now) ELSE started_at END,
    ended_at = CASE WHEN :became IN ('completed', 'failed', 'cancelled') THEN CAST(:now AS BIGINT) END
WHERE id = :id AND state = :was AND (CAST(:token AS BIGINT) IS NULL OR token = :token)
  AND (CAST(:lease_seen AS BIGINT) IS NULL OR lease_until = :lease_seen)
  AND deleted_at IS NULL AND (:became <> 'completed' OR NOT EXISTS (SELECT 1 FROM run_counts c WHERE c.run_id = runs.id AND c.open > 0))
RETURNING state, state AS rest, token, owner, lease_until;

-- name: renew_run
UPDATE runs SET lease_until = CAST(:now AS BIGINT) + :ttl
WHERE id = :id AND token = :token AND lease_until >= :now
RETURNING id;

-- name: free_run
UPDATE runs SET owner = NULL, lease_until = NULL, token = token + 1
WHERE id = :id AND token = :token AND lease_until IS NOT NULL
RETURNING id;

-- name: lapsed_runs
SELECT id, lease_until FROM runs WHERE lease_until < :now AND schedule_id IS NOT NULL ORDER BY lease_until LIMIT :limit;

-- name: free_lapsed_runs
UPDATE runs SET owner = NULL, lease_until = NULL, token = token + 1
WHERE id /*pg = ANY (ARRAY */ /*lite IN */ (
    SELECT id FROM runs WHERE lease_until < :now AND schedule_id IS NULL /*pg ORDER BY id FOR NO KEY UPDATE */
) /*pg ) */
RETURNING id;

-- name: disown_runs
-- Runs of schedules are held by their schedule.
UPDATE runs SET owner = NULL, lease_until = NULL, token = token + 1
WHERE id /*pg = ANY (ARRAY */ /*lite IN */ (
    SELECT id FROM runs WHERE owner = :owner AND schedule_id IS NULL /*pg ORDER BY id FOR NO KEY UPDATE */
) /*pg ) */
RETURNING id;

-- name: disown_schedules
-- The deadline is brought forward: the next scheduler that looks adopts the runs. A deadline that has passed stays, for it
-- says since when no process holds the run.
UPDATE schedules SET lease_until = CAST(:now AS BIGINT) - 1
WHERE id /*pg = ANY (ARRAY */ /*lite IN */ (
    SELECT id FROM schedules WHERE owner = :owner AND lease_until >= :now AND run_id IS NOT NULL
    /*pg ORDER BY id FOR NO KEY UPDATE */
) /*pg ) */
RETURNING id;

-- name: task_standing
SELECT state, rest, token, owner, lease_until FROM tasks_now WHERE id = :id;

-- name: task_place
SELECT id, host_id, due, priority, executor, run_id, state, reason, attempt FROM tasks WHERE id = :id;

-- name: hosts_of_open_tasks
SELECT DISTINCT host_id FROM tasks
WHERE run_id = :run_id AND state NOT IN ('completed', 'skipped', 'failed', 'cancelled');

-- name: open_tasks_of_run
-- Open is whatever has no fate yet; the list is the complement of the fates in model/states.py.
SELECT id, state, host_id, home_id, due, priority, run_id, scope FROM tasks
WHERE run_id = :run_id AND state NOT IN ('completed', 'skipped', 'failed', 'cancelled')
ORDER BY id;

-- name: cancel_tasks
UPDATE tasks SET state = :became, reason = :reason, finished_at = :now,
    priority = COALESCE(tasks.next_priority, tasks.priority), next_priority = NULL /*rows FROM r(id bigint, was text) */
WHERE tasks.id = r.id AND tasks.state = r.was
RETURNING tasks.id;
