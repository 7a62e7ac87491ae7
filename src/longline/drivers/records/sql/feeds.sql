-- The feeds of sources, and when they are polled.

-- name: feed
SELECT * FROM feeds WHERE source_id = :source_id;

-- name: find_feeds
SELECT f.* FROM feeds f JOIN sources s ON s.id = f.source_id
WHERE f.source_id > :after
  AND (CAST(:active AS BOOLEAN) IS NULL
       OR (f.url IS NOT NULL AND f.active AND s.enabled AND (f.disabled_at IS NULL OR f.due_at <= :now)) = :active)
ORDER BY f.source_id LIMIT :limit;

-- name: begin_feed
INSERT INTO feeds (source_id) VALUES (:source_id) ON CONFLICT (source_id) DO NOTHING;

-- name: lock_feed
SELECT * FROM feeds WHERE source_id = :source_id /*pg FOR UPDATE */;

-- name: write_feed
UPDATE feeds SET url = CAST(:url AS TEXT), active = :active, every_ms = :every_ms, stage = CAST(:stage AS TEXT),
    run_id = CAST(:run_id AS BIGINT), due_at = :due_at, next_poll_at = CAST(:next_poll_at AS BIGINT),
    polled_at = CAST(:polled_at AS BIGINT), etag = CAST(:etag AS TEXT), last_modified = CAST(:last_modified AS TEXT),
    entries = :entries, errors = :errors, error = CAST(:error AS TEXT), error_type = CAST(:error_type AS TEXT),
    disabled_at = CAST(:disabled_at AS BIGINT), disabled_reason = CAST(:disabled_reason AS TEXT)
WHERE source_id = :source_id;

-- name: claim_feeds
UPDATE feeds SET due_at = CAST(:now AS BIGINT) + :hold
WHERE source_id /*pg = ANY (ARRAY */ /*lite IN */ (
    SELECT f.source_id FROM feeds f JOIN sources s ON s.id = f.source_id
    WHERE f.due_at <= :now AND f.run_id IS NULL AND f.active AND s.enabled AND (f.url IS NULL) = :searching
    ORDER BY f.due_at, f.source_id LIMIT :limit /*pg FOR UPDATE OF f SKIP LOCKED */
) /*pg ) */
RETURNING *;

-- A run that is no longer there has ended too.
-- name: answered_feeds
SELECT f.* FROM feeds f LEFT JOIN runs r ON r.id = f.run_id
WHERE f.run_id IS NOT NULL AND (r.id IS NULL OR r.ended_at IS NOT NULL) AND (f.url IS NULL) = :searching
ORDER BY f.due_at, f.source_id LIMIT :limit;

-- name: enlist_feeds
INSERT INTO feeds (source_id)
SELECT s.id FROM sources s WHERE s.enabled AND NOT EXISTS (SELECT 1 FROM feeds f WHERE f.source_id = s.id)
ON CONFLICT (source_id) DO NOTHING
RETURNING source_id;
