-- Versions of sources, which caches compare.

-- name: source_version
SELECT version FROM source_versions WHERE source_id = :source_id;

-- name: source_versions_after
SELECT source_id, version FROM source_versions WHERE version > :after ORDER BY version LIMIT :limit;
