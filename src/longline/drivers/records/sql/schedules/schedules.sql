-- Schedules: their specification, lists, and the load of slots. Moves of their state are in `frontier/lifecycle_moves.sql`.

-- name: add_schedules
INSERT INTO schedules (uid, source_id, url, state, interval_ms, next_due, created_at, updated_at, kind, source_ref,
    source_name, every, unit, enabled, adaptive, max_retries, backoff_seconds, written_time, metadata, priority,
    automatic, anchor, placed_at)
SELECT r.uid, r.source_id, r.url, r.state, r.interval_ms, r.next_due, :now, :now, r.kind, r.source_ref, r.source_name,
    r.every, r.unit, r.enabled, r.adaptive, r.max_retries, r.backoff_seconds, r.written_time, r.metadata, r.priority,
    r.automatic, r.anchor, r.placed_at
/*rows FROM r(uid text, source_id bigint, url text, state text, interval_ms bigint, next_due bigint, kind text, source_ref text, source_name text, every bigint, unit text, enabled boolean, adaptive boolean, max_retries bigint, backoff_seconds bigint, written_time text, metadata text, priority bigint, automatic boolean, anchor bigint, placed_at bigint) */
WHERE TRUE
ON CONFLICT DO NOTHING
RETURNING *;

-- name: recurring_schedules
SELECT s.* FROM schedules s /*rows , r(source_ref text) */
WHERE s.source_ref = r.source_ref AND s.interval_ms IS NOT NULL AND s.state <> 'cancelled';

-- name: schedule
SELECT * FROM schedules WHERE id = :id;

-- name: schedule_by_uid
SELECT * FROM schedules WHERE uid = :uid;

-- name: schedules_among
SELECT s.* FROM schedules s /*rows , r(id bigint) */
WHERE s.id = r.id;

-- part: asked_schedules
(CAST(:kind AS TEXT) IS NULL OR kind = :kind)
  AND (CAST(:states AS TEXT) IS NULL OR :states LIKE '%,' || state || ',%')
  AND (CAST(:source_ref AS TEXT) IS NULL OR source_ref = :source_ref)
  AND (CAST(:search AS TEXT) IS NULL OR LOWER(COALESCE(source_name, '')) LIKE LOWER(:search) ESCAPE '\' OR LOWER(url) LIKE LOWER(:search) ESCAPE '\');

-- name: latest_schedules
-- The usual order is that of the key: nothing is sorted, and whoever is behind the page is not looked at.
SELECT * FROM schedules WHERE /*part asked_schedules */ ORDER BY id DESC LIMIT :limit OFFSET :offset;

-- part: number_shown
CASE CAST(:sort AS TEXT) WHEN 'updated_at' THEN updated_at WHEN 'last_run_at' THEN started_at
    WHEN 'next_run_at' THEN CASE WHEN state IN ('pending', 'scheduled') THEN next_due END END;

-- part: word_shown
CASE CAST(:sort AS TEXT) WHEN 'status' THEN state WHEN 'type' THEN kind WHEN 'source_name' THEN source_name END;

-- name: find_schedules
-- Nothing last, but for the latest next time first: there nothing comes before everything.
SELECT * FROM schedules
WHERE /*part asked_schedules */
ORDER BY
    (/*part number_shown */ IS NULL AND /*part word_shown */ IS NULL) <> (:sort = 'next_run_at' AND :falling),
    CASE WHEN :falling THEN -/*part number_shown */ ELSE /*part number_shown */ END,
    CASE WHEN NOT :falling THEN /*part word_shown */ END,
    CASE WHEN :falling THEN /*part word_shown */ END DESC,
    CASE WHEN :falling THEN -id ELSE id END
LIMIT :limit OFFSET :offset;

-- part: starts_behind
SELECT * FROM schedules WHERE state IN ('pending', 'scheduled') AND next_due >= :due AND (next_due, id) > (:due, :id) AND /*part asked_schedules */

-- name: soonest_schedules
-- Each half has an index of its own, and is read up to the limit.
SELECT * FROM (
    SELECT * FROM (/*part starts_behind */ AND interval_ms IS NULL ORDER BY next_due, id LIMIT :limit) AS once
    UNION ALL
    SELECT * FROM (/*part starts_behind */ AND interval_ms IS NOT NULL ORDER BY next_due, id LIMIT :limit) AS again
) AS found ORDER BY next_due, id LIMIT :limit;

-- name: schedules_without_start
SELECT * FROM schedules
WHERE (state NOT IN ('pending', 'scheduled') OR next_due IS NULL) AND id > :id AND /*part asked_schedules */
ORDER BY id LIMIT :limit;

-- name: count_schedules
SELECT COUNT(*) AS count FROM schedules
WHERE /*part asked_schedules */;

-- name: schedule_states
SELECT state, COUNT(*) AS count FROM schedules WHERE kind = :kind GROUP BY state;

-- name: hold_schedule
SELECT * FROM schedules WHERE id = :id /*pg FOR UPDATE */;

-- name: amend_schedule
-- What a person says and, where asked for, the time; never a lock, a state or history.
UPDATE schedules SET url = :url, kind = :kind, source_ref = :source_ref, source_name = CAST(:source_name AS TEXT),
    every = CAST(:every AS BIGINT), unit = :unit, enabled = :enabled, adaptive = :adaptive, max_retries = :max_retries,
    backoff_seconds = :backoff_seconds, written_time = CAST(:written_time AS TEXT), metadata = :metadata,
    priority = :priority, automatic = :automatic, interval_ms = CAST(:interval_ms AS BIGINT),
    next_due = CASE WHEN state IN ('pending', 'scheduled') THEN COALESCE(CAST(:due AS BIGINT), next_due) ELSE next_due END,
    anchor = COALESCE(CAST(:due AS BIGINT), anchor), placed_at = CASE WHEN CAST(:due AS BIGINT) IS NULL THEN placed_at ELSE :now END,
    updated_at = :now
WHERE id = :id
RETURNING *;

-- name: rivals_of_schedule
SELECT id FROM schedules
WHERE source_ref = :source_ref AND interval_ms IS NOT NULL AND state <> 'cancelled' AND id <> :id LIMIT 1;

-- name: all_runs_of_schedule
SELECT id FROM runs WHERE schedule_id = :id;

-- name: remove_schedule
DELETE FROM schedules WHERE id = :id AND state <> 'running' RETURNING id;

-- name: lock_slots only pg
SELECT pg_advisory_xact_lock(:lock);

-- name: slot_loads
-- Who came due in the present slot has its place there, whatever became of the run: it comes again at that time.
SELECT taken.slot, COUNT(*) AS count FROM (
    SELECT id, next_due / :slot AS slot FROM schedules
    WHERE state IN ('pending', 'scheduled') AND next_due >= :since AND next_due < :until
    UNION
    SELECT id, last_due / :slot AS slot FROM schedules
    WHERE interval_ms IS NOT NULL AND state IN ('pending', 'scheduled', 'running') AND last_due >= :since
) AS taken GROUP BY taken.slot;
