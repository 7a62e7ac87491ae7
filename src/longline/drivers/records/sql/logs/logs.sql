-- Run logs. Numbers are given under the lock of the log's head, so that a reader who goes on from a number misses nothing.

-- name: begin_logs
-- The logs of catalogues are kept by month.
INSERT INTO logs (run_id, beat_at, monthly_uid)
SELECT r.run_id, :now, (SELECT u.uid FROM runs u WHERE u.id = r.run_id AND u.kind = 'series') /*rows FROM r(run_id bigint) */
WHERE TRUE
ON CONFLICT (run_id) DO NOTHING
RETURNING run_id;

-- name: lock_logs
-- A log that was closed opens again with its run.
SELECT l.run_id, l.last, l.last_at_us, l.monthly_uid, l.sealed AND COALESCE(u.state IN ('completed', 'failed', 'cancelled'), TRUE) AS closed
FROM logs l LEFT JOIN runs u ON u.id = l.run_id /*rows , r(run_id bigint) */
WHERE l.run_id = r.run_id /*pg ORDER BY l.run_id FOR NO KEY UPDATE OF l */;

-- name: extend_logs
UPDATE logs SET last = r.last, last_at_us = r.last_at_us,
    first_at_us = CASE WHEN logs.first_at_us = 0 THEN r.first_at_us ELSE logs.first_at_us END, debug_count = logs.debug_count + r.debug,
    info_count = logs.info_count + r.info, warn_count = logs.warn_count + r.warn, error_count = logs.error_count + r.error,
    dropped = logs.dropped + r.dropped, sealed = FALSE, emptied = FALSE
/*rows FROM r(run_id bigint, last bigint, last_at_us bigint, first_at_us bigint, debug bigint, info bigint, warn bigint, error bigint, dropped bigint) */
WHERE logs.run_id = r.run_id;

-- name: drop_entries
UPDATE logs SET dropped = logs.dropped + r.dropped /*rows FROM r(run_id bigint, dropped bigint) */
WHERE logs.run_id = r.run_id;

-- name: close_logs
-- One that was made old goes at once.
UPDATE logs SET last = r.last, last_at_us = r.last_at_us,
    first_at_us = CASE WHEN logs.first_at_us = 0 THEN r.first_at_us ELSE logs.first_at_us END, debug_count = logs.debug_count + r.debug,
    info_count = logs.info_count + r.info, warn_count = logs.warn_count + r.warn, error_count = logs.error_count + r.error,
    sealed = TRUE, beat_at = CASE WHEN beat_at = 0 THEN 0 ELSE CAST(:now AS BIGINT) END
/*rows FROM r(run_id bigint, last bigint, last_at_us bigint, first_at_us bigint, debug bigint, info bigint, warn bigint, error bigint) */
WHERE logs.run_id = r.run_id;

-- name: add_entries
INSERT INTO entries (run_id, number, at_us, level, topic, message, fields)
SELECT r.run_id, r.number, r.at_us, r.level, r.topic, r.message, r.fields
/*rows FROM r(run_id bigint, number bigint, at_us bigint, level text, topic text, message text, fields text) */
WHERE TRUE;

-- name: add_monthly_entries
INSERT INTO monthly_entries (month, run_id, number, at_us, level, topic, message, fields)
SELECT r.month, r.run_id, r.number, r.at_us, r.level, r.topic, r.message, r.fields
/*rows FROM r(month bigint, run_id bigint, number bigint, at_us bigint, level text, topic text, message text, fields text) */
WHERE TRUE;

-- name: log_head
SELECT l.sealed, l.key, l.monthly_uid, l.first_at_us, l.last_at_us, COALESCE(s.uid, u.uid, '') AS name, COALESCE(u.uid, '') AS uid
FROM logs l LEFT JOIN runs u ON u.id = l.run_id LEFT JOIN schedules s ON s.id = u.schedule_id WHERE l.run_id = :run_id;

-- name: entries_after
SELECT run_id, number, at_us, level, topic, message, fields FROM entries
WHERE run_id = :run_id AND number > :after ORDER BY number LIMIT :limit;

-- name: newest_entries
SELECT run_id, number, at_us, level, topic, message, fields FROM entries
WHERE run_id = :run_id ORDER BY number DESC LIMIT :limit;

-- name: logged_runs
SELECT * FROM logged_runs
WHERE run_id IN (
    SELECT id FROM runs WHERE schedule_id = (SELECT id FROM schedules WHERE schedules.uid = :name)
    UNION ALL SELECT id FROM runs WHERE runs.uid = :name AND schedule_id IS NULL
) AND (CAST(:uid AS TEXT) IS NULL OR uid = :uid) AND (CAST(:number AS BIGINT) IS NULL OR number = :number)
ORDER BY run_id DESC LIMIT :limit OFFSET :offset;

-- name: following_log
SELECT * FROM logged_runs
WHERE run_id > :run_id AND sealed IS NOT NULL AND run_id IN (
    SELECT id FROM runs WHERE schedule_id = (SELECT id FROM schedules WHERE schedules.uid = :name)
    UNION ALL SELECT id FROM runs WHERE runs.uid = :name AND schedule_id IS NULL
) ORDER BY run_id LIMIT 1;

-- name: due_logs
SELECT r.*, (SELECT c.indexed FROM run_counts c WHERE c.run_id = r.run_id) AS items,
       l.beat_at <= CAST(:now AS BIGINT) - :every_ms AS silent
FROM logs l JOIN logged_runs r ON r.run_id = l.run_id
WHERE NOT l.sealed AND CASE
    WHEN r.state IN ('completed', 'failed', 'cancelled') THEN r.ended_at <= CAST(:now AS BIGINT) - :grace_ms
    ELSE r.state = 'running' AND (l.beat_at <= CAST(:now AS BIGINT) - :every_ms OR r.completed / :step > l.reported_pages / :step) END
ORDER BY l.run_id LIMIT :limit;

-- name: beat_log
UPDATE logs SET beat_at = CASE WHEN :silent = 1 THEN :now ELSE beat_at END, reported_pages = :completed
WHERE run_id = :run_id AND beat_at = :beat_at AND reported_pages = :reported_pages AND NOT sealed
RETURNING run_id;

-- name: seal_log
UPDATE logs SET sealed = TRUE
WHERE run_id = :run_id AND NOT sealed
  AND EXISTS (SELECT 1 FROM runs WHERE runs.id = logs.run_id AND runs.state IN ('completed', 'failed', 'cancelled'))
RETURNING run_id;

-- name: unkept_logs
SELECT r.* FROM logs l JOIN logged_runs r ON r.run_id = l.run_id
WHERE l.sealed AND NOT l.emptied AND l.monthly_uid IS NULL AND (l.kept < l.last OR l.key IS NULL) ORDER BY l.run_id LIMIT :limit;

-- name: archive_log
UPDATE logs SET key = :key, bytes = :bytes, kept = :kept, archived_at = :now
WHERE run_id = :run_id AND kept = :was
RETURNING run_id;

-- name: full_logs
SELECT run_id FROM logs
WHERE sealed AND NOT emptied AND monthly_uid IS NULL AND beat_at <= CAST(:now AS BIGINT) - :age AND (kept >= last OR :unkept = 1)
ORDER BY beat_at LIMIT :limit;

-- name: empty_logs
UPDATE logs SET emptied = TRUE /*rows FROM r(run_id bigint) */ WHERE logs.run_id = r.run_id;

-- name: drop_entries_of
DELETE FROM entries /*rows USING r(run_id bigint) */ WHERE entries.run_id = r.run_id;

-- name: old_logs
SELECT run_id, key FROM logs WHERE sealed AND monthly_uid IS NULL AND beat_at <= CAST(:now AS BIGINT) - :age ORDER BY beat_at LIMIT :limit;

-- name: orphaned_logs
SELECT run_id, key FROM logs WHERE monthly_uid IS NULL AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = logs.run_id) LIMIT :limit;

-- name: drop_logs
DELETE FROM logs /*rows USING r(run_id bigint) */ WHERE logs.run_id = r.run_id;
