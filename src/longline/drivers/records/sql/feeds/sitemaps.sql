-- The times at which sitemaps of sources are read.

-- name: begin_sitemaps
INSERT INTO sitemaps (source_id) VALUES (:source_id);

-- name: lock_sitemaps
SELECT * FROM sitemaps WHERE source_id = :source_id /*pg FOR UPDATE */;

-- name: write_sitemaps
UPDATE sitemaps SET level = :level, run_id = CAST(:run_id AS BIGINT), due_at = :due_at WHERE source_id = :source_id;

-- name: claim_sitemaps
UPDATE sitemaps SET due_at = CAST(:now AS BIGINT) + :hold
WHERE source_id /*pg = ANY (ARRAY */ /*lite IN */ (
    SELECT m.source_id FROM sitemaps m JOIN sources s ON s.id = m.source_id
    WHERE m.due_at <= :now AND m.run_id IS NULL AND s.feed_wanted AND s.enabled AND s.uses LIKE '%"interval"%'
    ORDER BY m.due_at, m.source_id LIMIT :limit /*pg FOR UPDATE OF m SKIP LOCKED */
) /*pg ) */
RETURNING *;

-- name: answered_sitemaps
-- A run that is no longer there has ended too.
SELECT m.* FROM sitemaps m LEFT JOIN runs r ON r.id = m.run_id
WHERE m.run_id IS NOT NULL AND (r.id IS NULL OR r.ended_at IS NOT NULL)
ORDER BY m.due_at, m.source_id LIMIT :limit;
