-- Tasks that a redirect led to, by the one that led there. There are few, and none ever changes what it is.
CREATE INDEX tasks_redirected ON tasks (parent_id) WHERE hops > 0;

-- The URLs of the standing frontier. A page that redirects lead to on another host is a task of its own there; it stands
-- for the URL that led to it, as its task_id, and not for itself.
CREATE VIEW standing AS
SELECT t.id, t.run_id, t.url, t.depth, t.priority, t.parent_id, t.state, t.reason, t.created_at,
       CASE WHEN t.reason = 'redirected' THEN COALESCE((
           WITH RECURSIVE way(id, hops) AS (
               SELECT c.id, c.hops FROM tasks c WHERE c.parent_id = t.id AND c.hops > 0
               UNION ALL
               SELECT c.id, c.hops FROM way JOIN tasks c ON c.parent_id = way.id AND c.hops > 0
           ) SELECT id FROM way ORDER BY hops DESC LIMIT 1), t.id) ELSE t.id END AS task_id
FROM tasks t WHERE t.scope = 0 AND t.hops = 0;

-- Two that were made at once stay, the later one under a name of its own.
UPDATE runs SET seed = seed || ' (' || CAST(id AS TEXT) || ')' WHERE (kind LIKE 'frontier.%' OR kind = 'bots')
  AND EXISTS (SELECT 1 FROM runs o WHERE o.kind = runs.kind AND o.seed = runs.seed AND o.id < runs.id);
-- Of the standing runs there is one of each kind and seed.
CREATE UNIQUE INDEX runs_standing ON runs (kind, seed) WHERE kind LIKE 'frontier.%' OR kind = 'bots';
