-- Runs take turns at a host: open work knows its run, and lies in the order in which it is claimed.

DROP VIEW tasks_now;
ALTER TABLE queue RENAME TO queue_before;
/*pg ALTER INDEX queue_pkey RENAME TO queue_before_pkey; */

-- Only what is open and goes with its host. due = 0 is ready; otherwise it is when the task becomes ready.
-- The key is the order of the claim: best priority first, the runs of one priority side by side (docs/decisions/0017).
-- A mark (token) that is not the host's token is nobody's: a lapsed lease needs no sweep here.
CREATE TABLE queue (
    host_id   BIGINT NOT NULL,
    due       BIGINT NOT NULL,
    priority  BIGINT NOT NULL,
    run_id    BIGINT NOT NULL,
    id        BIGINT NOT NULL,
    attempt   BIGINT NOT NULL DEFAULT 0,
    token     BIGINT NOT NULL DEFAULT 0,
    claims    BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (host_id, due, priority, run_id, id)
) /*pg WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, vacuum_truncate = off) */ /*lite WITHOUT ROWID */;

INSERT INTO queue (host_id, due, priority, run_id, id, attempt, token, claims)
SELECT q.host_id, q.due, q.priority, t.run_id, q.id, q.attempt, q.token, q.claims
FROM queue_before q JOIN tasks t ON t.id = q.id
ORDER BY q.host_id, q.due, q.priority, t.run_id, q.id;
DROP TABLE queue_before;

-- A task as it stands now: in hand while its mark carries the token under which its host, or it, is held.
CREATE VIEW tasks_now AS
SELECT t.id, t.run_id, t.host_id, h.host, t.url, t.executor, t.state AS rest, t.reason, t.error, t.priority, t.due,
       t.depth, t.status, t.created_at, t.finished_at,
       CASE WHEN l.owner IS NOT NULL AND q.token = l.token THEN 'queued'
            WHEN o.owner IS NOT NULL AND o.executor = 'parse' THEN 'parsing'
            WHEN o.owner IS NOT NULL THEN 'crawling'
            ELSE t.state END AS state,
       COALESCE(q.attempt, o.attempt, t.attempt) AS attempt,
       CASE WHEN q.token = l.token THEN l.owner ELSE o.owner END AS owner,
       CASE WHEN q.token = l.token THEN l.token ELSE COALESCE(o.token, 0) END AS token,
       CASE WHEN l.owner IS NOT NULL AND q.token = l.token THEN l.wake_at
            WHEN o.owner IS NOT NULL THEN o.due END AS lease_until
FROM tasks t
JOIN hosts h ON h.id = t.host_id
JOIN line l ON l.host_id = t.host_id
LEFT JOIN queue q ON q.host_id = t.host_id AND q.due = t.due AND q.priority = t.priority AND q.run_id = t.run_id AND q.id = t.id
LEFT JOIN offers o ON o.id = t.id;
