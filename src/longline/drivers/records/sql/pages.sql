-- Pages, for those who read them.

-- part: told
p.task_id, t.run_id, s.key AS segment, p.start, p.length, p.digest, p.status, p.content_type, p.body_bytes,
       p.fetched_at, p.fetch_ms, t.depth, p.url, p.title, p.etag, p.last_modified, p.body_of

-- name: page_row
SELECT /*part told */
FROM pages p JOIN tasks t ON t.id = p.task_id JOIN segments s ON s.id = p.segment_id WHERE p.task_id = :task_id;

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
