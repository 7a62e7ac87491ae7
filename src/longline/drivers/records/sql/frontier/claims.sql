-- Hosts, their leases, and the open URLs of a host. Measured layouts: docs/decisions/0004.

-- part: held_runs
SELECT d.run_id FROM holds d WHERE d.since <= :now AND d.until > :now;

-- name: claim only pg
-- Leases hosts and marks their tasks in one round trip. Both lists go through ANY(ARRAY(…)): joined to a CTE, a
-- generic plan takes LIMIT $n for a tenth of the table and hashes all hosts.
-- Where one run is alone at a host with one priority, the key is the order. Otherwise the runs are found by going from
-- one to the next in the key, not by reading their tasks, and everybody's first task comes before anybody's second;
-- who begins moves on with the token, so that small batches are fair too.
-- Runs under a hold are passed over; a run that is alone and held is one of the others.
-- When no more hosts are free than these, those that are leased are given more, less what is marked with their token already.
WITH free AS MATERIALIZED (
    SELECT host_id FROM line
    WHERE owner IS NULL AND wake_at <= CAST(:now AS BIGINT) - :waited AND (CAST(:downloads AS BOOLEAN) OR NOT downloads)
    ORDER BY wake_at LIMIT :hosts FOR UPDATE SKIP LOCKED
), leased AS (
    UPDATE line SET owner = :owner, token = token + 1, wake_at = CAST(:now AS BIGINT) + :ttl, withdrawals = 0
    WHERE host_id = ANY (ARRAY (SELECT host_id FROM free))
    RETURNING host_id, token, not_before, downloads
), served AS (
    SELECT host_id, token, not_before, downloads FROM leased
    UNION ALL
    SELECT l.host_id, l.token, l.not_before, l.downloads
    FROM unnest(CAST(:held AS BIGINT[]), CAST(:tokens AS BIGINT[])) AS h (host_id, token)
    JOIN line l ON l.host_id = h.host_id AND l.token = h.token AND l.owner = :owner AND l.wake_at >= :now
      AND (CAST(:downloads AS BOOLEAN) OR NOT l.downloads)
    WHERE (SELECT COUNT(*) FROM free) < :hosts
), held_runs AS MATERIALIZED (
    SELECT run_id FROM holds WHERE since <= :now AND until > :now
), hand AS (
    SELECT s.*, (NOT EXISTS (SELECT 1 FROM held_runs) OR
                 (SELECT q.run_id FROM queue q WHERE q.host_id = s.host_id AND q.due = 0
                  ORDER BY q.priority, q.run_id LIMIT 1) NOT IN (SELECT run_id FROM held_runs)) AND NOT EXISTS (SELECT 1 FROM queue q WHERE q.host_id = s.host_id AND q.due > 0 AND q.due <= :now) AND
        (SELECT (q.priority, q.run_id) FROM queue q WHERE q.host_id = s.host_id AND q.due = 0
         ORDER BY q.priority, q.run_id LIMIT 1) =
        (SELECT (q.priority, q.run_id) FROM queue q WHERE q.host_id = s.host_id AND q.due = 0
         ORDER BY q.priority DESC, q.run_id DESC LIMIT 1) AS alone
    FROM served s
), picked AS MATERIALIZED (
    SELECT q.* FROM hand l
    CROSS JOIN LATERAL (
        (SELECT ctid AS place, id, 0 AS round, 0 AS turn FROM queue
         WHERE l.alone AND host_id = l.host_id AND due = 0 AND token <> l.token
         ORDER BY priority, run_id, id LIMIT :tasks)
        UNION ALL
        (SELECT place, id, round, (nth + l.token / 2) % (nth + nth_last - 1) AS turn FROM (
            SELECT place, priority, id,
                   ROW_NUMBER() OVER (PARTITION BY priority, run_id ORDER BY id) AS round,
                   DENSE_RANK() OVER (PARTITION BY priority ORDER BY run_id) AS nth,
                   DENSE_RANK() OVER (PARTITION BY priority ORDER BY run_id DESC) AS nth_last
            FROM (
                (WITH RECURSIVE rivals AS (
                    (SELECT priority, run_id, 1 AS n FROM queue
                     WHERE host_id = l.host_id AND due = 0 ORDER BY priority, run_id LIMIT 1)
                    UNION ALL
                    (SELECT q.priority, q.run_id, v.n + 1 FROM rivals v CROSS JOIN LATERAL (
                        SELECT priority, run_id FROM queue
                        WHERE host_id = l.host_id AND due = 0 AND (priority, run_id) > (v.priority, v.run_id)
                        ORDER BY priority, run_id LIMIT 1
                     ) q WHERE v.n < GREATEST(:tasks, 50))
                )
                SELECT q.place, v.priority, v.run_id, q.id FROM rivals v CROSS JOIN LATERAL (
                    SELECT ctid AS place, id FROM queue
                    WHERE host_id = l.host_id AND due = 0 AND priority = v.priority AND run_id = v.run_id
                      AND token <> l.token
                    ORDER BY id LIMIT :tasks) q WHERE v.run_id NOT IN (SELECT run_id FROM held_runs))
                UNION ALL
                (SELECT ctid AS place, priority, run_id, id FROM queue
                 WHERE host_id = l.host_id AND due > 0 AND due <= :now AND token <> l.token
                   AND run_id NOT IN (SELECT run_id FROM held_runs)
                 ORDER BY due LIMIT :tasks)
            ) ready
            WHERE l.alone IS NOT TRUE
        ) ranked ORDER BY priority, round, turn, id LIMIT :tasks)
    ) q
), marked AS (
    UPDATE queue SET claims = claims + 1, token = (SELECT l.token FROM hand l WHERE l.host_id = queue.host_id)
    WHERE ctid = ANY (ARRAY (SELECT place FROM picked))
    RETURNING host_id, due, priority, id, attempt, claims
)
SELECT l.host_id, h.host, l.token, h.delay_ms, h.concurrency, l.not_before,
       h.pace_until, m.id AS task_id, COALESCE(t.target, t.url) AS url, t.run_id, t.scope, t.depth, m.attempt + 1 AS attempt, m.priority, m.due,
       m.claims, t.hops, f.url AS found_on, v.task_id AS known_task_id, v.digest, v.fetched_at, v.etag, v.last_modified,
       t.home_id, t.max_attempts, t.credentials, l.downloads
FROM hand l
JOIN hosts h ON h.id = l.host_id
LEFT JOIN marked m ON m.host_id = l.host_id
LEFT JOIN picked p ON p.id = m.id
LEFT JOIN tasks t ON t.id = m.id
LEFT JOIN visits v ON v.host_id = t.host_id AND v.key = t.key
LEFT JOIN tasks f ON f.id = t.parent_id AND t.hops = 0
ORDER BY l.host_id, m.priority, p.round, p.turn, m.id;

-- name: lease_hosts only lite
-- SQLite has no writing CTE and no LATERAL, and its window functions cost more than all the rest: four statements inside
-- one transaction instead, and the turns are sorted out where they are read.
UPDATE line SET owner = :owner, token = token + 1, wake_at = :now + :ttl, withdrawals = 0
WHERE host_id IN (
    SELECT host_id FROM line WHERE owner IS NULL AND wake_at <= :now - :waited AND (:downloads OR NOT downloads)
    ORDER BY wake_at LIMIT :hosts
)
RETURNING host_id, token;

-- name: still_held only lite
SELECT l.host_id, l.token FROM line l /*rows , r(host_id bigint, token bigint) */
WHERE l.host_id = r.host_id AND l.token = r.token AND l.owner = :owner AND l.wake_at >= :now
  AND (:downloads OR NOT l.downloads);

-- name: find_rivals only lite
WITH RECURSIVE rivals(priority, run_id, n) AS (
    SELECT * FROM (SELECT priority, run_id, 1 FROM queue
                   WHERE host_id = r.host_id AND due = 0 ORDER BY priority, run_id LIMIT 1)
    UNION ALL
    SELECT q.priority, q.run_id, v.n + 1 FROM rivals v
    JOIN queue q ON q.host_id = r.host_id AND q.due = 0 AND (q.priority, q.run_id, q.id) = (
        -- The two halves of (priority, run_id) > (…, …), of which SQLite would search by the first column alone.
        SELECT * FROM (SELECT priority, run_id, id FROM queue
                       WHERE host_id = r.host_id AND due = 0 AND priority = v.priority AND run_id > v.run_id
                       ORDER BY run_id, id LIMIT 1)
        UNION ALL
        SELECT * FROM (SELECT priority, run_id, id FROM queue
                       WHERE host_id = r.host_id AND due = 0 AND priority > v.priority
                       ORDER BY priority, run_id, id LIMIT 1)
        LIMIT 1)
    WHERE v.n < MAX(:tasks, 50)
)
SELECT r.host_id AS host_id, r.token AS token, 0 AS due, priority, run_id FROM rivals
WHERE run_id NOT IN (/*part held_runs */)
UNION ALL
SELECT DISTINCT r.host_id, r.token, due, priority, run_id
FROM (SELECT due, priority, run_id FROM queue
      WHERE host_id = r.host_id AND due > 0 AND due <= :now AND run_id NOT IN (/*part held_runs */)
      ORDER BY due LIMIT :tasks)
/*rows , r(host_id bigint, token bigint) */;

-- name: pick_tasks only lite
SELECT r.host_id AS host_id, h.host, r.token AS token, h.delay_ms, h.concurrency, l.not_before,
       h.pace_until, q.id AS task_id, COALESCE(t.target, t.url) AS url, t.run_id, t.scope, t.depth, q.attempt + 1 AS attempt, q.priority, q.due,
       q.claims + 1 AS claims, t.hops, f.url AS found_on, v.task_id AS known_task_id, v.digest, v.fetched_at, v.etag,
       v.last_modified, t.home_id, t.max_attempts, t.credentials, l.downloads
/*rows , r(host_id bigint, token bigint, due bigint, priority bigint, run_id bigint) */
FROM hosts h
JOIN line l ON l.host_id = h.id
LEFT JOIN queue q ON q.host_id = h.id AND q.due = r.due AND q.priority = r.priority AND q.run_id = r.run_id AND q.token <> r.token
LEFT JOIN tasks t ON t.id = q.id
LEFT JOIN visits v ON v.host_id = t.host_id AND v.key = t.key
LEFT JOIN tasks f ON f.id = t.parent_id AND t.hops = 0
WHERE h.id = r.host_id
ORDER BY q.id LIMIT :tasks;

-- name: find_queued only lite
-- The tasks of runs that compete for a host, by the key alone.
SELECT r.host_id AS host_id, r.token AS token, q.due, q.priority, q.run_id, q.id
/*rows , r(host_id bigint, token bigint, due bigint, priority bigint, run_id bigint) */
FROM queue q
WHERE q.host_id = r.host_id AND q.due = r.due AND q.priority = r.priority AND q.run_id = r.run_id AND q.token <> r.token
ORDER BY q.id LIMIT :tasks;

-- name: read_queued only lite
SELECT r.host_id AS host_id, h.host, r.token AS token, h.delay_ms, h.concurrency, l.not_before,
       h.pace_until, q.id AS task_id, COALESCE(t.target, t.url) AS url, t.run_id, t.scope, t.depth, q.attempt + 1 AS attempt, q.priority, q.due,
       q.claims + 1 AS claims, t.hops, f.url AS found_on, v.task_id AS known_task_id, v.digest, v.fetched_at, v.etag,
       v.last_modified, t.home_id, t.max_attempts, t.credentials, l.downloads
/*all rows FROM r(host_id bigint, token bigint, due bigint, priority bigint, run_id bigint, id bigint) */
JOIN hosts h ON h.id = r.host_id
JOIN line l ON l.host_id = h.id
JOIN queue q ON q.host_id = r.host_id AND q.due = r.due AND q.priority = r.priority AND q.run_id = r.run_id AND q.id = r.id
JOIN tasks t ON t.id = q.id
LEFT JOIN visits v ON v.host_id = t.host_id AND v.key = t.key
LEFT JOIN tasks f ON f.id = t.parent_id AND t.hops = 0;

-- name: mark_tasks only lite
UPDATE queue SET token = r.token, claims = queue.claims + 1
/*rows FROM r(token bigint, host_id bigint, due bigint, priority bigint, run_id bigint, id bigint) */
WHERE queue.host_id = r.host_id AND queue.due = r.due AND queue.priority = r.priority AND queue.run_id = r.run_id
  AND queue.id = r.id;

-- name: renew_hosts
-- A lapsed lease with its token is extended too: the token moves with every claim and every reaping. The comparison of owners is
-- one that no index of held hosts serves, which PostgreSQL would read whole.
UPDATE line SET wake_at = CAST(:now AS BIGINT) + :ttl /*rows FROM r(host_id bigint, token bigint) */
WHERE line.host_id = r.host_id AND line.token = r.token AND line.owner /*pg IS NOT DISTINCT FROM */ /*lite IS */ :owner
RETURNING line.host_id;

-- name: bound_pauses
-- A longer pause than this was written by a clock that was wrong; the delay of a host may be longer by itself.
-- The holder of a host bounds its pause by itself, and a host without work has none to put off.
UPDATE line SET not_before = CAST(:now AS BIGINT) + :most,
    wake_at = CASE WHEN wake_at = not_before THEN CAST(:now AS BIGINT) + :most ELSE wake_at END
WHERE host_id /*pg = ANY (ARRAY */ /*lite IN */ (
    SELECT host_id FROM line WHERE owner IS NULL AND wake_at > CAST(:now AS BIGINT) + :most
      AND not_before - CAST(:now AS BIGINT) - :most > 2 * (SELECT delay_ms FROM hosts WHERE hosts.id = line.host_id)
    ORDER BY wake_at LIMIT 1000 /*pg FOR UPDATE SKIP LOCKED */
) /*pg ) */
RETURNING host_id;

-- name: lock_lines
-- One ordered lock over the hosts that are reported on and those that get new work: no deadlock, and a releaser that
-- looks at the queue in a later statement sees every admission that went before. Whoever changes the rest or the place
-- of a task holds the line of its host. Whoever waits for several rows of a table waits in the order of their ids, and
-- goes from lines to offers to runs to sources to fates; claim and reap skip what is locked.
SELECT l.host_id, l.token FROM line l /*rows , r(host_id bigint) */
WHERE l.host_id = r.host_id /*pg ORDER BY l.host_id FOR NO KEY UPDATE OF l */;

-- name: lock_free_lines
-- For those who hold a run already, and would wait out of order: what somebody else has is left out.
SELECT l.host_id FROM line l /*rows , r(host_id bigint) */
WHERE l.host_id = r.host_id /*pg FOR NO KEY UPDATE OF l SKIP LOCKED */;

-- name: wake_lines
-- A held host needs no waking: whoever releases it looks.
UPDATE line SET wake_at = /*pg GREATEST */ /*lite MAX */ (line.not_before, r.due)
/*rows FROM r(host_id bigint, due bigint) */
WHERE line.host_id = r.host_id AND line.owner IS NULL
  AND (line.wake_at IS NULL OR line.wake_at > /*pg GREATEST */ /*lite MAX */ (line.not_before, r.due));
