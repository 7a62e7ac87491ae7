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

-- Lists for people. Every statement below goes by an index and stops at a limit.

-- part: in_line
h.id AS host_id, h.host, h.delay_ms, h.concurrency, h.pace_until, l.wake_at, l.owner, l.token, l.not_before, l.lapses,
       (SELECT w.name FROM workers w WHERE w.id = l.owner) AS owner_name,
       (SELECT COUNT(*) FROM (SELECT 1 FROM queue q WHERE q.host_id = l.host_id LIMIT :counted) c) AS tasks

-- name: free_hosts
-- The inner limit is a number: PostgreSQL takes a parameter for a tenth of the table, and reads all hosts.
SELECT /*part in_line */
FROM (SELECT * FROM line WHERE owner IS NULL AND wake_at IS NOT NULL AND wake_at >= :at AND (wake_at > :at OR host_id > :after)
      ORDER BY wake_at, host_id LIMIT 200) l
JOIN hosts h ON h.id = l.host_id ORDER BY l.wake_at, l.host_id LIMIT :limit;

-- name: held_hosts
SELECT /*part in_line */
FROM (SELECT * FROM line WHERE owner IS NOT NULL AND wake_at >= :at AND (wake_at > :at OR host_id > :after)
      AND (CAST(:owner AS BIGINT) IS NULL OR owner = :owner) ORDER BY wake_at, host_id LIMIT 500) l
JOIN hosts h ON h.id = l.host_id ORDER BY l.wake_at, l.host_id LIMIT :limit;

-- name: hosts_named
SELECT /*part in_line */
FROM (SELECT * FROM hosts WHERE host /*pg COLLATE "C" */ >= :prefix AND host /*pg COLLATE "C" */ < :until
      AND host /*pg COLLATE "C" */ > :after ORDER BY host /*pg COLLATE "C" */ LIMIT 200) h
JOIN line l ON l.host_id = h.id ORDER BY h.host /*pg COLLATE "C" */ LIMIT :limit;

-- name: host_in_line
SELECT /*part in_line */ FROM hosts h JOIN line l ON l.host_id = h.id WHERE h.host = :host;

-- part: queued
q.host_id, q.id, q.run_id, t.url, q.priority, q.due, q.attempt, t.reason

-- name: queue_of_host
SELECT /*part queued */, (l.owner IS NOT NULL AND q.token = l.token) AS in_hand
FROM (SELECT * FROM queue WHERE host_id = :host_id AND (due, priority, run_id, id) > (:due, :priority, :run_id, :id)
      ORDER BY due, priority, run_id, id LIMIT :limit) q
JOIN line l ON l.host_id = q.host_id JOIN tasks t ON t.id = q.id ORDER BY q.due, q.priority, q.run_id, q.id;

-- name: queue_in_hand
-- Claims take the first tasks of a queue: no more than a stretch of each is read.
SELECT /*part queued */, TRUE AS in_hand /*rows FROM r(host_id bigint, token bigint) */
/*pg CROSS JOIN LATERAL */ /*lite FROM */ (
    SELECT host_id, id, run_id, priority, due, attempt, token FROM queue WHERE host_id = r.host_id
    ORDER BY due, priority, run_id, id LIMIT :scanned) q
JOIN tasks t ON t.id = q.id WHERE q.token = r.token;

-- name: held_offers
SELECT o.id, o.executor, o.owner, o.due AS until, t.url, t.run_id
FROM (SELECT * FROM offers WHERE due > 0 AND due >= 1 ORDER BY due LIMIT 5000) o JOIN tasks t ON t.id = o.id
WHERE o.owner IS NOT NULL ORDER BY o.due LIMIT :limit;

-- part: listed_task
n.id, n.run_id, n.host, n.url, n.state, n.reason, n.priority, n.attempt, n.depth, n.status, n.error, n.due, n.created_at,
       n.finished_at, n.max_attempts, n.began_at, n.proxy_id, n.target, n.hops

-- part: task_choice
(CAST(:state AS TEXT) IS NULL OR a.state = :state
 OR (CAST(:state AS TEXT) = 'open' AND a.state NOT IN ('completed', 'skipped', 'failed', 'cancelled')))
AND (CAST(:reason AS TEXT) IS NULL OR a.reason = :reason)
AND (CAST(:host AS TEXT) IS NULL OR a.host_id = (SELECT h.id FROM hosts h WHERE h.host = :host))

-- name: tasks_of_run_before
SELECT /*part listed_task */
FROM (SELECT id FROM (SELECT id, state, reason, host_id FROM tasks WHERE run_id = :run_id AND id < :before ORDER BY id DESC LIMIT :scanned) a
      WHERE /*part task_choice */ ORDER BY id DESC LIMIT :limit) s
JOIN tasks_now n ON n.id = s.id ORDER BY s.id DESC;

-- name: last_scanned_task
SELECT MIN(id) AS id, COUNT(*) AS count
FROM (SELECT id FROM tasks WHERE run_id = :run_id AND id < :before ORDER BY id DESC LIMIT :scanned) s;

-- name: newest_tasks_before
SELECT /*part listed_task */
FROM (SELECT id FROM (SELECT id, state, reason, host_id FROM tasks WHERE id < :before ORDER BY id DESC LIMIT :scanned) a
      WHERE /*part task_choice */ ORDER BY id DESC LIMIT :limit) s
JOIN tasks_now n ON n.id = s.id ORDER BY s.id DESC;

-- name: last_scanned_of_all
SELECT MIN(id) AS id, COUNT(*) AS count FROM (SELECT id FROM tasks WHERE id < :before ORDER BY id DESC LIMIT :scanned) s;

-- name: executors_of_tasks
SELECT n.id, n.executor, n.state, n.created_at FROM tasks_now n /*rows , r(id bigint) */ WHERE n.id = r.id;

-- name: tasks_with_pages
SELECT p.task_id FROM pages p /*rows , r(id bigint) */ WHERE p.task_id = r.id;

-- name: lease_of_task
SELECT n.host_id, n.executor, n.rest, n.owner, n.token, n.lease_until, l.not_before, t.scope, t.parent_id AS found_on,
       (SELECT p.url FROM tasks p WHERE p.id = t.parent_id) AS found_on_url,
       COALESCE((SELECT w.name FROM workers w WHERE w.id = n.owner), (SELECT b.name FROM bots b WHERE b.id = -n.owner)) AS owner_name
FROM tasks_now n JOIN tasks t ON t.id = n.id JOIN line l ON l.host_id = n.host_id WHERE n.id = :id;

-- name: items_of_page
SELECT items FROM pages WHERE task_id = :task_id;

-- name: events_of
SELECT id, at, noun, subject, move, was, became, actor, reason, NULL AS moves
FROM (SELECT * FROM events WHERE noun = :noun AND subject = :subject ORDER BY id DESC LIMIT :scanned) e
WHERE e.moves IS NULL ORDER BY e.id DESC LIMIT :limit;

-- name: reports_of_task
SELECT id, at, noun, subject, move, was, became, actor, reason, moves
FROM (SELECT * FROM events WHERE noun = 'run' AND subject = :run_id ORDER BY id DESC LIMIT :scanned) e
WHERE e.moves LIKE :listed ORDER BY e.id DESC LIMIT :limit;
