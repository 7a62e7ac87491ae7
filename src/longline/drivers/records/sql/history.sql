-- What runs of schedules came to: lists, figures, and forgetting.

-- name: run_by_uid
SELECT * FROM runs WHERE uid = :uid;

-- name: runs_of_schedule
SELECT * FROM runs WHERE schedule_id = :schedule_id AND number IS NOT NULL ORDER BY number DESC LIMIT :limit OFFSET :offset;

-- name: record_of_schedule
SELECT COUNT(*) AS total, COUNT(CASE WHEN state = 'completed' THEN 1 END) AS completed,
       COUNT(CASE WHEN state = 'failed' THEN 1 END) AS failed, COUNT(CASE WHEN state = 'cancelled' THEN 1 END) AS cancelled,
       CAST(AVG(ended_at - started_at) AS DOUBLE PRECISION) AS average_ms, MAX(started_at) AS last_at
FROM runs WHERE schedule_id = :schedule_id AND number IS NOT NULL;

-- name: record_of_all
SELECT COUNT(*) AS total, COUNT(CASE WHEN state = 'completed' THEN 1 END) AS completed,
       COUNT(CASE WHEN state = 'failed' THEN 1 END) AS failed, COUNT(CASE WHEN state = 'cancelled' THEN 1 END) AS cancelled,
       CAST(AVG(ended_at - started_at) AS DOUBLE PRECISION) AS average_ms, MAX(started_at) AS last_at
FROM runs WHERE schedule_id IS NOT NULL AND number IS NOT NULL;

-- name: brought_since
SELECT CAST(COALESCE(SUM(completed), 0) AS BIGINT) AS crawled, CAST(COALESCE(SUM(indexed), 0) AS BIGINT) AS indexed
FROM runs WHERE state = 'completed' AND schedule_id IS NOT NULL AND started_at >= :since;

-- name: prune_runs
UPDATE runs SET schedule_id = NULL, number = NULL, due = NULL
WHERE id /*pg = ANY (ARRAY */ /*lite IN */ (
    SELECT u.id FROM runs u JOIN schedules s ON s.id = u.schedule_id
    WHERE u.number IS NOT NULL AND u.state IN ('completed', 'failed', 'cancelled')
      AND (u.number <= s.runs_made - :keep OR COALESCE(u.ended_at, u.created_at) < :before)
    LIMIT :limit
) /*pg ) */
RETURNING id;

-- name: first_task_of_run
SELECT url, state, reason, error, status FROM tasks WHERE run_id = :run_id ORDER BY id LIMIT 1;

-- name: start_pages_of_run
SELECT t.url, p.digest FROM tasks t JOIN pages p ON p.task_id = t.id WHERE t.run_id = :run_id ORDER BY t.id LIMIT 20;

-- name: statuses_of_run
SELECT status, COUNT(*) AS count FROM tasks WHERE run_id = :run_id AND status IS NOT NULL GROUP BY status;

-- name: errors_of_run
SELECT error AS message, COUNT(*) AS count, MAX(url) AS last_url FROM tasks
WHERE run_id = :run_id AND error IS NOT NULL GROUP BY error ORDER BY COUNT(*) DESC, error LIMIT 5;

-- name: pages_of_run
SELECT COUNT(*) AS count, CAST(COALESCE(SUM(p.body_bytes), 0) AS BIGINT) AS bytes, CAST(AVG(p.fetch_ms) AS DOUBLE PRECISION) AS mean_ms,
       MIN(p.fetch_ms) AS least_ms, MAX(p.fetch_ms) AS most_ms, COUNT(CASE WHEN p.title = '' THEN 1 END) AS untitled
FROM tasks t JOIN pages p ON p.task_id = t.id WHERE t.run_id = :run_id;

-- name: note_run
UPDATE runs SET figures = CAST(:figures AS TEXT), cpu_ms = CAST(:cpu_ms AS BIGINT), memory_mb = CAST(:memory_mb AS BIGINT),
    stack = CAST(:stack AS TEXT)
WHERE id = :id;

-- name: rhythm
SELECT * FROM rhythms WHERE source_ref = :source_ref;

-- name: keep_rhythm
INSERT INTO rhythms (source_ref, digest, changed_at, unchanged, interval_ms)
VALUES (:source_ref, :digest, :changed_at, :unchanged, :interval_ms)
ON CONFLICT (source_ref) DO UPDATE SET digest = excluded.digest, changed_at = excluded.changed_at,
    unchanged = excluded.unchanged, interval_ms = excluded.interval_ms;

-- name: forget_rhythm
DELETE FROM rhythms WHERE source_ref = :source_ref;

-- name: add_tally
INSERT INTO tallies (name, count) VALUES (:name, :count) ON CONFLICT (name) DO UPDATE SET count = tallies.count + excluded.count;

-- name: put_tally
INSERT INTO tallies (name, count) VALUES (:name, :count) ON CONFLICT (name) DO UPDATE SET count = excluded.count;

-- name: tallies
SELECT name, count FROM tallies;
