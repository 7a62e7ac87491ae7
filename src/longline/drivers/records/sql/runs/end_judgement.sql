-- Judgement of runs that have no open task.

-- name: run_plan
SELECT plan FROM runs WHERE id = :id;

-- name: first_failed_task
SELECT error, reason FROM tasks WHERE run_id = :run_id AND state = 'failed' ORDER BY id LIMIT 1;

-- name: first_incomplete_task
SELECT error, reason FROM tasks WHERE run_id = :run_id AND state <> 'completed' ORDER BY id LIMIT 1;
