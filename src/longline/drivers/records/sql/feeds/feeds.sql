-- The feeds of sources, and their polls. The settings of a feed are columns of its source.

-- name: feed
SELECT * FROM feeds_now WHERE source_id = :source_id;

-- name: feeds
SELECT f.* FROM feeds_now f /*rows , r(source_id bigint) */ WHERE f.source_id = r.source_id;

-- name: find_feeds
SELECT * FROM feeds_now
WHERE source_id > :after
  AND (CAST(:active AS BOOLEAN) IS NULL
       OR (url IS NOT NULL AND active AND enabled AND (disabled_at IS NULL OR due_at <= :now)) = :active)
ORDER BY source_id LIMIT :limit;

-- name: begin_feed
INSERT INTO feeds (source_id) VALUES (:source_id);

-- name: forget_feed
-- Another URL is another feed, of which nothing is known yet.
UPDATE feeds SET stage = NULL, run_id = NULL, due_at = :now, next_poll_at = NULL, polled_at = NULL, etag = NULL,
    last_modified = NULL, entries = 0, errors = 0, error = NULL, error_type = NULL
WHERE source_id = :source_id;

-- name: repace_feed
-- A feed that is polled at its interval is so at the new one from now on; one that rests or throttles us waits on.
UPDATE feeds SET due_at = polled_at + :every_ms
WHERE source_id = :source_id AND polled_at IS NOT NULL AND run_id IS NULL AND next_poll_at IS NULL
  AND EXISTS (SELECT 1 FROM sources s
              WHERE s.id = feeds.source_id AND s.feed_url IS NOT NULL AND s.feed_disabled_at IS NULL);

-- name: lock_source
SELECT id FROM sources WHERE id = :id /*pg FOR NO KEY UPDATE */;

-- name: write_feed
UPDATE feeds SET stage = CAST(:stage AS TEXT), run_id = CAST(:run_id AS BIGINT), due_at = :due_at,
    next_poll_at = CAST(:next_poll_at AS BIGINT), polled_at = CAST(:polled_at AS BIGINT), etag = CAST(:etag AS TEXT),
    last_modified = CAST(:last_modified AS TEXT), entries = :entries, errors = :errors, error = CAST(:error AS TEXT),
    error_type = CAST(:error_type AS TEXT)
WHERE source_id = :source_id;

-- name: tell_source_of_feed
UPDATE sources SET feed_url = CAST(:url AS TEXT), feed_wanted = :active, feed_every_ms = :every_ms,
    feed_disabled_at = CAST(:disabled_at AS BIGINT), feed_disable_reason = CAST(:disabled_reason AS TEXT),
    updated_at = :now
WHERE id = :source_id;

-- name: claim_feeds
UPDATE feeds SET due_at = CAST(:now AS BIGINT) + :hold
WHERE source_id /*pg = ANY (ARRAY */ /*lite IN */ (
    SELECT f.source_id FROM feeds f JOIN sources s ON s.id = f.source_id
    WHERE f.due_at <= :now AND f.run_id IS NULL AND s.feed_wanted AND s.enabled AND s.uses LIKE '%"interval"%'
      AND (s.feed_url IS NULL) = :searching AND (s.feed_listed OR s.feed_url IS NULL)
    ORDER BY f.due_at, f.source_id LIMIT :limit /*pg FOR UPDATE OF f SKIP LOCKED */
) /*pg ) */
RETURNING source_id;

-- name: answered_feeds
-- A run that is no longer there has ended too.
SELECT f.* FROM feeds_now f LEFT JOIN runs r ON r.id = f.run_id
WHERE f.run_id IS NOT NULL AND (r.id IS NULL OR r.ended_at IS NOT NULL) AND (f.url IS NULL) = :searching
ORDER BY f.due_at, f.source_id LIMIT :limit;
