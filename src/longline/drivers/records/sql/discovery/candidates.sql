-- Candidates for sources, and the decisions about them.

-- name: lock_candidates
-- Whoever makes candidates changes this row first, so that caps hold whoever else does.
INSERT INTO counters (name, count) VALUES ('candidates', 0)
ON CONFLICT (name) DO UPDATE SET count = counters.count;

-- name: candidates_like
SELECT c.identity, c.verdict FROM candidates c /*rows , r(identity text) */ WHERE c.identity = r.identity ORDER BY c.id;

-- name: candidates_of_day
SELECT COUNT(*) AS count FROM candidates WHERE created_at >= :since;

-- name: candidates_of_run
SELECT COUNT(*) AS count FROM candidates WHERE run_id = :run_id;

-- name: see_candidates
UPDATE candidates SET seen = candidates.seen + 1, updated_at = :now /*rows FROM r(identity text) */
WHERE candidates.identity = r.identity AND candidates.verdict IN ('new', 'pending');

-- name: add_candidates
INSERT INTO candidates (identity, home, url, parent_url, run_id, source, created_at, updated_at)
SELECT r.identity, r.home, r.url, r.parent_url, r.run_id, r.source, :now, :now
/*rows FROM r(identity text, home text, url text, parent_url text, run_id bigint, source text) */
WHERE TRUE;

-- name: add_decisions
INSERT INTO decisions (at, identity, url, step, reason, run_id)
SELECT :now, r.identity, r.url, r.step, r.reason, r.run_id
/*rows FROM r(identity text, url text, step text, reason text, run_id bigint) */
WHERE TRUE;

-- name: fresh_candidates
SELECT * FROM candidates WHERE verdict = 'new' AND look_id IS NULL ORDER BY id LIMIT :limit;

-- name: seen_candidates
SELECT c.* FROM candidates c JOIN runs u ON u.id = c.look_id
WHERE c.verdict = 'new' AND u.state IN ('completed', 'failed', 'cancelled') ORDER BY c.id LIMIT :limit;

-- name: look_at_candidate
UPDATE candidates SET look_id = :run_id, updated_at = :now WHERE id = :id AND verdict = 'new' RETURNING identity, url;

-- name: judge_candidate
UPDATE candidates SET verdict = 'pending', risk = :risk, robots = :robots, title = :title,
    feed_url = CAST(:feed_url AS TEXT), updated_at = :now
WHERE id = :id AND verdict = 'new' RETURNING identity, url;

-- name: decide_candidate
UPDATE candidates SET verdict = :verdict, source_id = CAST(:source_id AS BIGINT), updated_at = :now
WHERE id = :id AND verdict = 'pending' RETURNING identity, url;

-- name: candidate
SELECT * FROM candidates WHERE id = :id;

-- name: find_candidates
SELECT * FROM candidates WHERE CAST(:verdict AS TEXT) IS NULL OR verdict = :verdict
ORDER BY seen DESC, id LIMIT :limit;

-- name: forget_decisions
-- The older ones have the smaller ids: who looks at the first of them has seen whether any is too old.
DELETE FROM decisions WHERE id IN (SELECT id FROM decisions ORDER BY id LIMIT :limit) AND at < :before RETURNING id;

-- name: find_decisions
SELECT identity, url, step, reason, run_id FROM decisions WHERE identity = :identity ORDER BY id DESC LIMIT :limit;
