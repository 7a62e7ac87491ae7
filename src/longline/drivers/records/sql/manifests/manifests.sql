-- Manifests: their rows beside their runs, and their snapshots.

-- name: add_manifest
INSERT INTO manifests (run_id, kind, tenant, origin, metadata_key, resources, total, attributes, trace_id, bytes, code, message)
VALUES (:run_id, :kind, :tenant, :origin, :metadata_key, :resources, :total, :attributes, :trace_id, :bytes, :code, :message);

-- name: note_manifest_total
UPDATE manifests SET total = :total WHERE run_id = :run_id AND origin = 'direct' AND COALESCE(total, 0) < CAST(:total AS BIGINT);

-- part: begun
-- A worker has leased a task if one has ended, was tried before, or is marked by a claim.
(u.open < u.admitted OR EXISTS (
    SELECT 1 FROM (SELECT t.id, t.host_id, t.due, t.priority, t.run_id, t.attempt, t.began_at FROM tasks t
                   WHERE t.run_id = u.id ORDER BY t.id LIMIT :look) t
    WHERE t.attempt > 0 OR t.began_at IS NOT NULL OR EXISTS (
        SELECT 1 FROM queue q WHERE q.host_id = t.host_id AND q.due = t.due AND q.priority = t.priority
            AND q.run_id = t.run_id AND q.id = t.id AND q.claims > 0)))

-- part: snapshot
SELECT u.id AS run_id, u.uid, m.kind, m.tenant, u.state, m.origin, m.metadata_key, m.resources, m.total, u.admitted,
       u.completed, u.open, u.created_at, /*pg GREATEST */ /*lite MAX */ (u.updated_at, u.counted_at) AS changed_at,
       CASE WHEN u.state = 'running' THEN /*part begun */ ELSE u.state <> 'queued' END AS begun,
       COALESCE(m.code, d.reason) AS error_code, COALESCE(m.message, d.error) AS error_message, d.status AS error_status,
       (SELECT MAX(l.number) FROM dead_letters l WHERE l.run_id = u.id) AS dead_letter
FROM runs_now u JOIN manifests m ON m.run_id = u.id
LEFT JOIN dead_letters d ON d.number = (
    SELECT MIN(l.number) FROM dead_letters l WHERE l.run_id = u.id AND l.replayed_at IS NULL)

-- name: manifest_snapshot
/*part snapshot */ WHERE u.uid = :uid;

-- name: manifest_snapshots_of_runs
/*part snapshot */ /*rows , r(id bigint) */ WHERE u.id = r.id;

-- part: fitting
  AND (CAST(:kind AS TEXT) IS NULL OR m.kind = :kind)
  AND (CAST(:tenant AS TEXT) IS NULL OR m.tenant = :tenant)
  AND (CAST(:since AS BIGINT) IS NULL OR u.created_at >= :since)
  AND u.deleted_at IS NULL

-- Lists of manifests, newest first. Each filter that an index serves has a statement of its own: with OR none is used.

-- name: manifests_of_all
SELECT m.run_id FROM manifests m CROSS JOIN runs u WHERE u.id = m.run_id AND m.run_id < CAST(:before AS BIGINT) /*part fitting */
ORDER BY m.run_id DESC LIMIT :limit;

-- name: manifests_of_kind
SELECT m.run_id FROM manifests m CROSS JOIN runs u
WHERE m.kind = CAST(:kind AS TEXT) AND u.id = m.run_id AND m.run_id < CAST(:before AS BIGINT) /*part fitting */
ORDER BY m.run_id DESC LIMIT :limit;

-- name: manifests_of_tenant
SELECT m.run_id FROM manifests m CROSS JOIN runs u
WHERE m.tenant = CAST(:tenant AS TEXT) AND u.id = m.run_id AND m.run_id < CAST(:before AS BIGINT) /*part fitting */
ORDER BY m.run_id DESC LIMIT :limit;

-- name: manifests_of_state
-- Bounds instead of an equality: with one, PostgreSQL reads all runs by their ids in search of a rare state.
SELECT m.run_id FROM runs u CROSS JOIN manifests m
WHERE u.kind = 'manifest' AND (u.state, u.id) < (:state, CAST(:before AS BIGINT)) AND u.state >= :state
  AND m.run_id = u.id /*part fitting */
ORDER BY u.state DESC, u.id DESC LIMIT :limit;

-- name: ended_manifests_that_await_files
SELECT m.run_id FROM manifests m CROSS JOIN runs u CROSS JOIN run_counts c
WHERE m.origin = 'direct' AND m.run_id < CAST(:before AS BIGINT) AND u.id = m.run_id AND u.state <> 'running' AND c.run_id = u.id
  AND (m.total IS NULL OR c.admitted - c.open < m.total) /*part fitting */
ORDER BY m.run_id DESC LIMIT :limit;

-- name: manifests_since
-- SQLite takes an equality for better than a range, and would read all runs of the kind.
SELECT m.run_id FROM runs u /*lite INDEXED BY runs_manifests_since */ CROSS JOIN manifests m
WHERE u.kind = 'manifest' AND u.created_at >= CAST(:since AS BIGINT) AND u.id < CAST(:before AS BIGINT) AND m.run_id = u.id
  /*part fitting */
ORDER BY u.created_at DESC, u.id DESC LIMIT :limit;

-- name: manifest_snapshots_after
/*part snapshot */ WHERE u.kind = 'manifest' AND u.id > CAST(:after AS BIGINT) AND u.created_at >= CAST(:since AS BIGINT)
ORDER BY u.id LIMIT :limit;

-- name: sized_manifests
SELECT u.id, u.ended_at, m.bytes FROM runs u JOIN manifests m ON m.run_id = u.id
WHERE u.kind = 'manifest' AND u.ended_at IS NOT NULL AND u.deleted_at IS NULL
  AND (u.ended_at > CAST(:after_at AS BIGINT) OR (u.ended_at = :after_at AND u.id > :after))
ORDER BY u.ended_at, u.id LIMIT :limit;

-- name: manifest_bytes
SELECT COUNT(*) AS count, CAST(COALESCE(SUM(m.bytes), 0) AS BIGINT) AS bytes
FROM manifests m JOIN runs u ON u.id = m.run_id WHERE u.deleted_at IS NULL;

-- name: delete_manifest
DELETE FROM manifests WHERE run_id = :run_id;
