-- Runs of maintenance tasks, and the times at which they start by themselves.

-- name: maintenance_schedules
SELECT * FROM maintenance_schedules ORDER BY task;

-- name: set_maintenance_schedule
INSERT INTO maintenance_schedules (task, cron, enabled, next_at, updated_at) VALUES (:task, :cron, :enabled, :next_at, :now)
ON CONFLICT (task) DO UPDATE SET cron = excluded.cron, enabled = excluded.enabled, next_at = excluded.next_at, updated_at = :now
RETURNING *;

-- name: advance_maintenance_schedule
UPDATE maintenance_schedules SET next_at = :next_at WHERE task = :task AND next_at = :was AND enabled RETURNING task;

-- name: fail_lapsed_maintenance
UPDATE maintenance_runs SET state = 'failed', ended_at = :now, error = :error
WHERE task = :task AND state = 'running' AND lease_until <= :now;

-- name: add_maintenance_run
INSERT INTO maintenance_runs (id, task, state, caller_id, caller_name, created_at, started_at, lease_until)
VALUES (:id, :task, :state, CAST(:caller_id AS TEXT), CAST(:caller_name AS TEXT), :now, CAST(:started_at AS BIGINT), CAST(:lease_until AS BIGINT))
ON CONFLICT DO NOTHING
RETURNING *;

-- name: prune_maintenance_runs
DELETE FROM maintenance_runs WHERE task = :task AND state NOT IN ('queued', 'running') AND created_at < :before;

-- name: take_maintenance_run
UPDATE maintenance_runs SET state = 'running', started_at = :now, lease_until = :lease_until
WHERE state = 'queued' AND id = (SELECT m.id FROM maintenance_runs m WHERE m.state = 'queued' ORDER BY m.id LIMIT 1)
RETURNING *;

-- name: end_maintenance_run
UPDATE maintenance_runs SET state = :state, ended_at = :now, rows_changed = :rows_changed, error = CAST(:error AS TEXT), facts = :facts
WHERE id = :id AND state = 'running'
RETURNING *;

-- name: open_maintenance_run
SELECT * FROM maintenance_runs WHERE task = :task AND state IN ('queued', 'running');

-- name: cancel_maintenance_run
UPDATE maintenance_runs SET state = 'cancelled', ended_at = :now WHERE id = :id AND state IN ('queued', 'running') RETURNING *;

-- name: maintenance_run
SELECT * FROM maintenance_runs WHERE id = :id;

-- name: latest_maintenance_run
SELECT * FROM maintenance_runs WHERE task = :task ORDER BY id DESC LIMIT 1;
