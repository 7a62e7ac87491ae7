-- Dead letters: listed, marked when their tasks are opened again, purged by age.

-- name: dead_letter
SELECT * FROM dead_letters WHERE number = :number;

-- part: wanted_letters
(CAST(:run_id AS BIGINT) IS NULL OR run_id = :run_id) AND (CAST(:reason AS TEXT) IS NULL OR reason = :reason)
  AND (CAST(:status AS BIGINT) IS NULL OR status = :status) AND (CAST(:host AS TEXT) IS NULL OR host = :host)
  AND (CAST(:kind AS TEXT) IS NULL OR kind = :kind) AND (CAST(:tenant AS TEXT) IS NULL OR tenant = :tenant)
  AND (CAST(:since AS BIGINT) IS NULL OR failed_at >= :since) AND (CAST(:before AS BIGINT) IS NULL OR failed_at < :before)
  AND (CAST(:replayed AS BOOLEAN) IS NULL OR (replayed_at IS NOT NULL) = :replayed)
  AND (CAST(:number AS BIGINT) IS NULL OR number = :number)
  AND (CAST(:run_uid AS TEXT) IS NULL OR run_uid = :run_uid)

-- name: find_dead_letters
SELECT * FROM dead_letters WHERE number > :after AND /*part wanted_letters */ ORDER BY number LIMIT :limit;

-- name: dead_letters_of_tasks
SELECT dead_letters.* FROM dead_letters /*rows , r(task_id bigint) */ WHERE dead_letters.task_id = r.task_id;

-- name: count_dead_letters
SELECT COUNT(*) AS count FROM dead_letters WHERE /*part wanted_letters */;

-- name: mark_replayed
UPDATE dead_letters SET replayed_at = :now /*rows FROM r(number bigint) */ WHERE dead_letters.number = r.number;

-- name: purge_dead_letters
DELETE FROM dead_letters WHERE number IN (SELECT number FROM dead_letters WHERE failed_at < :before ORDER BY failed_at LIMIT :limit)
RETURNING number;
