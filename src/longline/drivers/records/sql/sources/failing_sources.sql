-- Sources in trouble.

-- name: failing_sources
SELECT id, name, enabled, disable_reason, failures, failed_at, succeeded_at FROM sources
WHERE failures > 0 ORDER BY failures DESC, id LIMIT :limit;
