-- Tasks of bots: pulled one by one under a timed lease, answered under its token.
-- Whoever waits for several rows goes from offers to schedules to bots to runs, and in the order of ids.

-- name: hosts_in_scope
-- `needle` is part of a host as it stands between a dot and `edge`, which is what a port begins with; so are `domains`.
-- `names` are whole host names; `*.name` stands for every host below that name, without the name itself.
SELECT h.host_id FROM bot_hosts h
WHERE (CAST(:needle AS TEXT) IS NULL OR /*pg strpos */ /*lite instr */ ('.' || h.host || CAST(:edge AS TEXT), :needle) > 0)
  AND (:domains = '[]' OR EXISTS (
      SELECT 1 FROM /*pg json_array_elements_text(CAST(:domains AS json)) AS d(value) */ /*lite json_each(:domains) d */
      WHERE /*pg strpos */ /*lite instr */ ('.' || h.host || CAST(:edge AS TEXT), '.' || d.value || CAST(:edge AS TEXT)) > 0))
  AND (:names = '[]' OR EXISTS (
      SELECT 1 FROM /*pg json_array_elements_text(CAST(:names AS json)) AS n(value) */ /*lite json_each(:names) n */
      WHERE CASE WHEN SUBSTR(n.value, 1, 2) = '*.'
          THEN /*pg strpos */ /*lite instr */ ('.' || h.host || CAST(:edge AS TEXT), SUBSTR(n.value, 2) || CAST(:edge AS TEXT)) > 1
          ELSE /*pg strpos */ /*lite instr */ ('.' || h.host || CAST(:edge AS TEXT), '.' || n.value || CAST(:edge AS TEXT)) = 1 END));

-- name: know_bot_hosts
INSERT INTO bot_hosts (host_id, host)
SELECT r.host_id, r.host /*rows FROM r(host_id bigint, host text) */ WHERE TRUE
ON CONFLICT (host_id) DO NOTHING;

-- name: pick_offers
-- What is ready, and what a bot held for too long, as one list. `hosts` is a JSON list of ids, or NULL for all.
-- `passed` is a JSON list of the offers that this pull has passed over, or NULL for none.
WITH ready AS /*pg MATERIALIZED */ (
    SELECT o.id, o.priority, FALSE AS lapsed FROM offers o
    WHERE o.executor = 'bot' AND o.due = 0
      AND (:reclaim OR (SELECT t.state FROM tasks t WHERE t.id = o.id) = 'pending')
      AND (CAST(:hosts AS TEXT) IS NULL OR o.host_id IN (SELECT /*pg CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:hosts AS json)) */ /*lite value FROM json_each(:hosts) */))
      AND (CAST(:passed AS TEXT) IS NULL OR o.id NOT IN (SELECT /*pg CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:passed AS json)) */ /*lite value FROM json_each(:passed) */))
    ORDER BY o.priority, o.id LIMIT :limit /*pg FOR UPDATE SKIP LOCKED */
), lapsed AS /*pg MATERIALIZED */ (
    SELECT o.id, o.priority, TRUE AS lapsed FROM offers o
    WHERE o.executor = 'bot' AND o.due > 0 AND o.due < :now AND o.owner IS NOT NULL AND :reclaim
      AND (CAST(:hosts AS TEXT) IS NULL OR o.host_id IN (SELECT /*pg CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:hosts AS json)) */ /*lite value FROM json_each(:hosts) */))
      AND (CAST(:passed AS TEXT) IS NULL OR o.id NOT IN (SELECT /*pg CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:passed AS json)) */ /*lite value FROM json_each(:passed) */))
    ORDER BY o.priority, o.id LIMIT :limit /*pg FOR UPDATE SKIP LOCKED */
)
SELECT p.id, p.lapsed, t.url, t.priority, t.created_at, t.state, b.max_retries, b.retries, b.lapses, b.lease_ms
FROM (SELECT * FROM ready UNION ALL SELECT * FROM lapsed ORDER BY priority, id LIMIT :limit) p
JOIN tasks t ON t.id = p.id
JOIN bot_tasks b ON b.task_id = p.id
ORDER BY p.priority, p.id;

-- name: hold_offers
UPDATE offers SET owner = r.owner, token = r.token, attempt = offers.attempt + 1, due = r.due
/*rows FROM r(id bigint, owner bigint, token bigint, due bigint) */ WHERE offers.id = r.id;

-- name: hold_bot_tasks
UPDATE bot_tasks SET held_at = :now, held_ms = r.held_ms, lapses = bot_tasks.lapses + r.lapses, updated_at = :now
/*rows FROM r(id bigint, held_ms bigint, lapses bigint) */ WHERE bot_tasks.task_id = r.id;

-- name: count_held
SELECT o.owner, COUNT(*) AS held FROM offers o
WHERE o.executor = 'bot' AND o.due > 0 AND o.due >= :now AND o.owner IS NOT NULL
  AND (CAST(:hosts AS TEXT) IS NULL OR o.host_id IN (SELECT /*pg CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:hosts AS json)) */ /*lite value FROM json_each(:hosts) */))
GROUP BY o.owner;

-- name: bot_standings
SELECT t.id, t.url, t.created_at, t.state, t.reason, t.run_id, t.host_id, t.priority, t.attempt AS rested_attempt,
       o.owner, o.token, o.due, o.attempt, h.name AS holder, b.schedule_id, b.max_retries, b.retries, b.lapses,
       b.held_ms, p.page_key
FROM tasks t
JOIN bot_tasks b ON b.task_id = t.id
LEFT JOIN bot_results p ON p.task_id = t.id
LEFT JOIN offers o ON o.id = t.id
LEFT JOIN bots h ON h.id = -o.owner /*rows , r(id bigint) */
WHERE t.id = r.id;

-- name: free_offers
UPDATE offers SET owner = NULL, token = 0, due = 0 /*rows FROM r(id bigint) */ WHERE offers.id = r.id;

-- name: extend_offer
UPDATE offers SET due = CAST(:now AS BIGINT) + :ttl WHERE id = :id AND token = :token RETURNING due;

-- name: rest_bot_tasks
UPDATE bot_tasks SET retries = r.retries, answered_at = COALESCE(r.answered_at, bot_tasks.answered_at), held_at = NULL,
    open_key = CASE WHEN r.ended THEN NULL ELSE bot_tasks.open_key END, updated_at = :now
/*rows FROM r(id bigint, retries bigint, answered_at bigint, ended boolean) */ WHERE bot_tasks.task_id = r.id;

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

-- name: admit_bot_tasks
INSERT INTO tasks (scope, host_id, key, run_id, executor, state, priority, due, depth, created_at, url)
SELECT CAST(:run_id AS BIGINT), r.host_id, r.key, CAST(:run_id AS BIGINT), 'bot', CAST(:state AS TEXT), r.priority, 0, 0, CAST(:now AS BIGINT), r.url
/*rows FROM r(host_id bigint, key bytea, priority bigint, url text) */ WHERE TRUE
RETURNING id, key;

-- name: add_bot_tasks
INSERT INTO bot_tasks (task_id, schedule_id, open_key, max_retries, lease_ms, held_ms, updated_at)
SELECT r.task_id, r.schedule_id, r.open_key, r.max_retries, r.lease_ms, r.lease_ms, CAST(:now AS BIGINT)
/*rows FROM r(task_id bigint, schedule_id bigint, open_key bytea, max_retries bigint, lease_ms bigint) */ WHERE TRUE;

-- name: open_bot_tasks
SELECT b.schedule_id, b.open_key FROM bot_tasks b /*rows , r(schedule_id bigint, open_key bytea) */
WHERE b.schedule_id = r.schedule_id AND b.open_key = r.open_key;

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

-- name: delete_bot_task
DELETE FROM bot_tasks WHERE task_id = :task_id;

-- name: count_bot_tasks
SELECT CASE WHEN o.owner IS NOT NULL THEN 'crawling' ELSE t.state END AS state, COUNT(*) AS count
FROM bot_tasks b JOIN tasks t ON t.id = b.task_id LEFT JOIN offers o ON o.id = b.task_id
GROUP BY 1;

-- name: count_retries
SELECT retries, COUNT(*) AS count FROM bot_tasks GROUP BY retries ORDER BY retries;
