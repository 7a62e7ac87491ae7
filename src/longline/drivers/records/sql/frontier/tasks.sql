-- Tasks.

-- name: task_counts
SELECT CAST(COALESCE(SUM(open), 0) AS BIGINT) AS open, CAST(COALESCE(SUM(completed), 0) AS BIGINT) AS completed,
       CAST(COALESCE(SUM(failed), 0) AS BIGINT) AS failed, CAST(COALESCE(SUM(cancelled), 0) AS BIGINT) AS cancelled,
       CAST(COALESCE(SUM(skipped), 0) AS BIGINT) AS skipped
FROM runs;

-- name: task
SELECT id, run_id, host, url, state, reason, priority, attempt, depth, status, error, due, created_at, finished_at
FROM tasks_now WHERE id = :id;

-- name: find_tasks
SELECT id, run_id, host, url, state, reason, priority, attempt, depth, status, error, due, created_at, finished_at
FROM tasks_now WHERE id > :after ORDER BY id LIMIT :limit;

-- name: find_tasks_of_run
SELECT id, run_id, host, url, state, reason, priority, attempt, depth, status, error, due, created_at, finished_at
FROM tasks_now WHERE run_id = :run_id AND id > :after ORDER BY id LIMIT :limit;

-- name: known_task
SELECT t.id FROM tasks t JOIN hosts h ON h.id = t.host_id WHERE t.scope = :scope AND h.host = :host AND t.key = :key;
