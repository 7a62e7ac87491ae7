-- Versions of sources, which caches compare.

-- name: source_version
SELECT version FROM source_versions WHERE source_id = :source_id;

-- name: version_of_all_sources
-- Every number grows, so their sum does with each change.
SELECT CAST(COALESCE(SUM(version), 0) AS BIGINT) AS version FROM source_changes;

-- name: source_change_parts
SELECT part, version FROM source_changes ORDER BY part;

-- name: source_versions_after
SELECT source_id, version FROM source_versions WHERE source_id % 16 = :part AND version > :after
ORDER BY version LIMIT :limit;
