-- Tasks of bots: pulled one by one under a timed lease.
-- Locks on several rows go from offers to schedules to bots to runs, and in the order of ids.

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

-- name: meet_bots
-- Those whom nobody registered. Two may come at once; then the row is there already.
INSERT INTO bots (name, created_at, updated_at)
SELECT r.name, CAST(:now AS BIGINT), CAST(:now AS BIGINT) /*rows FROM r(name text) */ WHERE TRUE
ON CONFLICT (name) DO NOTHING;

-- name: count_pulls
UPDATE bots SET pulled = bots.pulled + r.pulled, last_pull_at = :now /*rows FROM r(id bigint, pulled bigint) */ WHERE bots.id = r.id;
