-- Idempotency keys of manifests.

-- name: reserve_idempotency_key
-- A key that nobody holds any more, or whose answer has expired, is taken over.
INSERT INTO idempotency_keys (tenant, kind, key, holder, digest, lease_until)
SELECT r.tenant, r.kind, r.key, r.holder, r.digest, CAST(:now AS BIGINT) + :lease
/*rows FROM r(tenant text, kind text, key text, holder text, digest text) */
WHERE TRUE
ON CONFLICT (tenant, kind, key) DO UPDATE
SET holder = excluded.holder, digest = excluded.digest, lease_until = excluded.lease_until,
    run_uid = NULL, metadata_key = NULL, resources = NULL, expires_at = NULL
WHERE (idempotency_keys.run_uid IS NULL AND idempotency_keys.lease_until <= :now)
   OR (idempotency_keys.run_uid IS NOT NULL AND idempotency_keys.expires_at <= :now)
RETURNING holder;

-- name: idempotency_key
SELECT k.* FROM idempotency_keys k /*rows , r(tenant text, kind text, key text) */
WHERE k.tenant = r.tenant AND k.kind = r.kind AND k.key = r.key;

-- name: fulfil_idempotency_key
UPDATE idempotency_keys SET run_uid = :run_uid, metadata_key = :metadata_key, resources = :resources,
    expires_at = CAST(:now AS BIGINT) + :window
WHERE tenant = :tenant AND kind = :kind AND key = :key AND holder = :holder AND run_uid IS NULL
RETURNING holder;

-- name: release_idempotency_key
DELETE FROM idempotency_keys
WHERE tenant = :tenant AND kind = :kind AND key = :key AND holder = :holder AND run_uid IS NULL
RETURNING holder;

-- name: forget_idempotency_keys
DELETE FROM idempotency_keys WHERE (tenant, kind, key) IN (
    SELECT tenant, kind, key FROM idempotency_keys
    WHERE expires_at <= :now OR (run_uid IS NULL AND lease_until <= CAST(:now AS BIGINT) - :forgotten_after)
    LIMIT :limit
)
RETURNING holder;
