-- Bots, their figures, and the answers they were given.

-- name: bots_by_name
SELECT b.* FROM bots b /*rows , r(name text) */ WHERE b.name = r.name;

-- name: find_bots
SELECT * FROM bots WHERE registered OR NOT CAST(:registered AS BOOLEAN) ORDER BY name LIMIT :limit OFFSET :offset;

-- name: meet_bots
-- Those whom nobody registered. Two may come at once; then the row is there already.
INSERT INTO bots (name, created_at, updated_at)
SELECT r.name, CAST(:now AS BIGINT), CAST(:now AS BIGINT) /*rows FROM r(name text) */ WHERE TRUE
ON CONFLICT (name) DO NOTHING;

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

-- name: count_pulls
UPDATE bots SET pulled = bots.pulled + r.pulled, last_pull_at = :now /*rows FROM r(id bigint, pulled bigint) */ WHERE bots.id = r.id;

-- name: count_answers
UPDATE bots SET completed = bots.completed + r.completed, failed = bots.failed + r.failed, last_submit_at = :now
/*rows FROM r(id bigint, completed bigint, failed bigint) */ WHERE bots.id = r.id;

-- name: count_bot_hours
INSERT INTO bot_hours (bot_id, hour, pulls, pulled, completed, retried, failed)
SELECT r.bot_id, CAST(:hour AS BIGINT), r.pulls, r.pulled, r.completed, r.retried, r.failed
/*rows FROM r(bot_id bigint, pulls bigint, pulled bigint, completed bigint, retried bigint, failed bigint) */ WHERE TRUE
ON CONFLICT (bot_id, hour) DO UPDATE SET pulls = bot_hours.pulls + excluded.pulls,
    pulled = bot_hours.pulled + excluded.pulled, completed = bot_hours.completed + excluded.completed,
    retried = bot_hours.retried + excluded.retried, failed = bot_hours.failed + excluded.failed;

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

-- name: answers_kept
SELECT a.bot, a.key, a.answer FROM bot_answers a /*rows , r(bot text, key text) */
WHERE a.bot = r.bot AND a.key = r.key AND a.at > :since;

-- name: keep_answers
INSERT INTO bot_answers (bot, key, answer, at)
SELECT r.bot, r.key, r.answer, CAST(:now AS BIGINT) /*rows FROM r(bot text, key text, answer text) */ WHERE TRUE
ON CONFLICT (bot, key) DO UPDATE SET answer = excluded.answer, at = excluded.at;

-- name: forget_answers
DELETE FROM bot_answers WHERE at <= :since;
