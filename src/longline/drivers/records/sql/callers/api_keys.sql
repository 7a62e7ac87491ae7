-- API keys.

-- name: add_api_key
INSERT INTO api_keys (uid, name, secret, door, role, tenant, per_minute, created_at, expires_at)
VALUES (:uid, :name, :secret, :door, :role, :tenant, CAST(:per_minute AS BIGINT), :now, CAST(:expires_at AS BIGINT))
RETURNING *;

-- name: api_keys_by_uid
SELECT k.* FROM api_keys k /*rows , r(uid text) */ WHERE k.uid = r.uid;

-- name: find_api_keys
SELECT * FROM api_keys WHERE id < :before ORDER BY id DESC LIMIT :limit;

-- name: revoke_api_key
UPDATE api_keys SET revoked_at = COALESCE(revoked_at, CAST(:now AS BIGINT)) WHERE uid = :uid RETURNING *;

-- name: touch_api_keys
UPDATE api_keys SET last_used_at = :now /*rows FROM r(id bigint) */
WHERE api_keys.id = r.id AND COALESCE(api_keys.last_used_at, 0) <= :since;
