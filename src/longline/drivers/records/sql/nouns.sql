-- Plain reading and making of runs, tasks, segments and workers.

-- name: add_run
INSERT INTO runs (uid, kind, state, plan, seed, source_id, schedule_id, budget, created_at)
VALUES (:uid, :kind, :state, :plan, :seed, CAST(:source_id AS BIGINT), CAST(:schedule_id AS BIGINT), CAST(:budget AS BIGINT), :now)
RETURNING *;

-- name: ensure_run
-- Of the standing ones there is one of each kind and seed: who comes second waits for the first, and makes none.
INSERT INTO runs (uid, kind, state, plan, seed, source_id, schedule_id, budget, created_at)
VALUES (:uid, :kind, :state, :plan, :seed, CAST(:source_id AS BIGINT), CAST(:schedule_id AS BIGINT), CAST(:budget AS BIGINT), :now)
ON CONFLICT DO NOTHING
RETURNING id;

-- name: run
SELECT * FROM runs WHERE id = :id;

-- name: latest_run
SELECT * FROM runs WHERE kind = :kind AND SUBSTR(seed, 1, 500) = SUBSTR(:seed, 1, 500) AND seed = :seed ORDER BY id DESC LIMIT 1;

-- name: first_run
SELECT * FROM runs WHERE kind = :kind AND SUBSTR(seed, 1, 500) = SUBSTR(:seed, 1, 500) AND seed = :seed ORDER BY id LIMIT 1;

-- name: replan_run
UPDATE runs SET plan = :plan, source_id = CAST(:source_id AS BIGINT) WHERE id = :id AND kind LIKE 'frontier.%' RETURNING id;

-- name: find_runs
SELECT * FROM runs ORDER BY id DESC LIMIT :limit OFFSET :offset;

-- name: fates_of_run
SELECT fate, reason, count FROM fates WHERE run_id = :run_id AND count > 0 ORDER BY fate, count DESC, reason;

-- name: run_counts
SELECT state, COUNT(*) AS count FROM runs GROUP BY state;

-- name: task_counts
SELECT CAST(COALESCE(SUM(open), 0) AS BIGINT) AS open, CAST(COALESCE(SUM(completed), 0) AS BIGINT) AS completed,
       CAST(COALESCE(SUM(failed), 0) AS BIGINT) AS failed, CAST(COALESCE(SUM(cancelled), 0) AS BIGINT) AS cancelled,
       CAST(COALESCE(SUM(skipped), 0) AS BIGINT) AS skipped
FROM runs;

-- name: task
SELECT id, run_id, host, url, state, reason, priority, attempt, depth, status, error, due, created_at, finished_at
FROM tasks_now WHERE id = :id;

-- name: find_tasks
SELECT id, run_id, host, url, state, reason, priority, attempt, depth, status, error, due, created_at, finished_at
FROM tasks_now WHERE id > :after ORDER BY id LIMIT :limit;

-- name: find_tasks_of_run
SELECT id, run_id, host, url, state, reason, priority, attempt, depth, status, error, due, created_at, finished_at
FROM tasks_now WHERE run_id = :run_id AND id > :after ORDER BY id LIMIT :limit;

-- name: page
SELECT s.key, p.start, p.length, p.digest, p.status, p.content_type, p.body_bytes, p.fetched_at, p.fetch_ms,
       p.url, p.title, p.etag, p.last_modified, p.body_of
FROM pages p JOIN segments s ON s.id = p.segment_id WHERE p.task_id = :task_id;

-- name: known_task
SELECT t.id FROM tasks t JOIN hosts h ON h.id = t.host_id WHERE t.scope = :scope AND h.host = :host AND t.key = :key;

-- name: begin_segment
INSERT INTO segments (key, owner, state, created_at) VALUES (:key, :owner, 'writing', :now) RETURNING id;

-- name: abandoned_segments
SELECT * FROM segments s /*rows , r(owner bigint) */ WHERE s.owner = r.owner AND s.state = 'writing';

-- name: drop_segment
DELETE FROM segments WHERE id = :id AND state = 'writing';

-- name: find_segments
SELECT * FROM segments WHERE state = 'stored' ORDER BY id;

-- name: find_segments_of_run
SELECT * FROM segments WHERE state = 'stored' AND id IN (
    SELECT p.segment_id FROM pages p JOIN tasks t ON t.id = p.task_id WHERE t.run_id = :run_id
) ORDER BY id;

-- name: join_worker
INSERT INTO workers (name, roles, mark, started_at, seen_at) VALUES (:name, :roles, :mark, :now, :now) RETURNING *;

-- name: beat_worker
-- Ids are never given twice, so one that is missing is that of a worker that was taken for dead.
INSERT INTO workers (id, name, roles, mark, started_at, seen_at) VALUES (:id, :name, :roles, :mark, :started_at, :now)
ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at;

-- name: leave_worker
DELETE FROM workers WHERE id = :id;

-- name: find_workers
SELECT * FROM workers ORDER BY id;

-- name: silent_workers
SELECT * FROM workers WHERE seen_at < CAST(:now AS BIGINT) - :for_ms ORDER BY id;
