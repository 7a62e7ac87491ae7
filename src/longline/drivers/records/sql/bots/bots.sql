-- Bots, their figures, their tasks and results as lists, and the answers that they were given.

-- name: find_bot_tasks
SELECT t.id, t.url, t.state AS rest, t.priority, t.error, t.created_at, o.owner, o.due, h.name AS holder, s.uid AS schedule_uid,
       b.max_retries, b.retries, b.lapses, b.lease_ms, b.held_ms, b.held_at, b.answered_at, b.updated_at
FROM bot_tasks b
JOIN tasks t ON t.id = b.task_id
LEFT JOIN offers o ON o.id = b.task_id
LEFT JOIN bots h ON h.id = -o.owner
LEFT JOIN schedules s ON s.id = b.schedule_id
WHERE (CAST(:id AS BIGINT) IS NULL OR b.task_id = :id)
  AND (CAST(:held AS BOOLEAN) IS NULL OR (o.owner IS NOT NULL) = :held)
  AND (CAST(:rest AS TEXT) IS NULL OR t.state = :rest)
  AND (CAST(:priority AS BIGINT) IS NULL OR t.priority = :priority)
  AND (CAST(:holder AS TEXT) IS NULL OR h.name = :holder)
  AND (CAST(:part AS TEXT) IS NULL OR /*pg strpos */ /*lite instr */ (LOWER(t.url), LOWER(:part)) > 0
       OR /*pg strpos */ /*lite instr */ (LOWER(COALESCE(h.name, '')), LOWER(:part)) > 0)
  AND (CAST(:created_after AS BIGINT) IS NULL OR t.created_at >= :created_after)
  AND (CAST(:created_before AS BIGINT) IS NULL OR t.created_at < :created_before)
  AND (CAST(:locked_after AS BIGINT) IS NULL OR (o.owner IS NOT NULL AND b.held_at >= :locked_after))
  AND (CAST(:locked_before AS BIGINT) IS NULL OR (o.owner IS NOT NULL AND b.held_at < :locked_before))
ORDER BY b.task_id DESC LIMIT :limit OFFSET :offset;

-- name: find_results
SELECT t.id, t.url, t.created_at AS task_created_at, r.uid, r.price, r.currency, r.title, r.in_stock, r.data, r.page_key,
       r.crawled_at, r.created_at
FROM bot_results r JOIN tasks t ON t.id = r.task_id
WHERE (CAST(:uid AS TEXT) IS NULL OR r.uid = :uid)
  AND (CAST(:task_id AS BIGINT) IS NULL OR r.task_id = :task_id)
  AND (CAST(:currency AS TEXT) IS NULL OR r.currency = :currency)
  AND (CAST(:in_stock AS BOOLEAN) IS NULL OR r.in_stock = :in_stock)
  AND (CAST(:created_after AS BIGINT) IS NULL OR r.created_at >= :created_after)
  AND (CAST(:created_before AS BIGINT) IS NULL OR r.created_at < :created_before)
  AND (CAST(:crawled_after AS BIGINT) IS NULL OR r.crawled_at >= :crawled_after)
  AND (CAST(:crawled_before AS BIGINT) IS NULL OR r.crawled_at < :crawled_before)
ORDER BY r.uid DESC LIMIT :limit OFFSET :offset;

-- name: newest_results
SELECT t.id, t.url, t.created_at AS task_created_at, r.uid, r.price, r.currency, r.title, r.in_stock, r.data, r.page_key,
       r.crawled_at, r.created_at
FROM (SELECT * FROM bot_results WHERE CAST(:before AS TEXT) IS NULL OR uid < :before ORDER BY uid DESC LIMIT :limit) r
JOIN tasks t ON t.id = r.task_id ORDER BY r.uid DESC;

-- name: count_bot_tasks
SELECT CASE WHEN o.owner IS NOT NULL THEN 'crawling' ELSE t.state END AS state, COUNT(*) AS count
FROM bot_tasks b JOIN tasks t ON t.id = b.task_id LEFT JOIN offers o ON o.id = b.task_id
GROUP BY 1;

-- name: count_retries
SELECT retries, COUNT(*) AS count FROM bot_tasks GROUP BY retries ORDER BY retries;

-- name: bots_by_name
SELECT b.* FROM bots b /*rows , r(name text) */ WHERE b.name = r.name;

-- name: find_bots
SELECT * FROM bots WHERE (registered OR NOT CAST(:registered AS BOOLEAN)) AND name > :after ORDER BY name LIMIT :limit OFFSET :offset;

-- name: register_bot
-- One that had merely shown up keeps its figures.
INSERT INTO bots (name, title, description, registered, enabled, secret, preview, secret_until, max_pull, lease_ms, per_minute, boost, domains, created_at, updated_at)
VALUES (:name, :title, :description, TRUE, :enabled, :secret, :preview, CAST(:secret_until AS BIGINT), :max_pull, CAST(:lease_ms AS BIGINT), CAST(:per_minute AS BIGINT), :boost, :domains, :now, :now)
ON CONFLICT (name) DO UPDATE SET title = excluded.title, description = excluded.description, registered = TRUE,
    enabled = excluded.enabled, secret = excluded.secret, preview = excluded.preview,
    secret_until = excluded.secret_until, max_pull = excluded.max_pull, lease_ms = excluded.lease_ms,
    per_minute = excluded.per_minute, boost = excluded.boost, domains = excluded.domains,
    updated_at = excluded.updated_at
WHERE NOT bots.registered
RETURNING *;

-- name: change_bot
UPDATE bots SET title = :title, description = :description, enabled = :enabled, secret = CAST(:secret AS TEXT),
    preview = :preview, secret_until = CAST(:secret_until AS BIGINT), max_pull = :max_pull,
    lease_ms = CAST(:lease_ms AS BIGINT), per_minute = CAST(:per_minute AS BIGINT), boost = :boost, domains = :domains,
    updated_at = :now
WHERE name = :name
RETURNING *;

-- name: reset_bot
UPDATE bots SET pulled = 0, completed = 0, failed = 0, updated_at = :now WHERE name = :name RETURNING *;

-- name: lock_bots
SELECT b.id FROM bots b /*rows , r(id bigint) */ WHERE b.id = r.id /*pg ORDER BY b.id FOR NO KEY UPDATE OF b */;

-- name: lock_paces
SELECT b.id, b.per_minute, b.spare, b.spare_at FROM bots b /*rows , r(id bigint) */
WHERE b.id = r.id AND b.per_minute IS NOT NULL /*pg ORDER BY b.id FOR NO KEY UPDATE OF b */;

-- name: spend_paces
UPDATE bots SET spare = r.spare, spare_at = :now /*rows FROM r(id bigint, spare bigint) */ WHERE bots.id = r.id;

-- name: bot_activity
SELECT b.name, b.pulled, b.completed, b.failed, b.last_pull_at, b.last_submit_at, b.enabled, b.registered,
       COALESCE(h.pulls, 0) AS pulls_now, COALESCE(h.pulled, 0) AS pulled_now, COALESCE(h.completed, 0) AS completed_now,
       COALESCE(h.retried, 0) AS retried_now, COALESCE(h.failed, 0) AS failed_now
FROM bots b LEFT JOIN (
    SELECT bot_id, CAST(SUM(pulls) AS BIGINT) AS pulls, CAST(SUM(pulled) AS BIGINT) AS pulled,
           CAST(SUM(completed) AS BIGINT) AS completed, CAST(SUM(retried) AS BIGINT) AS retried,
           CAST(SUM(failed) AS BIGINT) AS failed
    FROM bot_hours WHERE hour >= :hour GROUP BY bot_id
) h ON h.bot_id = b.id
ORDER BY b.last_pull_at IS NULL, b.last_pull_at DESC, b.name LIMIT :limit;

-- name: bot_totals
SELECT CAST(COALESCE(SUM(pulled), 0) AS BIGINT) AS pulled, CAST(COALESCE(SUM(completed), 0) AS BIGINT) AS completed,
       CAST(COALESCE(SUM(retried), 0) AS BIGINT) AS retried, CAST(COALESCE(SUM(failed), 0) AS BIGINT) AS failed
FROM bot_hours WHERE hour >= :hour;

-- name: forget_answers
DELETE FROM bot_answers WHERE at <= :since;
