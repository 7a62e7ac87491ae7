-- Pages and redirects as they are read from the archive.

-- part: told
p.task_id, t.run_id, s.key AS segment, p.start, p.length, p.digest, p.status, p.content_type, p.body_bytes,
       p.fetched_at, p.fetch_ms, t.depth, p.url, p.title, p.etag, p.last_modified, p.body_of

-- part: redirected
d.task_id, t.run_id, s.key AS segment, d.start, d.length, d.digest, d.fetched_at, d.url

-- name: page_row
SELECT /*part told */
FROM pages p JOIN tasks t ON t.id = p.task_id JOIN segments s ON s.id = p.segment_id WHERE p.task_id = :task_id
UNION ALL
SELECT b.task_id, 0 AS run_id, s.key AS segment, b.start, b.length, b.digest, b.status, b.content_type, b.body_bytes,
       b.fetched_at, b.fetch_ms, 0 AS depth, b.url, b.title, b.etag, b.last_modified, NULL AS body_of
FROM bodies b JOIN segments s ON s.id = b.segment_id WHERE b.task_id = :task_id;

-- name: captures
-- A URL is one task in each scope, and scopes are few: they are stepped through, one look at the index for each.
WITH RECURSIVE scopes (scope) AS (
    SELECT MIN(scope) FROM tasks
    UNION ALL
    SELECT (SELECT MIN(t.scope) FROM tasks t WHERE t.scope > scopes.scope) FROM scopes WHERE scopes.scope IS NOT NULL
)
SELECT /*part told */
FROM scopes JOIN hosts h ON h.host = :host
JOIN tasks t ON t.scope = scopes.scope AND t.host_id = h.id AND t.key = :key
JOIN pages p ON p.task_id = t.id JOIN segments s ON s.id = p.segment_id
ORDER BY p.fetched_at DESC, p.task_id DESC;

-- name: pages_of_run
SELECT /*part told */
FROM tasks t JOIN pages p ON p.task_id = t.id JOIN segments s ON s.id = p.segment_id
WHERE t.run_id = :run_id AND t.id > :after ORDER BY t.id LIMIT :limit;

-- name: count_pages
SELECT COUNT(*) AS count FROM tasks t JOIN pages p ON p.task_id = t.id WHERE t.run_id = :run_id;

-- name: redirects_of_run
SELECT /*part redirected */
FROM tasks t JOIN redirects d ON d.task_id = t.id JOIN segments s ON s.id = d.segment_id
WHERE t.run_id = :run_id AND t.id IN (
    SELECT m.id FROM tasks m WHERE m.run_id = :run_id AND m.id > :after
      AND EXISTS (SELECT 1 FROM redirects e WHERE e.task_id = m.id)
    ORDER BY m.id LIMIT :limit
)
ORDER BY t.id, d.number;

-- name: pages_of_segment
SELECT /*part told */
FROM pages p JOIN tasks t ON t.id = p.task_id JOIN segments s ON s.id = p.segment_id
WHERE p.segment_id = :segment_id ORDER BY p.start;

-- name: redirects_of_segment
SELECT /*part redirected */
FROM redirects d JOIN tasks t ON t.id = d.task_id JOIN segments s ON s.id = d.segment_id
WHERE d.segment_id = :segment_id ORDER BY d.start;

-- name: revisits
SELECT /*part told */
FROM pages p JOIN tasks t ON t.id = p.task_id JOIN segments s ON s.id = p.segment_id
WHERE p.body_of IS NOT NULL AND p.task_id > :after ORDER BY p.task_id LIMIT :limit;

-- name: pages_without_body
SELECT /*part told */
FROM pages p JOIN tasks t ON t.id = p.task_id JOIN segments s ON s.id = p.segment_id
LEFT JOIN pages h ON h.task_id = p.body_of LEFT JOIN bodies b ON b.task_id = p.body_of
WHERE p.body_of IS NOT NULL
  AND (COALESCE(h.task_id, b.task_id) IS NULL OR h.body_of IS NOT NULL OR COALESCE(h.digest, b.digest) <> p.digest)
ORDER BY p.task_id;

-- name: later_captures
-- A URL is one task in each scope: they are stepped through like in `captures`.
WITH RECURSIVE scopes (scope) AS (
    SELECT MIN(scope) FROM tasks
    UNION ALL
    SELECT (SELECT MIN(t.scope) FROM tasks t WHERE t.scope > scopes.scope) FROM scopes WHERE scopes.scope IS NOT NULL
)
SELECT /*part told */
FROM tasks o JOIN pages q ON q.task_id = o.id CROSS JOIN scopes
JOIN tasks t ON t.scope = scopes.scope AND t.host_id = o.host_id AND t.key = o.key
JOIN pages p ON p.task_id = t.id JOIN segments s ON s.id = p.segment_id
WHERE o.id = :task_id AND p.task_id <> o.id AND p.fetched_at >= q.fetched_at;

-- name: redirected_later
SELECT /*part redirected */
FROM redirects d JOIN tasks t ON t.id = d.task_id JOIN segments s ON s.id = d.segment_id
WHERE d.url = :url AND d.fetched_at > :fetched_at;

-- name: forget_visits
DELETE FROM visits /*pg USING tasks t */ /*rows , r(id bigint) */
WHERE /*pg t.id = r.id AND visits.host_id = t.host_id AND visits.key = t.key */
      /*lite (host_id, key) = (SELECT t.host_id, t.key FROM tasks t WHERE t.id = r.id) */;
