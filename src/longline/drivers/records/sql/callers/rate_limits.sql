-- Token buckets of callers.

-- name: add_rate_limits
INSERT INTO rate_limits (name, spare, spare_at) SELECT r.name, r.spare, :now /*rows FROM r(name text, spare bigint) */
WHERE TRUE ON CONFLICT (name) DO NOTHING;

-- name: lock_rate_limits
SELECT l.name, l.spare, l.spare_at FROM rate_limits l /*rows , r(name text) */
WHERE l.name = r.name /*pg ORDER BY l.name FOR NO KEY UPDATE OF l */;

-- name: spend_rate_limits
UPDATE rate_limits SET spare = r.spare, spare_at = :now /*rows FROM r(name text, spare bigint) */
WHERE rate_limits.name = r.name;

-- name: forget_rate_limits
DELETE FROM rate_limits WHERE spare_at <= CAST(:now AS BIGINT) - CAST(:age AS BIGINT);
