-- Page changes of schedules, for the adaptive interval.

-- name: page_changes
SELECT * FROM page_changes WHERE source_ref = :source_ref;

-- name: save_page_changes
INSERT INTO page_changes (source_ref, digest, changed_at, unchanged, interval_ms)
VALUES (:source_ref, :digest, :changed_at, :unchanged, :interval_ms)
ON CONFLICT (source_ref) DO UPDATE SET digest = excluded.digest, changed_at = excluded.changed_at,
    unchanged = excluded.unchanged, interval_ms = excluded.interval_ms;

-- name: delete_page_changes
DELETE FROM page_changes WHERE source_ref = :source_ref;
