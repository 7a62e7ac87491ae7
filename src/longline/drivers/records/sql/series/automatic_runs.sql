-- Runs of catalogues that start by themselves.

-- name: automatic_sources
SELECT s.id, s.name, s.base_url, s.extension_config, COALESCE(d.tried_at, s.created_at) AS tried_at
FROM sources s LEFT JOIN discoveries d ON d.source_id = s.id
WHERE s.enabled AND s.extension IS NOT NULL AND s.id > :after_id
ORDER BY s.id
LIMIT :limit;

-- name: due_targets
SELECT * FROM targets WHERE source_id = :source_id AND active AND tried_at <= :before ORDER BY tried_at, id LIMIT :limit;

-- name: try_targets
UPDATE targets SET tried_at = :now WHERE source_id = :source_id AND series_id = :subject AND active AND tried_at <= :before
RETURNING id;

-- name: try_discovery
INSERT INTO discoveries (source_id, tried_at) SELECT s.id, :now FROM sources s WHERE s.id = :source_id AND s.created_at <= :before
ON CONFLICT (source_id) DO UPDATE SET tried_at = excluded.tried_at WHERE discoveries.tried_at <= :before
RETURNING source_id AS id;
