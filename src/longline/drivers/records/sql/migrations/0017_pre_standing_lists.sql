-- Lists of the standing frontier have a table of their own, with the indexes that they are read by.
DROP VIEW standing;

-- The URLs of the standing frontier as lists show them: of each, the task of the URL that was given and the one at the
-- end of its redirects to other hosts, whose rest is the URL's. Written in the transaction that moves the task; `tasks`
-- itself has no index by what completions change.
CREATE TABLE standing (
    id          BIGINT PRIMARY KEY REFERENCES tasks (id),
    task_id     BIGINT NOT NULL UNIQUE,
    run_id      BIGINT NOT NULL,
    host        TEXT NOT NULL,  -- its name alone, without a port
    rest        TEXT NOT NULL CHECK (rest IN ('waiting', 'held', 'done', 'given_up', 'removed')),
    priority    BIGINT NOT NULL,
    next_at     BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
) /*pg WITH (fillfactor = 70) */;
CREATE INDEX standing_urgency ON standing (priority, id DESC);
CREATE INDEX standing_next ON standing (next_at, id);
CREATE INDEX standing_rest_urgency ON standing (rest, priority, id DESC);
CREATE INDEX standing_rest_next ON standing (rest, next_at, id);
CREATE INDEX standing_rest_age ON standing (rest, id);
CREATE INDEX standing_run ON standing (run_id);
CREATE INDEX standing_host ON standing (host);

-- How many of them there are at each rest, by run.
CREATE TABLE standing_counts (
    run_id  BIGINT NOT NULL REFERENCES runs (id),
    rest    TEXT NOT NULL,
    count   BIGINT NOT NULL,
    PRIMARY KEY (run_id, rest)
) /*pg WITH (fillfactor = 50) */ /*lite WITHOUT ROWID */;

-- Of hosts the names are kept, without a port.
INSERT INTO standing (id, task_id, run_id, host, rest, priority, next_at, updated_at)
SELECT w.id, n.id, w.run_id,
       CASE WHEN RTRIM(h.host, '0123456789') LIKE '%:' THEN RTRIM(RTRIM(h.host, '0123456789'), ':') ELSE h.host END,
       CASE WHEN n.state = 'cancelled' AND n.reason = 'removed' THEN 'removed'
            WHEN n.state = 'completed' OR n.reason = 'redirected' THEN 'done'
            WHEN n.state IN ('failed', 'skipped', 'cancelled') THEN 'given_up'
            WHEN n.state IN ('downloaded', 'queued_parse') THEN 'held'
            ELSE 'waiting' END,
       w.priority, CASE WHEN n.due BETWEEN 1 AND 253402300799999 THEN n.due ELSE w.created_at END,
       COALESCE(n.finished_at, w.created_at)
FROM (
    SELECT t.id, t.run_id, t.priority, t.created_at,
           CASE WHEN t.reason = 'redirected' THEN COALESCE((
               WITH RECURSIVE way(id, hops) AS (
                   SELECT c.id, c.hops FROM tasks c WHERE c.parent_id = t.id AND c.hops > 0
                   UNION ALL
                   SELECT c.id, c.hops FROM way JOIN tasks c ON c.parent_id = way.id AND c.hops > 0
               ) SELECT id FROM way ORDER BY hops DESC LIMIT 1), t.id) ELSE t.id END AS task_id
    FROM tasks t WHERE t.scope = 0 AND t.hops = 0
) w
JOIN tasks n ON n.id = w.task_id
JOIN hosts h ON h.id = n.host_id;
INSERT INTO standing_counts (run_id, rest, count) SELECT run_id, rest, COUNT(*) FROM standing GROUP BY run_id, rest;
