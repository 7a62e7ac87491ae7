-- The standing frontier. Whoever is taken out of it is cancelled as `removed`; a page that moved away is done with.

-- part: standing
-- Where redirects led to another host, the URL is the one at their end, once its page was fetched.
SELECT t.id, n.id AS task_id, CASE WHEN n.state = 'completed' THEN n.url ELSE t.url END AS url, n.host, u.kind,
       u.seed AS source, b.url AS parent_url, t.depth, t.priority, n.state, n.reason, n.error, n.status, n.due, n.attempt,
       t.created_at, n.finished_at, p.fetched_at, p.digest, p.etag, p.last_modified, COUNT(*) OVER () AS total
FROM runs u
JOIN standing t ON t.run_id = u.id
JOIN tasks_now n ON n.id = t.task_id
LEFT JOIN tasks b ON b.id = t.parent_id
LEFT JOIN pages p ON p.task_id = n.id
WHERE u.kind IN ('frontier.feed', 'frontier.sitemap', 'frontier.spider', 'frontier.manual', 'frontier.discovered')
  AND NOT (t.state = 'cancelled' AND t.reason = 'removed');

-- name: standing_url
-- By its id alone, so that an engine goes straight there.
/*part standing */ AND t.id = :id;

-- name: find_standing
/*part standing */
  AND (CAST(:states AS TEXT) IS NULL OR CAST(:states AS TEXT) LIKE '%,'
       || CASE WHEN n.state = 'skipped' AND n.reason = 'redirected' THEN 'completed' ELSE n.state END || ',%')
  AND (CAST(:source AS TEXT) IS NULL OR u.seed = :source)
  AND (CAST(:kind AS TEXT) IS NULL OR u.kind = :kind)
  AND (CAST(:host AS TEXT) IS NULL OR n.host = :host OR n.host LIKE CAST(:ported AS TEXT) ESCAPE '\')
  AND (CAST(:search AS TEXT) IS NULL OR LOWER(n.url) LIKE CAST(:search AS TEXT) ESCAPE '\')
ORDER BY CASE CAST(:sort AS TEXT)
    WHEN 'urgency' THEN -t.priority WHEN 'due' THEN COALESCE(NULLIF(n.due, 0), t.created_at) ELSE t.created_at END DESC, t.id DESC
LIMIT :limit OFFSET :offset;

-- name: standing_counts
SELECT CASE WHEN n.state = 'skipped' AND n.reason = 'redirected' THEN 'completed' ELSE n.state END AS state, COUNT(*) AS count
FROM runs u
JOIN standing t ON t.run_id = u.id
JOIN tasks_now n ON n.id = t.task_id
WHERE u.kind IN ('frontier.feed', 'frontier.sitemap', 'frontier.spider', 'frontier.manual', 'frontier.discovered')
  AND NOT (t.state = 'cancelled' AND t.reason = 'removed')
GROUP BY 1;

-- name: known_url
SELECT t.id, t.state = 'cancelled' AND t.reason = 'removed' AS removed FROM tasks t
WHERE t.scope = :scope AND t.host_id = (SELECT id FROM hosts WHERE hosts.host = :host) AND t.key = :key;

-- name: hasten_task
UPDATE tasks SET priority = :priority, due = 0 WHERE id = :id;

-- name: sleeping_urls
SELECT id, priority FROM tasks WHERE scope = :scope AND due = :due AND state = 'pending' LIMIT :limit;
