-- Sinks, their leases and their positions in runs.

-- name: put_sink
INSERT INTO sinks (key, uid, label) VALUES (:key, :uid, :label)
ON CONFLICT (key) DO UPDATE SET label = excluded.label
RETURNING id, uid, label, failures;

-- name: claim_sink
-- The reaper deletes the row of a dead process: its lease is free at once.
UPDATE sinks SET owner = CAST(:owner AS BIGINT), token = token + 1, lease_until = CAST(:now AS BIGINT) + :lease
WHERE id = :id AND retry_at <= :now
    AND (lease_until <= :now OR owner = :owner OR NOT EXISTS (SELECT 1 FROM workers w WHERE w.id = sinks.owner))
RETURNING id AS sink_id, token, failures;

-- name: renew_sink
UPDATE sinks SET lease_until = CAST(:now AS BIGINT) + :lease WHERE id = :id AND token = :token RETURNING id;

-- name: sink_backlog
SELECT r.run_id, COALESCE(p.position, 0) AS position, r.last_item AS last
FROM run_counts r LEFT JOIN sink_positions p ON p.sink_id = :id AND p.run_id = r.run_id
WHERE r.last_item > 0 AND r.last_item > COALESCE(p.position, 0)
ORDER BY r.run_id LIMIT :limit;

-- name: sink_backlog_of_run
SELECT r.run_id, COALESCE(p.position, 0) AS position, r.last_item AS last
FROM run_counts r LEFT JOIN sink_positions p ON p.sink_id = :id AND p.run_id = r.run_id
WHERE r.run_id = :run_id AND r.last_item > COALESCE(p.position, 0);

-- name: advance_sink
UPDATE sinks SET failures = 0, error = '', delivered = delivered + :count WHERE id = :id AND token = :token RETURNING id;

-- name: put_sink_position
INSERT INTO sink_positions (sink_id, run_id, position) VALUES (:id, :run_id, :position)
ON CONFLICT (sink_id, run_id) DO UPDATE SET position = excluded.position;

-- name: fail_sink
UPDATE sinks SET failures = failures + 1, error = :error, retry_at = CAST(:now AS BIGINT) + :retry, lease_until = 0
WHERE id = :id AND token = :token;

-- name: release_sink
UPDATE sinks SET lease_until = 0 WHERE id = :id AND token = :token;

-- name: sink_lags
SELECT s.id, s.label, s.delivered, s.failures, s.error, CAST(COALESCE((
    SELECT SUM(r.last_item - COALESCE(p.position, 0))
    FROM run_counts r LEFT JOIN sink_positions p ON p.sink_id = s.id AND p.run_id = r.run_id WHERE r.last_item > 0
), 0) AS BIGINT) AS waiting
FROM sinks s ORDER BY s.label, s.id;
