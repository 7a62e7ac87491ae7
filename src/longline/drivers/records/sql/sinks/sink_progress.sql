-- The progress of sinks, for the operator.

-- name: sink_lags
-- A run with new items is not assigned again yet: a sink that has its former items waits for the new ones.
SELECT s.id, s.label, s.name, s.delivered, s.failures, s.error,
    CAST(COALESCE(CAST(:now AS BIGINT) - s.failing_since, 0) AS BIGINT) AS failing_ms,
    CAST(:now AS BIGINT) - s.seen_at AS unseen_ms,
    (SELECT COUNT(*) FROM sink_skips k WHERE k.sink_id = s.id) AS skipped,
    (SELECT COUNT(*) FROM sink_positions p WHERE p.sink_id = s.id AND p.waiting AND p.refused IS NOT NULL) AS held_runs,
    CAST(COALESCE((
        SELECT SUM(r.last_item - p.position) FROM sink_positions p JOIN run_counts r ON r.run_id = p.run_id
        WHERE p.sink_id = s.id AND p.waiting
    ), 0) AS BIGINT) + CAST(COALESCE((
        SELECT SUM(r.last_item - p.position) FROM run_counts r JOIN sink_positions p ON p.run_id = r.run_id
        WHERE r.new_items AND p.sink_id = s.id AND NOT p.waiting
    ), 0) AS BIGINT) AS waiting
FROM sinks s ORDER BY s.label, s.id;

-- name: sink_run_lags
SELECT p.run_id, p.position, r.last_item AS last, p.refused, p.failures, p.error
FROM sink_positions p JOIN run_counts r ON r.run_id = p.run_id
WHERE p.sink_id = :id AND (p.waiting OR r.new_items) AND r.last_item > p.position
ORDER BY p.refused IS NULL, p.run_id LIMIT :limit;

-- name: sink_run_lag
SELECT p.run_id, p.position, r.last_item AS last, p.refused, p.failures, p.error
FROM sink_positions p JOIN run_counts r ON r.run_id = p.run_id WHERE p.sink_id = :id AND p.run_id = :run_id;

-- name: add_skip
INSERT INTO sink_skips (sink_id, run_id, position, skipped_at, error) VALUES (:id, :run_id, :position, :now, :error)
ON CONFLICT DO NOTHING;

-- name: sink_skips
SELECT run_id, position, skipped_at, error FROM sink_skips WHERE sink_id = :id ORDER BY run_id, position LIMIT :limit;

-- name: retry_sink
UPDATE sinks SET retry_at = 0 WHERE id = :id RETURNING id;

-- name: retry_sink_runs
UPDATE sink_positions SET retry_at = 0 WHERE sink_id = :id AND retry_at > 0;

-- name: drop_sink
DELETE FROM sinks WHERE id = :id AND seen_at <= CAST(:now AS BIGINT) - :unseen RETURNING id;
