-- Leases that are taken back: lapsed ones, and those of a worker that died or stopped.

-- name: reap_hosts
-- Whoever held the host may have asked it something just before it died, so the next holder waits a whole delay.
UPDATE line SET owner = NULL, token = token + 1, lapses = lapses + 1,
    not_before = /*pg GREATEST */ /*lite MAX */ (not_before, :now + (SELECT delay_ms FROM hosts WHERE hosts.id = line.host_id)),
    wake_at = /*pg GREATEST */ /*lite MAX */ (not_before, :now + (SELECT delay_ms FROM hosts WHERE hosts.id = line.host_id))
WHERE host_id /*pg = ANY (ARRAY */ /*lite IN */ (
    SELECT host_id FROM line WHERE owner IS NOT NULL AND wake_at < :now
    ORDER BY wake_at LIMIT :limit /*pg FOR UPDATE SKIP LOCKED */
) /*pg ) */
RETURNING host_id;

-- name: disown_hosts
UPDATE line SET owner = NULL, token = token + 1, lapses = lapses + 1,
    not_before = /*pg GREATEST */ /*lite MAX */ (not_before, :now + (SELECT delay_ms FROM hosts WHERE hosts.id = line.host_id)),
    wake_at = /*pg GREATEST */ /*lite MAX */ (not_before, :now + (SELECT delay_ms FROM hosts WHERE hosts.id = line.host_id))
WHERE host_id /*pg = ANY (ARRAY */ /*lite IN */ (
    SELECT host_id FROM line WHERE owner = :owner /*pg ORDER BY host_id FOR NO KEY UPDATE */
) /*pg ) */
RETURNING host_id;

-- name: reap_offers
-- Lapsed leases and retries that came due are ready again; the token moves only where a lease was taken back. What a
-- bot holds stays its own until somebody else pulls it or the sweep for bots comes.
UPDATE offers SET due = 0, token = CASE WHEN owner IS NULL THEN token ELSE token + 1 END, owner = NULL
WHERE id /*pg = ANY (ARRAY */ /*lite IN */ (
    SELECT id FROM offers WHERE due > 0 AND due < :now AND (executor <> 'bot' OR owner IS NULL)
    ORDER BY due LIMIT :limit /*pg FOR UPDATE SKIP LOCKED */
) /*pg ) */
RETURNING id;

-- name: disown_offers
UPDATE offers SET due = 0, token = token + 1, owner = NULL
WHERE id /*pg = ANY (ARRAY */ /*lite IN */ (
    SELECT id FROM offers WHERE owner = :owner AND due > 0 /*pg ORDER BY id FOR NO KEY UPDATE */
) /*pg ) */
RETURNING id;
