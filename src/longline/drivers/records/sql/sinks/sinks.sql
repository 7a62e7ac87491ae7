-- Sinks, their leases and their positions in runs.

-- name: put_sink
-- Runs from before are assigned anew to a sink that gets other runs now, or was away for so long that it got none.
INSERT INTO sinks (key, uid, label, name, every_run, seen_at) VALUES (:key, :uid, :label, :name, :every_run, :now)
ON CONFLICT (key) DO UPDATE SET label = excluded.label, seen_at = excluded.seen_at, name = excluded.name,
    every_run = excluded.every_run,
    assigned = sinks.assigned AND sinks.name = excluded.name AND sinks.every_run = excluded.every_run
        AND sinks.seen_at > CAST(:now AS BIGINT) - :abandoned
RETURNING id, uid, label, failures, assigned;

-- name: put_crawl_sink
INSERT INTO sinks (key, uid, label, seen_at) VALUES (:key, :uid, :label, :now)
ON CONFLICT (key) DO UPDATE SET label = excluded.label, seen_at = excluded.seen_at
RETURNING id, uid, label, failures, TRUE AS assigned;

-- name: sink_due
-- The reaper deletes the row of a dead process: its lease is free at once.
SELECT s.id FROM sinks s
WHERE s.id = :id AND s.retry_at <= :now
    AND (s.lease_until <= :now OR s.owner = :owner OR NOT EXISTS (SELECT 1 FROM workers w WHERE w.id = s.owner))
    AND EXISTS (
        SELECT 1 FROM sink_positions p JOIN run_counts r ON r.run_id = p.run_id
        WHERE p.sink_id = s.id AND p.waiting AND p.retry_at <= :now AND r.last_item > p.position
    );

-- name: claim_sink
UPDATE sinks SET owner = CAST(:owner AS BIGINT), token = token + 1, lease_until = CAST(:now AS BIGINT) + :lease
WHERE id = :id AND retry_at <= :now
    AND (lease_until <= :now OR owner = :owner OR NOT EXISTS (SELECT 1 FROM workers w WHERE w.id = sinks.owner))
RETURNING id AS sink_id, token, failures;

-- name: renew_sink
UPDATE sinks SET lease_until = CAST(:now AS BIGINT) + :lease WHERE id = :id AND token = :token RETURNING id;

-- name: sink_backlog
SELECT p.run_id, p.position, r.last_item AS last, p.failures
FROM sink_positions p JOIN run_counts r ON r.run_id = p.run_id
WHERE p.sink_id = :id AND p.waiting AND p.retry_at <= :now AND r.last_item > p.position
ORDER BY p.run_id LIMIT :limit;

-- name: sink_backlog_of_run
SELECT p.run_id, p.position, r.last_item AS last, p.failures
FROM sink_positions p JOIN run_counts r ON r.run_id = p.run_id
WHERE p.sink_id = :id AND p.run_id = :run_id AND r.last_item > p.position AND (:held OR p.retry_at <= :now);

-- name: advance_sink
UPDATE sinks SET failures = 0, failing_since = NULL, error = '', delivered = delivered + :count
WHERE id = :id AND token = :token RETURNING id;

-- name: advance_position
-- A skip may have gone further. The row of the sink is locked: no run is assigned to the sink at this moment.
UPDATE sink_positions SET
    position = CASE WHEN position > :position THEN position ELSE :position END,
    waiting = position < (SELECT r.last_item FROM run_counts r WHERE r.run_id = sink_positions.run_id)
        AND :position < (SELECT r.last_item FROM run_counts r WHERE r.run_id = sink_positions.run_id),
    refused = NULL, failures = 0, retry_at = 0, error = ''
WHERE sink_id = :id AND run_id = :run_id;

-- name: refuse_item
UPDATE sink_positions SET refused = :position, error = :error, failures = failures + 1,
    retry_at = CAST(:now AS BIGINT) + :retry
WHERE sink_id = :id AND run_id = :run_id AND position < :position;

-- name: fail_sink
UPDATE sinks SET failures = failures + 1, error = :error, retry_at = CAST(:now AS BIGINT) + :retry, lease_until = 0,
    failing_since = COALESCE(failing_since, :now)
WHERE id = :id AND token = :token;

-- name: release_sink
UPDATE sinks SET lease_until = 0 WHERE id = :id AND token = :token;
