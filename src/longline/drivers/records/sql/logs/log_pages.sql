-- Pages of logs, by number, level and time. Times rise with the numbers, so a time is a number.

-- name: log_page_head
SELECT l.last, l.sealed, l.key, l.monthly_uid, l.first_at_us, l.last_at_us, l.kept, l.debug_count AS debug, l.info_count AS info, l.warn_count AS warn, l.error_count AS error,
       (SELECT MIN(e.number) FROM entries e WHERE e.run_id = l.run_id) AS first
FROM logs l WHERE l.run_id = :run_id;

-- name: last_number_until
SELECT number FROM entries WHERE run_id = :run_id AND at_us <= :until ORDER BY at_us DESC LIMIT 1;

-- name: entries_of_level
SELECT run_id, number, at_us, level, topic, message, fields FROM entries
WHERE run_id = :run_id AND level = :level AND number > :after ORDER BY number LIMIT :limit;
