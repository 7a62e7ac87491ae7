-- Sources that another service keeps, and the state of their feeds that the service is to be sent.

-- name: remote_source
SELECT * FROM sources WHERE ref = :ref;

-- name: remote_sources
SELECT s.* FROM sources s /*rows , r(ref text) */ WHERE s.ref = r.ref;

-- name: remote_refs
SELECT ref FROM sources WHERE ref IS NOT NULL AND (enabled OR COALESCE(disable_reason, '') <> :gone) ORDER BY id;

-- name: lock_remote_source
SELECT * FROM sources WHERE ref = :ref /*pg FOR NO KEY UPDATE */;

-- name: adopt_source
-- A source of that name is that source.
UPDATE sources SET ref = :ref, updated_at = :now
WHERE name = :name AND ref IS NULL
RETURNING *;

-- name: change_remote_source
UPDATE sources SET name = :name, uses = :uses, base_url = :base_url, parser = CAST(:parser AS TEXT), config = :config,
    crawl = :crawl, failures = CASE WHEN :enabled AND NOT enabled THEN 0 ELSE failures END, enabled = :enabled,
    disabled_at = CAST(:disabled_at AS BIGINT), disable_reason = CAST(:disable_reason AS TEXT),
    feed_url = CAST(:feed_url AS TEXT), feed_wanted = :feed_wanted, feed_every_ms = :feed_every_ms,
    feed_disabled_at = CAST(:feed_disabled_at AS BIGINT), feed_disable_reason = CAST(:feed_disable_reason AS TEXT),
    identity_key = CAST(:identity_key AS TEXT), feed_listed = :feed_listed,
    reported_feed_url = CAST(:reported_feed_url AS TEXT), reported_feed_disabled_at = CAST(:reported_feed_disabled_at AS BIGINT),
    updated_at = :now
WHERE id = :id;

-- name: claim_unreported
UPDATE sources SET tell_at = CAST(:now AS BIGINT) + :hold
WHERE id /*pg = ANY (ARRAY */ /*lite IN */ (
    SELECT id FROM sources
    WHERE ref IS NOT NULL AND (COALESCE(feed_url, '') <> COALESCE(reported_feed_url, '')
        OR COALESCE(feed_disabled_at, 0) <> COALESCE(reported_feed_disabled_at, 0)) AND tell_at <= :now
    ORDER BY id LIMIT :limit /*pg FOR NO KEY UPDATE SKIP LOCKED */
) /*pg ) */
RETURNING *;

-- name: release_unreported
UPDATE sources SET tell_at = 0 /*rows FROM r(id bigint) */ WHERE sources.id = r.id;

-- name: mark_feed_reported
UPDATE sources SET reported_feed_url = CAST(:feed_url AS TEXT), tell_at = 0,
    reported_feed_disabled_at = CAST(:feed_disabled_at AS BIGINT), updated_at = :now
WHERE id = :id;
