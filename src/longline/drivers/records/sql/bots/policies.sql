-- Schedules whose tasks go to bots.

-- name: add_bot_schedule
INSERT INTO bot_schedules (schedule_id, url, domain, name, pattern, priority, max_retries, backoff_ms, lease_ms, next_due, config)
VALUES (:schedule_id, CAST(:url AS TEXT), CAST(:domain AS TEXT), CAST(:name AS TEXT), :pattern, :priority, :max_retries,
        :backoff_ms, :lease_ms, :next_due, :config)
ON CONFLICT DO NOTHING
RETURNING schedule_id;

-- name: find_bot_schedules
SELECT b.*, s.uid, s.state, s.interval_ms, s.created_at, s.updated_at
FROM bot_schedules b JOIN schedules s ON s.id = b.schedule_id
WHERE (CAST(:uid AS TEXT) IS NULL OR s.uid = :uid)
  AND (CAST(:state AS TEXT) IS NULL OR s.state = :state)
  AND (CAST(:priority AS BIGINT) IS NULL OR b.priority = :priority)
  AND (CAST(:created_after AS BIGINT) IS NULL OR s.created_at >= :created_after)
  AND (CAST(:created_before AS BIGINT) IS NULL OR s.created_at < :created_before)
  AND (CAST(:next_due_after AS BIGINT) IS NULL OR b.next_due >= :next_due_after)
  AND (CAST(:next_due_before AS BIGINT) IS NULL OR b.next_due < :next_due_before)
  AND (CAST(:before AS BIGINT) IS NULL OR b.schedule_id < :before)
ORDER BY b.schedule_id DESC LIMIT :limit OFFSET :offset;

-- name: lock_bot_schedules
SELECT b.schedule_id, b.failures, b.backoff_ms, b.next_due, s.interval_ms
FROM bot_schedules b JOIN schedules s ON s.id = b.schedule_id /*rows , r(id bigint) */
WHERE b.schedule_id = r.id /*pg ORDER BY b.schedule_id FOR NO KEY UPDATE OF b */;

-- name: change_bot_schedule
UPDATE bot_schedules SET url = CAST(:url AS TEXT), domain = CAST(:domain AS TEXT), name = CAST(:name AS TEXT),
    pattern = :pattern, priority = :priority, max_retries = :max_retries, backoff_ms = :backoff_ms, lease_ms = :lease_ms,
    next_due = :next_due, config = :config
WHERE schedule_id = :schedule_id;

-- name: change_schedule
UPDATE schedules SET url = :url, interval_ms = :interval_ms, updated_at = :now WHERE id = :schedule_id;

-- name: rival_bot_schedules
SELECT schedule_id FROM bot_schedules
WHERE schedule_id <> :schedule_id
  AND (url = CAST(:url AS TEXT) OR (domain = CAST(:domain AS TEXT) AND name = CAST(:name AS TEXT)));

-- name: bot_schedule_figures
SELECT COUNT(*) AS total, CAST(COALESCE(SUM(CASE WHEN s.state = 'scheduled' THEN 1 ELSE 0 END), 0) AS BIGINT) AS enabled,
       CAST(COALESCE(SUM(CASE WHEN s.state = 'scheduled' AND b.next_due <= :now THEN 1 ELSE 0 END), 0) AS BIGINT) AS due,
       CAST(COALESCE(SUM(CASE WHEN b.failures > 0 THEN 1 ELSE 0 END), 0) AS BIGINT) AS failing,
       MIN(CASE WHEN s.state = 'scheduled' THEN b.next_due END) AS next_due
FROM bot_schedules b JOIN schedules s ON s.id = b.schedule_id;

-- name: know_urls
INSERT INTO bot_urls (hash, host, url)
SELECT r.hash, r.host, r.url /*rows FROM r(hash text, host text, url text) */ WHERE TRUE
ON CONFLICT (hash) DO NOTHING
RETURNING hash;
