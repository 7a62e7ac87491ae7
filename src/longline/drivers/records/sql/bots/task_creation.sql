-- Tasks of bots that are made from due schedules.
-- Locks on several rows go from offers to schedules to bots to runs, and in the order of ids.

-- name: due_bot_schedules
-- Those without an open task of their own come first; the others are only counted.
SELECT b.*, s.uid, s.state, s.interval_ms, s.created_at, s.updated_at
FROM bot_schedules b JOIN schedules s ON s.id = b.schedule_id
WHERE s.state = 'scheduled' AND b.next_due <= :now
  AND (b.url IS NULL OR NOT EXISTS (SELECT 1 FROM bot_tasks t WHERE t.schedule_id = b.schedule_id AND t.open_key IS NOT NULL))
ORDER BY b.priority, b.next_due LIMIT :limit /*pg FOR NO KEY UPDATE OF b SKIP LOCKED */;

-- name: count_waiting_schedules
SELECT COUNT(*) AS count FROM bot_schedules b JOIN schedules s ON s.id = b.schedule_id
WHERE s.state = 'scheduled' AND b.next_due <= :now AND b.url IS NOT NULL
  AND EXISTS (SELECT 1 FROM bot_tasks t WHERE t.schedule_id = b.schedule_id AND t.open_key IS NOT NULL);

-- name: open_tasks_of_schedule
SELECT task_id FROM bot_tasks WHERE schedule_id = :schedule_id AND open_key IS NOT NULL ORDER BY task_id;

-- name: pages_of_schedule
SELECT r.page_key FROM bot_results r JOIN bot_tasks b ON b.task_id = r.task_id
WHERE b.schedule_id = :schedule_id AND r.page_key IS NOT NULL;

-- name: drop_bot_schedule
DELETE FROM bot_schedules WHERE schedule_id = :schedule_id RETURNING schedule_id;

-- name: drop_schedule
DELETE FROM schedules WHERE id = :schedule_id;

-- name: known_urls_of_domain
-- The host itself and everything below it, whatever the port; a page of them, in the order of their hashes.
SELECT hash, url, host FROM bot_urls WHERE hash > :after AND /*pg strpos */ /*lite instr */ ('.' || host || CAST(:edge AS TEXT), '.' || :domain || CAST(:edge AS TEXT)) > 0
ORDER BY hash LIMIT :limit;

-- name: standing_run
SELECT id FROM runs WHERE kind = :kind AND SUBSTR(seed, 1, 500) = '' AND seed = '' ORDER BY id LIMIT 1;

-- name: know_bot_hosts
INSERT INTO bot_hosts (host_id, host)
SELECT r.host_id, r.host /*rows FROM r(host_id bigint, host text) */ WHERE TRUE
ON CONFLICT (host_id) DO NOTHING;

-- name: admit_bot_tasks
INSERT INTO tasks (scope, host_id, key, run_id, executor, state, priority, due, depth, created_at, url)
SELECT CAST(:run_id AS BIGINT), r.host_id, r.key, CAST(:run_id AS BIGINT), 'bot', CAST(:state AS TEXT), r.priority, 0, 0, CAST(:now AS BIGINT), r.url
/*rows FROM r(host_id bigint, key bytea, priority bigint, url text) */ WHERE TRUE
RETURNING id, key;

-- name: add_bot_tasks
INSERT INTO bot_tasks (task_id, schedule_id, open_key, max_retries, lease_ms, held_ms, updated_at)
SELECT r.task_id, r.schedule_id, r.open_key, r.max_retries, r.lease_ms, r.lease_ms, CAST(:now AS BIGINT)
/*rows FROM r(task_id bigint, schedule_id bigint, open_key bytea, max_retries bigint, lease_ms bigint) */ WHERE TRUE;

-- name: delete_bot_task
DELETE FROM bot_tasks WHERE task_id = :task_id;
