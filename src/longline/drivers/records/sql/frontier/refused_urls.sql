-- URLs that the bounds or the budget of a run refused, until wider ones admit them.

-- name: keep_refused
-- Of several places of a URL the shallowest counts.
INSERT INTO refused_urls (run_id, key, host, reason, depth, hops, priority, parent_id, url)
SELECT r.run_id, r.key, r.host, r.reason, r.depth, r.hops, r.priority, r.parent_id, r.url
/*rows FROM r(run_id bigint, key bytea, host text, reason text, depth bigint, hops bigint, priority bigint, parent_id bigint, url text) */
WHERE TRUE
ON CONFLICT (run_id, key) DO UPDATE SET depth = excluded.depth, reason = excluded.reason, hops = excluded.hops,
    priority = excluded.priority, parent_id = excluded.parent_id
WHERE excluded.depth < refused_urls.depth;

-- name: drop_refused
DELETE FROM refused_urls /*rows USING r(run_id bigint, key bytea) */
WHERE refused_urls.run_id = r.run_id AND refused_urls.key = r.key;

-- name: refused_counts
SELECT r.reason, COUNT(*) AS count FROM refused_urls r
WHERE r.run_id = :run_id AND NOT EXISTS (
    SELECT 1 FROM hosts h JOIN tasks t ON t.scope = r.run_id AND t.host_id = h.id AND t.key = r.key
    WHERE h.host = r.host
)
GROUP BY r.reason;

-- name: refused_depths
SELECT DISTINCT depth FROM refused_urls WHERE run_id = :run_id ORDER BY depth;

-- name: find_refused
SELECT run_id, key, host, reason, depth, hops, priority, parent_id, url FROM refused_urls
WHERE run_id = :run_id AND depth = :depth AND key > :after ORDER BY key LIMIT :limit;

-- name: change_reasons
UPDATE refused_urls SET reason = r.reason /*rows FROM r(run_id bigint, key bytea, reason text) */
WHERE refused_urls.run_id = r.run_id AND refused_urls.key = r.key;

-- name: sum_refused
INSERT INTO refused_sums (run_id, stored, dropped)
SELECT r.run_id, r.stored, r.dropped /*rows FROM r(run_id bigint, stored bigint, dropped bigint) */
WHERE TRUE
ON CONFLICT (run_id) DO UPDATE SET dropped = refused_sums.dropped + excluded.dropped,
    stored = CASE WHEN refused_sums.stored + excluded.stored > 0 THEN refused_sums.stored + excluded.stored ELSE 0 END
RETURNING run_id, stored;

-- name: count_refused
SELECT COUNT(*) AS count FROM refused_urls WHERE run_id = :run_id;

-- name: set_refused_sum
UPDATE refused_sums SET stored = :stored WHERE run_id = :run_id;

-- name: known_refused
SELECT u.run_id, u.key FROM refused_urls u /*rows , r(run_id bigint, key bytea) */
WHERE u.run_id = r.run_id AND u.key = r.key;

-- name: dropped_refused
SELECT dropped FROM refused_sums WHERE run_id = :run_id;
