-- Deletion of runs and of old tasks, in pieces; bodies that outlive their pages; segments that no row names.

-- name: expired_runs
SELECT id, ended_at FROM runs
WHERE kind = :kind AND (number IS NOT NULL) = :scheduled AND ended_at < :before AND deleted_at IS NULL AND NOT standing
  AND (ended_at > CAST(:after_at AS BIGINT) OR (ended_at = :after_at AND id > :after))
ORDER BY ended_at, id LIMIT :limit;

-- name: surplus_runs
SELECT u.id, u.ended_at FROM runs u JOIN schedules s ON s.id = u.schedule_id
WHERE u.number <= s.runs_made - :keep AND u.deleted_at IS NULL AND u.id > :after
  AND u.state IN ('completed', 'failed', 'cancelled')
ORDER BY u.id LIMIT :limit;

-- name: uses_of_run
-- Reasons against the deletion of a run, which is locked.
SELECT u.standing, u.state, u.deleted_at,
    EXISTS (SELECT 1 FROM schedules s WHERE s.run_id = u.id AND s.state = 'running') AS in_schedule,
    EXISTS (SELECT 1 FROM feeds f WHERE f.run_id = u.id) OR EXISTS (SELECT 1 FROM sitemaps m WHERE m.run_id = u.id)
        OR EXISTS (SELECT 1 FROM candidates c WHERE c.look_id = u.id AND c.verdict = 'new') AS unread,
    EXISTS (SELECT 1 FROM run_effects e WHERE e.run_id = u.id) AS in_effect
FROM runs u WHERE u.id = :id;

-- name: mark_deleted
UPDATE runs SET deleted_at = :now, updated_at = :now WHERE id = :id AND deleted_at IS NULL
RETURNING id;

-- name: free_schedule_of_run
UPDATE schedules SET run_id = NULL WHERE run_id = :id AND state <> 'running';

-- name: deleted_runs
SELECT id FROM runs WHERE deleted_at IS NOT NULL AND id > :after ORDER BY id LIMIT :limit;

-- name: deleted_run
SELECT id FROM runs WHERE id = :id AND deleted_at IS NOT NULL;

-- name: tasks_to_delete
SELECT id FROM tasks WHERE run_id = :run_id ORDER BY id LIMIT :limit /*pg FOR UPDATE */;

-- name: standing_runs
-- The rows of recrawls and of images are history, and stay.
SELECT id FROM runs WHERE standing AND kind NOT IN ('products', 'images') AND (kind = 'bots') = :bots AND id > :after ORDER BY id LIMIT :limit;

-- name: ended_tasks
SELECT t.id, r.page_key FROM tasks t LEFT JOIN bot_results r ON r.task_id = t.id
WHERE t.run_id = :run_id AND t.id > :after AND t.state IN ('completed', 'skipped', 'failed', 'cancelled') AND t.finished_at < :before
  AND NOT EXISTS (SELECT 1 FROM standing s WHERE s.id = t.id AND s.rest IN ('waiting', 'held'))
  AND NOT EXISTS (SELECT 1 FROM standing s WHERE s.task_id = t.id AND s.rest IN ('waiting', 'held'))
ORDER BY t.id LIMIT :limit;

-- name: lock_ended_tasks
SELECT t.id, t.run_id FROM tasks t /*rows , r(id bigint) */
WHERE t.id = r.id AND t.state IN ('completed', 'skipped', 'failed', 'cancelled')
  AND NOT EXISTS (SELECT 1 FROM standing s WHERE s.id = t.id AND s.rest IN ('waiting', 'held'))
  AND NOT EXISTS (SELECT 1 FROM standing s WHERE s.task_id = t.id AND s.rest IN ('waiting', 'held'))
/*pg ORDER BY t.id FOR UPDATE OF t SKIP LOCKED */;

-- name: keep_bodies
-- A page whose body is that of other pages, or of the last visit of its URL, leaves its place in the archive here.
INSERT INTO bodies (task_id, host_id, key, segment_id, start, length, digest, status, content_type, body_bytes, fetched_at,
    fetch_ms, url, title, etag, last_modified, kept_at)
SELECT p.task_id, t.host_id, t.key, p.segment_id, p.start, p.length, p.digest, p.status, p.content_type, p.body_bytes, p.fetched_at,
       p.fetch_ms, p.url, p.title, p.etag, p.last_modified, :now
FROM pages p JOIN tasks t ON t.id = p.task_id /*rows , r(id bigint) */
WHERE p.task_id = r.id AND p.body_of IS NULL
  AND (EXISTS (SELECT 1 FROM pages q WHERE q.body_of = p.task_id)
    OR EXISTS (SELECT 1 FROM visits v WHERE v.host_id = t.host_id AND v.key = t.key AND v.task_id = p.task_id));

-- name: delete_pages
DELETE FROM pages /*rows USING r(id bigint) */ WHERE pages.task_id = r.id;

-- name: delete_item_pages
DELETE FROM item_pages /*rows USING r(id bigint) */ WHERE item_pages.task_id = r.id;

-- name: delete_redirects
DELETE FROM redirects /*rows USING r(id bigint) */ WHERE redirects.task_id = r.id;

-- name: delete_standing
DELETE FROM standing /*rows USING r(id bigint) */ WHERE standing.id = r.id OR standing.task_id = r.id
RETURNING standing.run_id, standing.rest;

-- name: delete_bot_tasks
DELETE FROM bot_tasks /*rows USING r(id bigint) */ WHERE bot_tasks.task_id = r.id;

-- name: delete_downloads
DELETE FROM downloads /*rows USING r(id bigint) */ WHERE downloads.task_id = r.id;

-- name: delete_events_of_tasks
DELETE FROM events /*rows USING r(id bigint) */ WHERE events.noun = 'task' AND events.subject = r.id;

-- name: delete_tasks
DELETE FROM tasks /*rows USING r(id bigint) */ WHERE tasks.id = r.id;

-- name: delete_refused_urls
DELETE FROM refused_urls WHERE run_id = :run_id AND key IN (
    SELECT key FROM refused_urls WHERE run_id = :run_id ORDER BY key LIMIT :limit) RETURNING run_id;

-- name: delete_run_items
DELETE FROM run_items WHERE run_id = :run_id AND position IN (
    SELECT position FROM run_items WHERE run_id = :run_id ORDER BY position LIMIT :limit) RETURNING run_id;

-- name: delete_entries
DELETE FROM entries WHERE run_id = :run_id AND number IN (
    SELECT number FROM entries WHERE run_id = :run_id ORDER BY number LIMIT :limit) RETURNING run_id;

-- name: delete_events_of_run
DELETE FROM events WHERE id IN (
    SELECT id FROM events WHERE noun = 'run' AND subject = :run_id ORDER BY id LIMIT :limit) RETURNING id;

-- name: log_object
SELECT key FROM logs WHERE run_id = :run_id AND key IS NOT NULL;

-- name: delete_fates
DELETE FROM fates WHERE run_id = :run_id;

-- name: delete_requests
DELETE FROM requests WHERE run_id = :run_id;

-- name: delete_sessions
DELETE FROM sessions WHERE run_id = :run_id;

-- name: delete_sink_positions
DELETE FROM sink_positions WHERE run_id = :run_id;

-- name: delete_sink_skips
DELETE FROM sink_skips WHERE run_id = :run_id;

-- name: delete_refused_sums
DELETE FROM refused_sums WHERE run_id = :run_id;

-- name: delete_effects
DELETE FROM run_effects WHERE run_id = :run_id;

-- name: delete_log
-- A log that is kept by month outlives its run.
DELETE FROM logs WHERE run_id = :run_id AND monthly_uid IS NULL;

-- name: delete_counts
DELETE FROM run_counts WHERE run_id = :run_id;

-- name: delete_run
DELETE FROM runs WHERE id = :run_id RETURNING id;

-- name: old_events
SELECT id, at FROM events WHERE id > :after ORDER BY id LIMIT :limit;

-- name: delete_events
DELETE FROM events /*rows USING r(id bigint) */ WHERE events.id = r.id;

-- name: old_bodies
SELECT b.task_id, v.fetched_at AS visited_at, EXISTS (SELECT 1 FROM pages q WHERE q.body_of = b.task_id) AS named
FROM bodies b LEFT JOIN visits v ON v.host_id = b.host_id AND v.key = b.key AND v.task_id = b.task_id
WHERE b.task_id > :after AND b.kept_at <= :before ORDER BY b.task_id LIMIT :limit;

-- name: forget_old_visits
DELETE FROM visits /*pg USING bodies b */ /*rows , r(task_id bigint) */
WHERE /*pg b.task_id = r.task_id AND visits.host_id = b.host_id AND visits.key = b.key AND visits.task_id = b.task_id */
      /*lite (host_id, key) = (SELECT b.host_id, b.key FROM bodies b WHERE b.task_id = r.task_id) AND visits.task_id = r.task_id */
  AND visits.fetched_at < :before;

-- name: keep_bodies_longer
UPDATE bodies SET kept_at = :now /*rows FROM r(task_id bigint) */ WHERE bodies.task_id = r.task_id;

-- name: delete_bodies
DELETE FROM bodies /*rows USING r(task_id bigint) */
WHERE bodies.task_id = r.task_id AND NOT EXISTS (SELECT 1 FROM pages q WHERE q.body_of = bodies.task_id);

-- name: unnamed_segments
SELECT s.* FROM segments s
WHERE s.state = 'stored' AND s.id > :after
  AND NOT EXISTS (SELECT 1 FROM pages p WHERE p.segment_id = s.id)
  AND NOT EXISTS (SELECT 1 FROM redirects d WHERE d.segment_id = s.id)
  AND NOT EXISTS (SELECT 1 FROM bodies b WHERE b.segment_id = s.id)
ORDER BY s.id LIMIT :limit;

-- name: delete_segment
DELETE FROM segments WHERE id = :id AND state = 'stored';
