-- Tasks of bots: answered under the token of their lease.
-- Locks on several rows go from offers to schedules to bots to runs, and in the order of ids.

-- name: extend_offer
UPDATE offers SET due = CAST(:now AS BIGINT) + :ttl WHERE id = :id AND token = :token RETURNING due;

-- name: reopen_bot_tasks
UPDATE bot_tasks SET open_key = r.open_key /*rows FROM r(id bigint, open_key bytea) */ WHERE bot_tasks.task_id = r.id;

-- name: keep_results
INSERT INTO bot_results (task_id, uid, price, currency, title, in_stock, data, page_key, crawled_at, created_at)
SELECT r.task_id, r.uid, r.price, r.currency, r.title, r.in_stock, r.data, r.page_key, CAST(:now AS BIGINT), CAST(:now AS BIGINT)
/*rows FROM r(task_id bigint, uid text, price bigint, currency text, title text, in_stock boolean, data text, page_key text) */
WHERE TRUE
ON CONFLICT (task_id) DO UPDATE SET uid = excluded.uid, price = excluded.price, currency = excluded.currency,
    title = excluded.title, in_stock = excluded.in_stock, data = excluded.data, page_key = excluded.page_key,
    crawled_at = excluded.crawled_at, created_at = excluded.created_at;

-- name: lapsed_bot_offers
SELECT id FROM offers
WHERE executor = 'bot' AND due > 0 AND due < :now AND owner IS NOT NULL
ORDER BY due LIMIT :limit /*pg FOR UPDATE SKIP LOCKED */;

-- name: lock_bot_tasks
SELECT b.task_id FROM bot_tasks b /*rows , r(id bigint) */
WHERE b.task_id = r.id /*pg ORDER BY b.task_id FOR NO KEY UPDATE OF b */;

-- name: open_bot_tasks
SELECT b.schedule_id, b.open_key FROM bot_tasks b /*rows , r(schedule_id bigint, open_key bytea) */
WHERE b.schedule_id = r.schedule_id AND b.open_key = r.open_key;

-- name: answers_kept
SELECT a.bot, a.key, a.answer FROM bot_answers a /*rows , r(bot text, key text) */
WHERE a.bot = r.bot AND a.key = r.key AND a.at > :since;

-- name: keep_answers
INSERT INTO bot_answers (bot, key, answer, at)
SELECT r.bot, r.key, r.answer, CAST(:now AS BIGINT) /*rows FROM r(bot text, key text, answer text) */ WHERE TRUE
ON CONFLICT (bot, key) DO UPDATE SET answer = excluded.answer, at = excluded.at;
