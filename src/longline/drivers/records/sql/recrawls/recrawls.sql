-- Recrawls for reading: one of them, lists, counts and statistics.

-- part: held_runs
SELECT d.run_id FROM holds d WHERE d.since <= :now AND d.until > :now;

-- part: sleeps
(c.waits OR c.due_at > :now OR c.run_id IN (/*part held_runs */));

-- name: shown_recrawls
-- The ids come first: the tables are too many for the planner to find that order by itself.
SELECT c.id, c.source_id, s.name AS source_name, s.base_url AS source_url, s.uses AS source_uses, c.run_id, c.url, c.url_hash, c.generation, n.state, c.priority, c.due_at, c.started_at,
       c.ended_at, c.retries, n.max_attempts, n.reason, n.error, n.status, c.frequency, c.next_at, c.recurring, c.waits,
       p.task_id IS NOT NULL AS has_page, p.fetch_ms, x.id AS proxy_id, x.host AS proxy_host, c.created_by, c.created_at,
       c.updated_at, n.token, n.owner, n.lease_until, c.batch_id, c.parent_id, c.depth, c.webhook,
       c.run_id IN (/*part held_runs */) AS is_held
/*all rows FROM r(id bigint) */ JOIN recrawls c ON c.id = r.id
JOIN tasks_now n ON n.id = r.id
JOIN sources s ON s.id = c.source_id
LEFT JOIN pages p ON p.task_id = r.id
LEFT JOIN proxies x ON x.id = n.proxy_id;

-- name: recrawls_in_hand
SELECT c.id, c.priority, /*part sleeps */ AS is_asleep FROM recrawl_hosts k
/*lite CROSS */ JOIN line l ON l.host_id = k.host_id AND l.owner IS NOT NULL
/*lite CROSS */ JOIN queue q ON q.host_id = l.host_id AND q.run_id = k.run_id AND q.token = l.token
/*lite CROSS */ JOIN recrawls c ON c.id = q.id;

-- name: recrawls_in_parsers
SELECT c.id, c.priority FROM offers o JOIN recrawls c ON c.id = o.id WHERE o.due > 0 AND o.executor = 'parse' AND o.owner IS NOT NULL;

-- name: recrawl_sums
SELECT rest, CAST(SUM(count) AS BIGINT) AS count FROM recrawl_counts
WHERE (CAST(:source_id AS BIGINT) IS NULL OR source_id = :source_id) GROUP BY rest;

-- name: recrawl_sums_of_sources
SELECT n.source_id, n.rest, n.count FROM recrawl_counts n /*rows , r(source_id bigint) */ WHERE n.source_id = r.source_id;

-- part: phase
CASE WHEN c.rest <> 'pending' THEN c.rest WHEN /*part sleeps */ THEN 'waiting' ELSE 'ready' END;

-- part: rests
'pending', 'downloaded', 'queued_parse', 'completed', 'failed', 'paused', 'cancelled';

-- name: recrawl_stats
-- With all rests by name: the indexes begin with the rest.
SELECT /*part phase */ AS phase, COUNT(*) AS count, CAST(SUM(CASE WHEN c.generation > 0 THEN 1 ELSE 0 END) AS BIGINT) AS later,
       COUNT(p.fetch_ms) AS pages, CAST(COALESCE(SUM(p.fetch_ms), 0) AS BIGINT) AS fetch_ms,
       CAST(SUM(CASE WHEN c.ended_at > 0 AND c.started_at IS NOT NULL THEN 1 ELSE 0 END) AS BIGINT) AS timed,
       CAST(SUM(CASE WHEN c.ended_at > 0 AND c.started_at IS NOT NULL THEN c.ended_at - c.started_at ELSE 0 END) AS BIGINT) AS ms
FROM recrawls c LEFT JOIN pages p ON p.task_id = c.id
WHERE c.rest IN (/*part rests */) AND c.created_at >= :since
  AND (CAST(:source_id AS BIGINT) IS NULL OR c.source_id = :source_id)
GROUP BY /*part phase */;

-- name: moved_recrawls
SELECT /*part phase */ AS phase, COUNT(*) AS count FROM recrawls c
WHERE c.id /*pg = ANY (CAST(:chosen AS BIGINT[])) */ /*lite IN (SELECT value FROM json_each(:chosen)) */ AND c.created_at >= :since AND (CAST(:source_id AS BIGINT) IS NULL OR c.source_id = :source_id)
  AND (CAST(:batch_id AS BIGINT) IS NULL OR c.batch_id = :batch_id) GROUP BY /*part phase */;

-- name: queue_depths
SELECT COUNT(*) AS count, CAST(COALESCE(SUM(CASE WHEN c.priority <= :urgent THEN 1 ELSE 0 END), 0) AS BIGINT) AS urgent
FROM recrawls c WHERE c.rest = 'pending' AND NOT /*part sleeps */;

-- name: failed_recrawls
SELECT c.id FROM recrawls c
WHERE c.rest = 'failed' AND (CAST(:source_id AS BIGINT) IS NULL OR c.source_id = :source_id)
  AND (CAST(:failed_after AS BIGINT) IS NULL OR c.ended_at >= :failed_after)
ORDER BY c.ended_at, c.id LIMIT :limit;

-- name: sources_with_old_robots
SELECT s.id FROM sources s
WHERE s.id > :after AND s.enabled AND s.uses LIKE '%"products"%'
  AND (s.robots_fetched_at IS NULL OR s.robots_fetched_at <= CAST(:before AS BIGINT))
  AND EXISTS (SELECT 1 FROM recrawl_counts n WHERE n.source_id = s.id AND n.count > 0)
  AND NOT EXISTS (SELECT 1 FROM runs u JOIN holds d ON d.run_id = u.id
                  WHERE u.source_id = s.id AND d.since <= :now AND d.until > :now)
ORDER BY s.id LIMIT :limit;

-- name: add_batch
INSERT INTO batches (name, created_at) VALUES (:name, :now) RETURNING id, name, created_at;

-- name: batch
SELECT id, name, created_at FROM batches WHERE id = :id;

-- name: find_batches
SELECT id, name, created_at FROM batches ORDER BY id DESC LIMIT :limit OFFSET :offset;

-- name: count_batches
SELECT COUNT(*) AS total FROM batches;

-- name: batch_sums
SELECT /*part phase */ AS phase, COUNT(*) AS count FROM recrawls c WHERE c.batch_id = :batch_id GROUP BY /*part phase */;

-- name: recrawls_of_batch
SELECT c.id FROM recrawls c WHERE c.batch_id = :batch_id AND c.id > :after ORDER BY c.id LIMIT :limit;
