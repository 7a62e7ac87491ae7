-- Due times of schedules, and the slots that they are in.

-- name: loads_of_slots
-- Each half reads its own index of due times.
SELECT found.slot, COUNT(*) AS count FROM (
    SELECT CASE WHEN next_due < CAST(:now AS BIGINT) THEN CAST(:now AS BIGINT) ELSE next_due END / :slot AS slot FROM schedules
    WHERE state IN ('pending', 'scheduled') AND interval_ms IS NULL AND next_due < :until
    UNION ALL
    SELECT CASE WHEN next_due < CAST(:now AS BIGINT) THEN CAST(:now AS BIGINT) ELSE next_due END / :slot AS slot FROM schedules
    WHERE state IN ('pending', 'scheduled') AND interval_ms IS NOT NULL AND next_due < :until
) AS found GROUP BY found.slot;

-- name: waiting_schedules
SELECT id, uid, state, COALESCE(next_due, 0) AS next_due, interval_ms, placed_at, retries FROM schedules
WHERE state = 'running' OR (state IN ('pending', 'scheduled') AND next_due IS NOT NULL) ORDER BY id;

-- name: shift_schedules
UPDATE schedules SET next_due = r.new, anchor = r.new, placed_at = :now, updated_at = :now
/*rows FROM r(id bigint, old bigint, new bigint) */
WHERE schedules.id = r.id AND schedules.next_due = r.old AND schedules.state = 'scheduled' AND schedules.retries = 0
RETURNING schedules.id;
