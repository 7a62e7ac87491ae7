-- Workers and their heartbeats.

-- name: join_worker
INSERT INTO workers (name, roles, mark, parsers, started_at, seen_at) VALUES (:name, :roles, :mark, :parsers, :now, :now)
RETURNING *;

-- name: beat_worker
-- Ids are never given twice, so one that is missing is that of a worker that was taken for dead.
INSERT INTO workers (id, name, roles, mark, parsers, started_at, seen_at)
VALUES (:id, :name, :roles, :mark, :parsers, :started_at, :now)
ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at;

-- name: leave_worker
DELETE FROM workers WHERE id = :id;

-- name: find_workers
SELECT * FROM workers ORDER BY id;

-- name: silent_workers
SELECT * FROM workers WHERE seen_at < CAST(:now AS BIGINT) - :for_ms ORDER BY id;
