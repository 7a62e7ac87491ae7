-- Sources: places to crawl. The enabled switch, the feed and the identity are columns because lists filter by them.

-- name: add_source
INSERT INTO sources (name, slug, uses, base_url, extension, extension_config, user_agent, delay_ms, concurrency, proxy_pools, robots_url, parser, config, sinks, crawl, recrawl, enabled, feed_url, identity_key,
    budget, feed_wanted, feed_every_ms, ref, uid, created_at, updated_at)
VALUES (:name, :slug, :uses, :base_url, CAST(:extension AS TEXT), :extension_config, CAST(:user_agent AS TEXT), CAST(:delay_ms AS BIGINT),
    CAST(:concurrency AS BIGINT), :proxy_pools, CAST(:robots_url AS TEXT), CAST(:parser AS TEXT), :config, :sinks, :crawl, :recrawl, :enabled, CAST(:feed_url AS TEXT), CAST(:identity_key AS TEXT),
    CAST(:budget AS BIGINT), :feed_wanted, :feed_every_ms, CAST(:ref AS TEXT), :uid, :now, :now)
ON CONFLICT DO NOTHING
RETURNING *;

-- name: limit_source
-- Without a budget nothing was counted, so what its runs admitted so far is counted now.
UPDATE sources SET budget = CAST(:budget AS BIGINT), updated_at = :now, admitted = (
    SELECT CAST(COALESCE(SUM(c.admitted), 0) AS BIGINT) FROM runs u JOIN run_counts c ON c.run_id = u.id WHERE u.source_id = sources.id)
WHERE id = :id
RETURNING *;

-- name: slugs_like
SELECT slug FROM sources WHERE slug = :slug OR slug LIKE :pattern ESCAPE '\';

-- name: source_by_slug
SELECT * FROM sources WHERE slug = :slug;

-- name: source_by_name
SELECT * FROM sources WHERE name = :name;

-- name: source
SELECT * FROM sources WHERE id = :id;

-- name: sources_by_ids
SELECT s.* FROM sources s /*rows , r(id bigint) */ WHERE s.id = r.id;

-- name: source_called
SELECT * FROM sources WHERE uid = :called;

-- name: source_by_identity
SELECT * FROM sources WHERE identity_key = :identity_key ORDER BY id LIMIT 1;

-- name: find_sources
SELECT * FROM sources
WHERE (CAST(:search AS TEXT) IS NULL OR LOWER(name) LIKE LOWER(:search) ESCAPE '\' OR LOWER(base_url) LIKE LOWER(:search) ESCAPE '\')
  AND (CAST(:name AS TEXT) IS NULL OR LOWER(name) LIKE LOWER(:name) ESCAPE '\')
  AND (CAST(:enabled AS BOOLEAN) IS NULL OR enabled = :enabled)
  AND (CAST(:failing AS BOOLEAN) IS NULL OR (failures > 0) = :failing) AND (CAST(:after AS TEXT) IS NULL OR name > :after)
  AND (CAST(:feed_active AS BOOLEAN) IS NULL OR (feed_url IS NOT NULL AND feed_listed AND (feed_disabled_at IS NULL
       OR (SELECT f.due_at FROM feeds f WHERE f.source_id = sources.id) <= :now)) = :feed_active)
ORDER BY
    CASE WHEN :sort = 'created_at' AND NOT :falling THEN created_at END,
    CASE WHEN :sort = 'created_at' AND :falling THEN created_at END DESC,
    CASE WHEN :sort = 'updated_at' AND NOT :falling THEN updated_at END,
    CASE WHEN :sort = 'updated_at' AND :falling THEN updated_at END DESC,
    CASE WHEN :sort = 'name' AND :falling THEN name END DESC,
    name, id
LIMIT :limit OFFSET :offset;

-- name: count_sources
SELECT COUNT(*) AS count FROM sources
WHERE (CAST(:search AS TEXT) IS NULL OR LOWER(name) LIKE LOWER(:search) ESCAPE '\' OR LOWER(base_url) LIKE LOWER(:search) ESCAPE '\')
  AND (CAST(:name AS TEXT) IS NULL OR LOWER(name) LIKE LOWER(:name) ESCAPE '\')
  AND (CAST(:enabled AS BOOLEAN) IS NULL OR enabled = :enabled)
  AND (CAST(:failing AS BOOLEAN) IS NULL OR (failures > 0) = :failing) AND (CAST(:after AS TEXT) IS NULL OR name > :after)
  AND (CAST(:feed_active AS BOOLEAN) IS NULL OR (feed_url IS NOT NULL AND feed_listed AND (feed_disabled_at IS NULL
       OR (SELECT f.due_at FROM feeds f WHERE f.source_id = sources.id) <= :now)) = :feed_active);

-- name: change_source
UPDATE sources SET name = :name, slug = :slug, uses = :uses, base_url = :base_url, extension = CAST(:extension AS TEXT), extension_config = :extension_config,
    user_agent = CAST(:user_agent AS TEXT), delay_ms = CAST(:delay_ms AS BIGINT), concurrency = CAST(:concurrency AS BIGINT),
    proxy_pools = :proxy_pools, robots_url = CAST(:robots_url AS TEXT), robots_text = CAST(:robots_text AS TEXT),
    robots_fetched_at = CAST(:robots_fetched_at AS BIGINT), failures = :failures, parser = CAST(:parser AS TEXT), config = :config, sinks = :sinks,
    crawl = :crawl, recrawl = :recrawl, enabled = :enabled,
    disabled_at = CAST(:disabled_at AS BIGINT), disable_reason = CAST(:disable_reason AS TEXT),
    feed_url = CAST(:feed_url AS TEXT), feed_wanted = :feed_wanted, feed_every_ms = :feed_every_ms,
    identity_key = CAST(:identity_key AS TEXT),
    feed_disabled_at = CASE WHEN :other_feed THEN NULL ELSE feed_disabled_at END,
    feed_disable_reason = CASE WHEN :other_feed THEN NULL ELSE feed_disable_reason END,
    updated_at = :now
WHERE id = :id
RETURNING *;

-- name: let_go_of_source
UPDATE schedules SET source_id = NULL WHERE source_id = :id;

-- name: let_go_of_source_runs
UPDATE runs SET source_id = NULL WHERE source_id = :id;

-- name: remove_source
DELETE FROM sources WHERE id = :id RETURNING id;
