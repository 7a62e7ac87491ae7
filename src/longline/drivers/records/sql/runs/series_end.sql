-- The end of a run of a catalogue.

-- name: ended_series_run
SELECT state, source_id, ended_at FROM runs WHERE id = :run_id;

-- name: note_targets_crawled
UPDATE targets SET crawled_at = :now, tried_at = :now, updated_at = :now
WHERE active AND EXISTS (SELECT 1 FROM series_runs x
    WHERE x.run_id = :run_id AND x.series_id = targets.series_id AND x.source_id = targets.source_id);

-- name: touch_source
UPDATE sources SET updated_at = :now WHERE id = :id;

-- name: note_discovery
INSERT INTO discoveries (source_id, tried_at)
SELECT u.source_id, :now FROM runs u JOIN sources s ON s.id = u.source_id WHERE u.id = :run_id AND u.subject = ''
ON CONFLICT (source_id) DO UPDATE SET tried_at = excluded.tried_at;

-- name: disable_threshold
SELECT value FROM door_settings WHERE door = 'catalogue' AND key = 'crawler.disable_threshold';

-- name: disable_failing_source
UPDATE sources SET enabled = FALSE, disabled_at = :now, disable_reason = 'failures in a row', updated_at = :now
WHERE id = :id AND enabled AND failures >= :threshold
RETURNING id, failures, COALESCE(ref, uid) AS thing;
