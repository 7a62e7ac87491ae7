-- Tasks.

-- name: task_counts
SELECT CAST(COALESCE(SUM(open), 0) AS BIGINT) AS open, CAST(COALESCE(SUM(completed), 0) AS BIGINT) AS completed,
       CAST(COALESCE(SUM(failed), 0) AS BIGINT) AS failed, CAST(COALESCE(SUM(cancelled), 0) AS BIGINT) AS cancelled,
       CAST(COALESCE(SUM(skipped), 0) AS BIGINT) AS skipped
FROM (
    SELECT 0 AS open, completed, failed, cancelled, skipped FROM run_totals
    UNION ALL SELECT c.open, c.completed, c.failed, c.cancelled, c.skipped
    FROM runs u JOIN run_counts c ON c.run_id = u.id WHERE u.state IN ('queued', 'running')
) s;

-- name: task
SELECT id, run_id, host, url, state, reason, priority, attempt, depth, status, error, due, created_at, finished_at,
       max_attempts, began_at, proxy_id, target, hops
FROM tasks_now WHERE id = :id;

-- name: find_tasks
SELECT id, run_id, host, url, state, reason, priority, attempt, depth, status, error, due, created_at, finished_at,
       max_attempts, began_at, proxy_id, target, hops
FROM tasks_now WHERE id > :after ORDER BY id LIMIT :limit;

-- name: find_tasks_of_run
SELECT id, run_id, host, url, state, reason, priority, attempt, depth, status, error, due, created_at, finished_at,
       max_attempts, began_at, proxy_id, target, hops
FROM tasks_now WHERE run_id = :run_id AND id > :after ORDER BY id LIMIT :limit;

-- name: known_task
SELECT t.id FROM tasks t JOIN hosts h ON h.id = t.host_id WHERE t.scope = :scope AND h.host = :host AND t.key = :key;

-- part: fate
CASE WHEN t.state IN ('completed', 'skipped', 'failed', 'cancelled') THEN t.state ELSE 'open' END

-- name: url_fates
-- A task that was redirected on its host has the URL of its page; the URL that was found is that of its first redirect.
-- Looked up row by row: joined they would leave PostgreSQL free to read all pages.
SELECT t.id, t.run_id, /*part fate */ AS fate, t.reason, t.status, t.attempt AS attempts, t.depth, t.error,
       COALESCE((SELECT d.url FROM redirects d WHERE d.task_id = t.id AND d.number = 0), t.url) AS url,
       (SELECT f.url FROM tasks f WHERE f.id = t.parent_id) AS found_on,
       COALESCE((SELECT p.url FROM pages p WHERE p.task_id = t.id),
                (SELECT e.target FROM redirects e WHERE e.task_id = t.id ORDER BY e.number DESC LIMIT 1)) AS final_url,
       t.created_at AS found_at, (SELECT p.fetched_at FROM pages p WHERE p.task_id = t.id) AS fetched_at,
       t.finished_at AS ended_at
FROM tasks t
WHERE t.run_id = :run_id AND t.id > :after
  AND (CAST(:fate AS TEXT) IS NULL OR /*part fate */ = :fate)
  AND (CAST(:reason AS TEXT) IS NULL OR t.reason = :reason)
  AND (CAST(:host AS TEXT) IS NULL OR t.url LIKE 'http://' || :host || '/%' ESCAPE '\'
       OR t.url LIKE 'https://' || :host || '/%' ESCAPE '\' OR t.url LIKE 'http://' || :host || ':%' ESCAPE '\'
       OR t.url LIKE 'https://' || :host || ':%' ESCAPE '\')
ORDER BY t.id LIMIT :limit;
