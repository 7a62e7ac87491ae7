-- The list of URLs of the standing frontier, kept with each change of their tasks.

-- name: urls_of_tasks
-- What a list shows of URLs, and what it should be made of now; a page that redirects led to stands for its URL.
SELECT t.id AS task_id, COALESCE(s.id, t.id) AS id, t.run_id, t.url, t.state, t.reason, t.priority, t.due,
       s.rest AS was, s.host, s.priority AS urgency, s.next_at
FROM tasks t LEFT JOIN standing s ON s.task_id = t.id OR s.id = t.id /*rows , r(id bigint) */
WHERE t.id = r.id AND t.scope + 0 = 0 AND (t.hops = 0 OR s.id IS NOT NULL);

-- name: list_urls
INSERT INTO standing (id, task_id, run_id, host, rest, priority, next_at, updated_at)
SELECT r.id, r.task_id, r.run_id, r.host, r.rest, r.priority, r.next_at, :now
/*rows FROM r(id bigint, task_id bigint, run_id bigint, host text, rest text, priority bigint, next_at bigint) */
WHERE TRUE
ON CONFLICT (id) DO UPDATE SET task_id = excluded.task_id, host = excluded.host, rest = excluded.rest,
    priority = excluded.priority, next_at = excluded.next_at, updated_at = excluded.updated_at;

-- name: lead_urls
-- Where a redirect led to another host, the page there goes on for the URL.
UPDATE standing SET task_id = t.id FROM tasks t /*rows , r(id bigint) */
WHERE t.id = r.id AND t.hops + 0 > 0 AND t.scope + 0 = 0 AND standing.task_id = t.parent_id;
