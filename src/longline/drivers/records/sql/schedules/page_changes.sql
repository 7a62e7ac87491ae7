-- Page changes of schedules, for the adaptive interval.

-- name: rhythm
SELECT * FROM rhythms WHERE source_ref = :source_ref;

-- name: keep_rhythm
INSERT INTO rhythms (source_ref, digest, changed_at, unchanged, interval_ms)
VALUES (:source_ref, :digest, :changed_at, :unchanged, :interval_ms)
ON CONFLICT (source_ref) DO UPDATE SET digest = excluded.digest, changed_at = excluded.changed_at,
    unchanged = excluded.unchanged, interval_ms = excluded.interval_ms;

-- name: forget_rhythm
DELETE FROM rhythms WHERE source_ref = :source_ref;
