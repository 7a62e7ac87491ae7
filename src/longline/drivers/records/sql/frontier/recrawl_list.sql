-- The side rows of recrawls, kept with each change of their tasks.

-- name: recrawls_of_tasks
SELECT c.id, c.source_id, c.rest AS was, c.due_at, c.retries, c.started_at, c.ended_at, c.next_at, c.every_ms, c.recurring, c.again_after_failure, c.waits, c.webhook IS NOT NULL AS has_webhook,
       t.state, COALESCE(t.next_priority, t.priority) AS priority, t.due, t.began_at
FROM recrawls c JOIN tasks t ON t.id = c.id /*rows , r(id bigint) */
WHERE c.id = r.id;

-- name: list_recrawls
UPDATE recrawls SET rest = r.rest, priority = r.priority, due_at = r.due_at, retries = r.retries, started_at = r.started_at,
    ended_at = r.ended_at, next_at = r.next_at, waits = r.waits, updated_at = :now
/*rows FROM r(id bigint, rest text, priority bigint, due_at bigint, retries bigint, started_at bigint, ended_at bigint, next_at bigint, waits boolean) */
WHERE recrawls.id = r.id;

-- name: call_children
-- Parents that ended, and for which recrawls wait.
INSERT INTO recrawl_calls (parent_id)
SELECT DISTINCT c.parent_id FROM recrawls c /*rows , r(id bigint) */
WHERE c.parent_id = r.id AND c.parent_id IS NOT NULL AND c.waits
ON CONFLICT (parent_id) DO NOTHING;

-- name: count_recrawls
INSERT INTO recrawl_counts (source_id, rest, count)
SELECT r.source_id, r.rest, r.count /*rows FROM r(source_id bigint, rest text, count bigint) */
WHERE TRUE
ON CONFLICT (source_id, rest) DO UPDATE SET count = recrawl_counts.count + excluded.count;

-- name: add_webhooks
INSERT INTO webhooks (uid, task_id, task_url, url, outcome, due, created_at, updated_at)
SELECT r.uid, c.id, c.url, c.webhook, r.outcome, CAST(:now AS BIGINT), CAST(:now AS BIGINT), CAST(:now AS BIGINT)
FROM recrawls c /*rows , r(id bigint, outcome text, uid text) */
WHERE c.id = r.id AND c.webhook IS NOT NULL;

-- name: add_recrawl_finds
INSERT INTO recrawl_finds (task_id, kind, url)
SELECT r.task_id, r.kind, r.url /*rows FROM r(task_id bigint, kind text, url text) */;
