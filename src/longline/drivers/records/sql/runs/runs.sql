-- Runs.

-- part: lineage
COALESCE(CAST(:lineage AS BIGINT), (
    SELECT COALESCE(o.lineage, o.id) FROM runs o
    WHERE CAST(:source_id AS BIGINT) IS NULL AND o.source_id IS NULL AND o.kind = :kind
      AND SUBSTR(o.seed, 1, 500) = SUBSTR(:seed, 1, 500) AND o.seed = :seed ORDER BY o.id LIMIT 1))

-- name: add_run
INSERT INTO runs (uid, kind, state, plan, seed, source_id, schedule_id, budget, lineage, due, standing, subject, created_at, updated_at)
VALUES (:uid, :kind, :state, :plan, :seed, CAST(:source_id AS BIGINT), CAST(:schedule_id AS BIGINT), CAST(:budget AS BIGINT), /*part lineage */, CAST(:due AS BIGINT), :standing, CAST(:subject AS TEXT), :now, :now)
RETURNING id;

-- name: ensure_run
-- Of the standing ones there is one of each kind and seed: who comes second waits for the first, and makes none.
INSERT INTO runs (uid, kind, state, plan, seed, source_id, schedule_id, budget, lineage, due, standing, subject, created_at, updated_at)
VALUES (:uid, :kind, :state, :plan, :seed, CAST(:source_id AS BIGINT), CAST(:schedule_id AS BIGINT), CAST(:budget AS BIGINT), /*part lineage */, CAST(:due AS BIGINT), :standing, CAST(:subject AS TEXT), :now, :now)
ON CONFLICT DO NOTHING
RETURNING id;

-- name: run
SELECT * FROM runs_now WHERE id = :id;

-- name: latest_run
SELECT * FROM runs_now WHERE kind = :kind AND SUBSTR(seed, 1, 500) = SUBSTR(:seed, 1, 500) AND seed = :seed ORDER BY id DESC LIMIT 1;

-- name: previous_run
SELECT p.* FROM runs u JOIN runs_now p ON p.kind = u.kind AND SUBSTR(p.seed, 1, 500) = SUBSTR(u.seed, 1, 500) AND p.id < u.id
WHERE u.id = :id AND p.seed = u.seed ORDER BY p.id DESC LIMIT 1;

-- name: first_run
SELECT * FROM runs_now WHERE kind = :kind AND SUBSTR(seed, 1, 500) = SUBSTR(:seed, 1, 500) AND seed = :seed ORDER BY id LIMIT 1;

-- name: replan_run
UPDATE runs SET plan = :plan, source_id = CAST(:source_id AS BIGINT), updated_at = :now
WHERE id = :id AND standing RETURNING id;

-- name: revise_run
UPDATE runs SET plan = :plan, budget = CAST(:budget AS BIGINT), updated_at = :now WHERE id = :id;

-- name: find_runs
SELECT * FROM runs_now WHERE CAST(:kind AS TEXT) IS NULL OR kind = :kind ORDER BY id DESC LIMIT :limit OFFSET :offset;

-- name: fates_of_run
SELECT fate, reason, count FROM fates WHERE run_id = :run_id AND count > 0 ORDER BY fate, count DESC, reason;

-- name: run_counts
SELECT state, CAST(SUM(count) AS BIGINT) AS count FROM (
    SELECT state, runs AS count FROM run_totals
    UNION ALL SELECT state, COUNT(*) FROM runs WHERE state IN ('queued', 'running') GROUP BY state
) s GROUP BY state HAVING SUM(count) > 0;
