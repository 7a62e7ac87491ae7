-- The outbox of run ends. An effect is added in the transaction that ends its run, and deleted in the transaction of the
-- effect, or after it where the effect is outside of the database. A lease is a due time in the future and a token.

-- name: run_plans
SELECT u.id, u.plan FROM runs u /*rows , r(id bigint) */ WHERE u.id = r.id;

-- name: add_run_effects
INSERT INTO run_effects (run_id, kind, detail, state, error, ended_at, due)
SELECT u.id, r.kind, r.detail, u.state, u.error, u.ended_at, :now
FROM runs u /*rows , r(run_id bigint, number bigint, kind text, detail text) */
WHERE u.id = r.run_id
ORDER BY r.number;

-- name: take_run_effects
UPDATE run_effects SET due = CAST(:now AS BIGINT) + :ttl, token = token + 1, attempt = attempt + 1
WHERE id /*pg = ANY (ARRAY */ /*lite IN */ (
    SELECT id FROM run_effects WHERE kind = :kind AND due <= :now ORDER BY due, id LIMIT :limit
    /*pg FOR UPDATE SKIP LOCKED */
) /*pg ) */
RETURNING id;

-- name: taken_run_effects
SELECT e.id, e.kind, e.detail, e.run_id, u.uid AS run_uid, u.source_id, e.state, e.error, e.ended_at, e.attempt, e.token
FROM run_effects e JOIN runs u ON u.id = e.run_id /*rows , r(id bigint) */ WHERE e.id = r.id;

-- name: close_run_effect
DELETE FROM run_effects WHERE id = :id AND token = :token RETURNING id;

-- name: put_back_run_effect
UPDATE run_effects SET due = CAST(:now AS BIGINT) + :wait, token = token + 1, last_error = :error
WHERE id = :id AND token = :token
RETURNING id;

-- name: waiting_run_effects
SELECT kind, COUNT(*) AS count FROM run_effects GROUP BY kind ORDER BY kind;

-- name: note_success_of_source
-- The effects of a source may come in another order than its runs ended: the latest end decides.
UPDATE sources SET succeeded_at = CAST(:ended_at AS BIGINT),
    failures = CASE WHEN COALESCE(failed_at, 0) > :ended_at THEN failures ELSE 0 END
WHERE id = :id AND COALESCE(succeeded_at, 0) <= :ended_at
RETURNING id;

-- name: note_failure_of_source
UPDATE sources SET failed_at = /*pg GREATEST */ /*lite MAX */ (COALESCE(failed_at, 0), :ended_at),
    failures = failures + CASE WHEN COALESCE(succeeded_at, 0) > :ended_at THEN 0 ELSE 1 END
WHERE id = :id
RETURNING id;
