-- The standing frontier. Lists choose ids from `standing` alone, by an index of their order or of their filter, and then look
-- up the columns of those few. A filter stands in a CASE: PostgreSQL would take so many conditions for narrow ones, and sort
-- instead of reading in order. A column with zero added is compared with a list and not looked up by it. PostgreSQL looks ids
-- up through ANY (ARRAY (…)): joined, it would go from every URL to the list. A leased URL does not wait.

-- name: listed_urls
-- The URL is the one at the end of its redirects once the page there was fetched. How it stands under a lease is
-- asked for apart: with so many tables PostgreSQL would not look for the best way to join them.
SELECT s.id, s.task_id, CASE WHEN n.state = 'completed' THEN n.url ELSE t.url END AS url, s.host, u.kind, u.seed AS source,
       (SELECT b.url FROM tasks b WHERE b.id = t.parent_id) AS parent_url, t.depth, s.priority,
       (SELECT w.state FROM tasks_now w WHERE w.id = s.task_id) AS state,
       (SELECT w.attempt FROM tasks_now w WHERE w.id = s.task_id) AS attempt,
       n.reason, n.error, n.status, s.next_at, t.created_at, s.updated_at, n.finished_at,
       p.fetched_at, p.digest, p.etag, p.last_modified
FROM standing s
JOIN tasks t ON t.id = s.id
JOIN tasks n ON n.id = s.task_id
JOIN runs u ON u.id = s.run_id
LEFT JOIN pages p ON p.task_id = s.task_id
/*rows , r(id bigint) */
WHERE s.id = r.id AND s.rest <> 'removed';

-- name: lines_in_hand
SELECT host_id, token FROM line WHERE owner IS NOT NULL AND wake_at > 0;

-- name: urls_of_lines
-- URLs that wait, as their row says, and are leased by a worker, as their mark says.
SELECT s.id FROM queue q JOIN standing s ON s.task_id = q.id /*rows , r(host_id bigint, token bigint) */
WHERE q.host_id = r.host_id AND q.token = r.token;

-- part: in_hand
/*pg = ANY (CAST(:in_hand AS BIGINT[])) */ /*lite IN (SELECT value FROM json_each(:in_hand)) */;

-- part: fits
CASE WHEN s.rest <> 'removed'
  AND (CAST(:rest AS TEXT) IS NULL OR (s.rest = :rest AND NOT (s.id /*part in_hand */)))
  AND (CAST(:host AS TEXT) IS NULL OR s.host = :host)
  AND ((CAST(:source AS TEXT) IS NULL AND CAST(:kind AS TEXT) IS NULL) OR s.run_id + 0 IN (/*part runs_asked */))
  AND (CAST(:search AS TEXT) IS NULL
       OR LOWER((SELECT t.url FROM tasks t WHERE t.id = s.task_id)) LIKE LOWER(CAST(:search AS TEXT)) ESCAPE '\')
  THEN TRUE ELSE FALSE END;

-- part: runs_asked
SELECT u.id FROM runs u
WHERE u.kind IN ('frontier.feed', 'frontier.sitemap', 'frontier.spider', 'frontier.manual', 'frontier.discovered')
  AND (CAST(:source AS TEXT) IS NULL OR u.seed = :source) AND (CAST(:kind AS TEXT) IS NULL OR u.kind = :kind);

-- part: in_order
ORDER BY CASE CAST(:sort AS TEXT) WHEN 'urgency' THEN -s.priority WHEN 'due' THEN s.next_at ELSE s.id END DESC, s.id DESC
LIMIT :limit OFFSET :offset;

-- name: urls_by_urgency
SELECT s.id FROM standing s WHERE /*part fits */ ORDER BY s.priority, s.id DESC LIMIT :limit OFFSET :offset;

-- name: urls_by_due
SELECT s.id FROM standing s WHERE /*part fits */ ORDER BY s.next_at DESC, s.id DESC LIMIT :limit OFFSET :offset;

-- name: urls_by_created_at
SELECT s.id FROM standing s WHERE /*part fits */ ORDER BY s.id DESC LIMIT :limit OFFSET :offset;

-- name: urls_at_rest_by_urgency
SELECT s.id FROM standing s WHERE s.rest = :rest AND /*part fits */ ORDER BY s.priority, s.id DESC LIMIT :limit OFFSET :offset;

-- name: urls_at_rest_by_due
SELECT s.id FROM standing s WHERE s.rest = :rest AND /*part fits */ ORDER BY s.next_at DESC, s.id DESC LIMIT :limit OFFSET :offset;

-- name: urls_at_rest_by_created_at
SELECT s.id FROM standing s WHERE s.rest = :rest AND /*part fits */ ORDER BY s.id DESC LIMIT :limit OFFSET :offset;

-- name: urls_of_host
SELECT s.id FROM standing s WHERE s.host = :host AND /*part fits */ /*part in_order */;

-- name: urls_of_runs
SELECT s.id FROM standing s WHERE s.run_id /*pg = ANY (ARRAY */ /*lite IN */ (/*part runs_asked */) /*pg ) */ AND /*part fits */ /*part in_order */;

-- name: held_urls
SELECT s.id, COUNT(*) OVER () AS total FROM standing s
WHERE (s.id /*part in_hand */ OR s.rest = 'held') AND /*part fits */
/*part in_order */;

-- name: urls_in_hand
SELECT COUNT(*) AS count FROM standing s WHERE s.id /*part in_hand */ AND /*part fits */;

-- name: count_urls
SELECT COUNT(*) AS total FROM standing s WHERE /*part fits */;

-- name: count_urls_of_host
SELECT COUNT(*) AS total FROM standing s WHERE s.host = :host AND /*part fits */;

-- name: standing_sums
SELECT c.rest, CAST(SUM(c.count) AS BIGINT) AS count FROM standing_counts c WHERE c.run_id IN (/*part runs_asked */)
GROUP BY c.rest;

-- name: known_url
-- The row of a URL that was once given, or that redirects led to, by the task at the end of its way.
WITH RECURSIVE way(id) AS (
    SELECT t.id FROM tasks t
    WHERE t.scope = :scope AND t.host_id = (SELECT id FROM hosts WHERE hosts.host = :host) AND t.key = :key
    UNION ALL
    SELECT (SELECT c.id FROM tasks c WHERE c.parent_id = way.id AND c.hops > 0 LIMIT 1) FROM way WHERE way.id IS NOT NULL
)
SELECT s.id, s.task_id, s.rest = 'removed' AS removed FROM standing s
WHERE s.task_id /*pg = ANY (ARRAY */ /*lite IN */ (SELECT id FROM way) /*pg ) */;

-- name: hasten_task
UPDATE tasks SET priority = :priority, due = :due WHERE id = :id;

-- name: sleeping_urls
SELECT id, priority FROM tasks WHERE scope = :scope AND due = :due AND state = 'pending' LIMIT :limit;
