-- Entries that are kept by month. Each statement names its months, so that no other month is read.

-- name: monthly_entries_after
SELECT run_id, number, at_us, level, topic, message, fields FROM monthly_entries
WHERE month = :month AND run_id = :run_id AND number > :after ORDER BY number LIMIT :limit;

-- name: monthly_entries_of_level
SELECT run_id, number, at_us, level, topic, message, fields FROM monthly_entries
WHERE month = :month AND run_id = :run_id AND level = :level AND number > :after ORDER BY number LIMIT :limit;

-- name: newest_monthly_entries
SELECT run_id, number, at_us, level, topic, message, fields FROM monthly_entries
WHERE month = :month AND run_id = :run_id ORDER BY number DESC LIMIT :limit;

-- name: last_monthly_number_until
SELECT number FROM monthly_entries
WHERE month = :month AND run_id = :run_id AND at_us <= :until ORDER BY at_us DESC LIMIT 1;

-- name: log_month
SELECT * FROM log_months WHERE month = :month;

-- name: lock_log_month
SELECT dropped_at FROM log_months WHERE month = :month /*pg FOR UPDATE */;

-- name: kept_log_months
SELECT * FROM log_months WHERE dropped_at IS NULL ORDER BY month;

-- name: next_entry_month
SELECT MIN(month) AS month FROM monthly_entries WHERE month > :after;

-- name: note_log_month
INSERT INTO log_months (month, created_at) VALUES (:month, :now)
ON CONFLICT (month) DO UPDATE SET created_at = :now, archived_at = NULL, dropped_at = NULL WHERE log_months.dropped_at IS NOT NULL
RETURNING month;

-- name: make_log_partition only pg
SELECT make_log_partition(:name, :month, :following);

-- name: entries_of_month
SELECT e.run_id, e.number, e.at_us, e.level, e.topic, e.message, e.fields, COALESCE(l.monthly_uid, '') AS uid
FROM monthly_entries e LEFT JOIN logs l ON l.run_id = e.run_id
WHERE e.month = :month AND (e.run_id > :run_id OR (e.run_id = :run_id AND e.number > :number))
ORDER BY e.run_id, e.number LIMIT :limit;

-- name: count_entries_of_month
SELECT COUNT(*) AS count FROM monthly_entries WHERE month = :month;

-- name: note_archived_month
UPDATE log_months SET archived_at = :now, lines = :lines, objects = :objects WHERE month = :month AND dropped_at IS NULL
RETURNING month;

-- name: drop_log_partition only pg
SELECT drop_log_partition(:name);

-- name: delete_entries_of_month only lite
DELETE FROM monthly_entries WHERE month = :month AND (run_id, number) IN (
    SELECT run_id, number FROM monthly_entries WHERE month = :month ORDER BY run_id, number LIMIT :limit)
RETURNING number;

-- name: note_dropped_month
UPDATE log_months SET dropped_at = :now WHERE month = :month;

-- name: delete_logs_of_month
-- Logs without a later entry.
DELETE FROM logs WHERE run_id IN (
    SELECT run_id FROM logs WHERE monthly_uid IS NOT NULL AND last > 0 AND last_at_us < :before_us ORDER BY run_id LIMIT :limit)
RETURNING run_id;

-- name: logs_across_month
SELECT run_id, first_at_us, last_at_us FROM logs
WHERE monthly_uid IS NOT NULL AND first_at_us < :before_us AND last_at_us >= :before_us AND run_id > :after ORDER BY run_id LIMIT :limit;

-- name: monthly_level_counts
SELECT level, COUNT(*) AS count FROM monthly_entries WHERE month = :month AND run_id = :run_id GROUP BY level;

-- name: begin_log_later
UPDATE logs SET first_at_us = :first_at_us, debug_count = :debug, info_count = :info, warn_count = :warn, error_count = :error
WHERE run_id = :run_id;
