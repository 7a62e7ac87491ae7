-- The engine's time, as `model/engine_clock.py` computes it.

-- name: server_time only pg
SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::float8 AS server_ms;

-- name: engine_clock
SELECT version, basis, offset_ms, slew_from_ms, slew_ms FROM engine_clock WHERE id = 1;

-- name: set_engine_clock
-- Only by the process that saw the last change: two that see one jump correct it once.
UPDATE engine_clock SET version = version + 1, basis = :basis, offset_ms = :offset_ms, slew_from_ms = :slew_from_ms,
    slew_ms = :slew_ms
WHERE id = 1 AND version = CAST(:version AS BIGINT) - 1
RETURNING version;

-- name: engine_busy only lite
-- A lease that is held or a pause that lasts: a step of the clock would change them. A step back would put off work that
-- is due by the time `soon` as well.
SELECT EXISTS (SELECT 1 FROM line WHERE owner IS NOT NULL AND wake_at > 0)
    OR EXISTS (SELECT 1 FROM line WHERE owner IS NULL AND wake_at IS NOT NULL AND wake_at <= CAST(:soon AS BIGINT))
    OR EXISTS (SELECT 1 FROM line WHERE not_before > CAST(:now AS BIGINT))
    OR EXISTS (SELECT 1 FROM offers WHERE due > 0 AND owner IS NOT NULL)
    OR EXISTS (SELECT 1 FROM runs WHERE lease_until IS NOT NULL)
    OR EXISTS (SELECT 1 FROM schedules WHERE lease_until IS NOT NULL) AS busy;

-- name: latest_time only lite
-- The latest time that is known to have been the engine's: it never goes back behind this while anything depends on it.
SELECT MAX(t) AS latest FROM (
    SELECT MAX(seen_at) AS t FROM workers
    UNION ALL
    SELECT at FROM (SELECT at FROM events ORDER BY id DESC LIMIT 1) e
) known;
