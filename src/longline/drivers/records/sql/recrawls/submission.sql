-- New recrawls, and the next generations of those that are due.

-- name: known_recrawls
SELECT c.id, c.url_hash, c.rest FROM recrawls c /*rows , r(url_hash text) */
WHERE c.url_hash = r.url_hash AND c.head;

-- name: lock_parents
-- The report of a parent waits for its new children, or they see its end.
SELECT c.id, c.rest, c.depth FROM recrawls c /*rows , r(id bigint) */
WHERE c.id = r.id /*pg ORDER BY c.id FOR SHARE OF c */;

-- name: add_recrawls
INSERT INTO recrawls (id, source_id, run_id, url, url_hash, generation, rest, priority, due_at, created_at, updated_at, frequency, every_ms, recurring, again_after_failure, created_by, batch_id, parent_id, depth, waits, webhook)
SELECT t.id, r.source_id, t.run_id, r.url, r.url_hash, r.generation, t.state, t.priority, r.due_at, t.created_at, :now, r.frequency, r.every_ms, r.recurring, r.again_after_failure, r.created_by, r.batch_id, r.parent_id, r.depth, r.waits, r.webhook
FROM tasks t /*rows , r(scope bigint, host_id bigint, key bytea, source_id bigint, url text, url_hash text, generation bigint, due_at bigint, frequency text, every_ms bigint, recurring boolean, again_after_failure boolean, created_by text, batch_id bigint, parent_id bigint, depth bigint, waits boolean, webhook text) */
WHERE t.scope = r.scope AND t.host_id = r.host_id AND t.key = r.key
ON CONFLICT DO NOTHING
RETURNING id, url_hash;

-- name: add_recrawl_hosts
INSERT INTO recrawl_hosts (run_id, host_id)
SELECT r.run_id, r.host_id /*rows FROM r(run_id bigint, host_id bigint) */ WHERE TRUE
ON CONFLICT (run_id, host_id) DO NOTHING;

-- name: due_heads
SELECT c.id, t.host_id, t.home_id FROM recrawls c JOIN tasks t ON t.id = c.id
WHERE c.head AND c.next_at IS NOT NULL AND c.next_at <= :now
ORDER BY c.next_at, c.id LIMIT :limit;

-- name: heads_to_follow
-- Read again under the locks of their hosts.
SELECT c.id, c.source_id, c.run_id, c.url, c.url_hash, c.generation, c.priority, c.frequency, c.again_after_failure, c.batch_id, c.depth, c.webhook,
       t.url AS href, h.host, t.max_attempts
FROM recrawls c JOIN tasks t ON t.id = c.id JOIN hosts h ON h.id = COALESCE(t.home_id, t.host_id) /*rows , r(id bigint) */
WHERE c.id = r.id AND c.head AND c.next_at <= :now;

-- name: succeed_heads
UPDATE recrawls SET head = FALSE, next_at = recrawls.next_at + recrawls.every_ms /*rows FROM r(id bigint) */
WHERE recrawls.id = r.id AND recrawls.head;

-- name: find_calls
SELECT k.parent_id, c.rest FROM recrawl_calls k JOIN recrawls c ON c.id = k.parent_id ORDER BY k.parent_id LIMIT :limit;

-- name: waiting_children
SELECT c.id, c.due_at FROM recrawls c
WHERE c.parent_id = :parent_id AND c.waits AND c.rest IN ('pending', 'paused') ORDER BY c.id LIMIT :limit;

-- name: end_wait
-- Under the locks of their hosts: only those that still wait.
SELECT c.id, c.due_at, c.rest, t.host_id, t.due, t.priority, t.run_id, t.attempt
FROM recrawls c JOIN tasks t ON t.id = c.id /*rows , r(id bigint) */
WHERE c.id = r.id AND c.waits AND c.rest IN ('pending', 'paused');

-- name: no_longer_wait
UPDATE recrawls SET waits = FALSE, due_at = r.due_at, updated_at = :now /*rows FROM r(id bigint, due_at bigint) */
WHERE recrawls.id = r.id;

-- name: reschedule_tasks
UPDATE tasks SET due = r.due /*rows FROM r(id bigint, due bigint) */ WHERE tasks.id = r.id;

-- name: delete_call
DELETE FROM recrawl_calls WHERE parent_id = :parent_id
  AND NOT EXISTS (SELECT 1 FROM recrawls c WHERE c.parent_id = :parent_id AND c.parent_id IS NOT NULL AND c.waits AND c.rest IN ('pending', 'paused'));
