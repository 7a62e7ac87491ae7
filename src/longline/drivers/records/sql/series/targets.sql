-- Targets: series as sources know them.

-- name: add_target
INSERT INTO targets (series_id, source_id, external_id, url, active, tried_at, created_at, updated_at)
SELECT :series_id, s.id, :external_id, :url, :active, :now, :now, :now FROM sources s WHERE s.id = :source_id
ON CONFLICT (source_id, external_id) DO NOTHING
RETURNING *;

-- name: target
SELECT * FROM targets WHERE id = :id;

-- name: targets_of_series
SELECT * FROM targets WHERE series_id = :series_id ORDER BY id;

-- name: target_by_external_id
SELECT id FROM targets WHERE source_id = :source_id AND external_id = :external_id;

-- name: lock_target
SELECT * FROM targets WHERE id = :id /*pg FOR NO KEY UPDATE */;

-- name: change_target
UPDATE targets SET external_id = :external_id, url = :url, active = :active, updated_at = :now
WHERE id = :id
RETURNING *;

-- name: remove_target
DELETE FROM targets WHERE id = :id AND series_id = :series_id RETURNING id;
