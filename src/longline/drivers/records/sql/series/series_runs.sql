-- Runs that crawl the catalogue of a source, or one series of it.

-- name: open_run_of_subject
SELECT id FROM runs WHERE kind = :kind AND source_id = :source_id AND subject = :subject AND state IN ('queued', 'running')
LIMIT 1;

-- name: add_series_run
INSERT INTO series_runs (run_id, source_id, series_id, caller_id, caller_name)
VALUES (:run_id, :source_id, CAST(:series_id AS TEXT), CAST(:caller_id AS TEXT), CAST(:caller_name AS TEXT))
RETURNING run_id;

-- part: series_run
-- A run whose source another API has deleted is shown no more.
SELECT u.*, x.series_id, x.caller_id, x.caller_name FROM series_runs x JOIN runs_now u ON u.id = x.run_id AND u.source_id IS NOT NULL

-- name: series_run
/*part series_run */ WHERE u.uid = :uid;

-- part: chosen_series_runs
(CAST(:source_id AS BIGINT) IS NULL OR x.source_id = :source_id)
  AND (CAST(:series_id AS TEXT) IS NULL OR x.series_id = :series_id)
  AND (CAST(:is_ordered AS BOOLEAN) IS NULL OR (x.caller_id IS NOT NULL) = :is_ordered)
  AND (CAST(:due_after AS BIGINT) IS NULL OR u.due > :due_after)
  AND (:any_state OR u.state IN (:queued, :running, :completed, :failed, :cancelled))

-- name: find_series_runs
/*part series_run */
WHERE /*part chosen_series_runs */
ORDER BY
    CASE WHEN :sort = 'ended_at' THEN u.ended_at WHEN :sort = 'completed' THEN u.completed ELSE u.due END DESC NULLS LAST,
    u.uid DESC
LIMIT :limit OFFSET :offset;

-- name: count_series_runs
SELECT COUNT(*) AS count FROM series_runs x JOIN runs_now u ON u.id = x.run_id AND u.source_id IS NOT NULL
WHERE /*part chosen_series_runs */;

-- name: series_run_states
SELECT u.state, COUNT(*) AS count FROM series_runs x JOIN runs_now u ON u.id = x.run_id
WHERE x.source_id = :source_id
GROUP BY u.state;

-- name: last_series_run
/*part series_run */ WHERE x.source_id = :source_id AND u.ended_at IS NOT NULL ORDER BY u.ended_at DESC, u.id DESC LIMIT 1;

-- name: open_series_runs
SELECT u.id, u.state FROM series_runs x JOIN runs u ON u.id = x.run_id
WHERE x.source_id = :source_id AND u.state IN ('queued', 'running')
ORDER BY u.id;

-- name: series_runs_of_source
SELECT x.run_id FROM series_runs x JOIN runs u ON u.id = x.run_id
WHERE x.source_id = :source_id AND u.deleted_at IS NULL
ORDER BY x.run_id;

-- name: mark_runs_deleted
UPDATE runs SET deleted_at = :now, updated_at = :now /*rows FROM r(id bigint) */
WHERE runs.id = r.id AND runs.deleted_at IS NULL;

-- name: drop_effects_of_source
-- The health of a source that is gone needs no note.
DELETE FROM run_effects WHERE kind = 'source_health' AND run_id IN (SELECT u.id FROM runs u WHERE u.source_id = :id);

-- name: stuck_series_runs
/*part series_run */ WHERE u.state = 'running' AND u.started_at < :started_before ORDER BY u.started_at, u.id LIMIT :limit;

-- name: open_series_run_figures
SELECT SUM(CASE WHEN state = 'queued' THEN 1 ELSE 0 END) AS queued, SUM(CASE WHEN state = 'running' THEN 1 ELSE 0 END) AS running,
    SUM(CASE WHEN state = 'running' AND started_at < :started_before THEN 1 ELSE 0 END) AS stuck
FROM runs WHERE kind = 'series' AND state IN ('queued', 'running') AND source_id IS NOT NULL;

-- name: extension_source_figures
SELECT SUM(CASE WHEN enabled THEN 1 ELSE 0 END) AS enabled, SUM(CASE WHEN enabled THEN 0 ELSE 1 END) AS disabled,
    SUM(CASE WHEN enabled AND failures > 0 THEN 1 ELSE 0 END) AS failing
FROM sources WHERE extension IS NOT NULL;
