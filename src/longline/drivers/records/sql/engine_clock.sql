-- The engine's time, as `model/engine_clock.py` computes it.

-- name: server_time only pg
SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::float8 AS server_ms;

-- name: engine_clock
SELECT version, basis, offset_ms, slew_from_ms, slew_ms FROM engine_clock WHERE id = 1;

-- name: set_engine_clock
-- Only by the process that saw the last change: two that see one jump correct it once.
UPDATE engine_clock SET version = version + 1, basis = :basis, offset_ms = :offset_ms, slew_from_ms = :slew_from_ms,
    slew_ms = :slew_ms
WHERE id = 1 AND version = CAST(:version AS BIGINT) - 1
RETURNING version;

-- name: engine_busy only lite
-- A lease that is held or a pause that lasts: a step of the clock would change them. A step back would put off work that
-- is due by the time `soon` as well.
SELECT EXISTS (SELECT 1 FROM line WHERE owner IS NOT NULL AND wake_at > 0)
    OR EXISTS (SELECT 1 FROM line WHERE owner IS NULL AND wake_at IS NOT NULL AND wake_at <= CAST(:soon AS BIGINT))
    OR EXISTS (SELECT 1 FROM line WHERE not_before > CAST(:now AS BIGINT))
    OR EXISTS (SELECT 1 FROM offers WHERE due > 0 AND owner IS NOT NULL)
    OR EXISTS (SELECT 1 FROM runs WHERE lease_until IS NOT NULL)
    OR EXISTS (SELECT 1 FROM schedules WHERE lease_until IS NOT NULL) AS busy;

-- name: latest_time only lite
-- The latest time that is known to have been the engine's: it never goes back behind this while anything depends on it.
SELECT MAX(t) AS latest FROM (
    SELECT MAX(seen_at) AS t FROM workers
    UNION ALL
    SELECT at FROM (SELECT at FROM events ORDER BY id DESC LIMIT 1) e
) known;

-- name: time_leapt only lite
-- Whether an earlier clock was ahead, after a step back to `now`. A clock that is behind instead, as that of a machine
-- without a battery, shows a time before the database was made, or one after which events follow each other.
SELECT (SELECT MIN(applied_at) FROM migrations) <= CAST(:now AS BIGINT)
   AND NOT EXISTS (SELECT 1 FROM events WHERE at > CAST(:now AS BIGINT) AND at <= CAST(:now AS BIGINT) + :most) AS leapt;

-- The statements from here on are run when the engine's time steps back by more than a day while nothing is held: the
-- clock was ahead, and times that it wrote lie where no rule puts them. Each keeps the wait that is left of such a time;
-- a recurring schedule keeps its phase. A time that a rule explains stays.

-- name: pull_in_hosts only lite
UPDATE line SET not_before = MAX(CAST(:now AS BIGINT), not_before - CAST(:back AS BIGINT))
WHERE not_before > CAST(:now AS BIGINT) + :most;

-- name: pull_in_wake_times only lite
UPDATE line SET wake_at = MAX(CAST(:now AS BIGINT), not_before, wake_at - CAST(:back AS BIGINT))
WHERE owner IS NULL AND wake_at > CAST(:now AS BIGINT) + :most;

-- name: pull_in_tasks only lite
UPDATE tasks SET due = MAX(CAST(:now AS BIGINT), due - CAST(:back AS BIGINT))
WHERE id IN (SELECT id FROM queue WHERE due > CAST(:now AS BIGINT) + :most
             UNION ALL SELECT id FROM offers WHERE owner IS NULL AND due > CAST(:now AS BIGINT) + :most);

-- name: pull_in_queue only lite
UPDATE queue SET due = MAX(CAST(:now AS BIGINT), due - CAST(:back AS BIGINT)) WHERE due > CAST(:now AS BIGINT) + :most;

-- name: pull_in_offers only lite
UPDATE offers SET due = MAX(CAST(:now AS BIGINT), due - CAST(:back AS BIGINT))
WHERE owner IS NULL AND due > CAST(:now AS BIGINT) + :most;

-- name: pull_in_standing only lite
UPDATE standing SET next_at = MAX(CAST(:now AS BIGINT), next_at - CAST(:back AS BIGINT))
WHERE next_at > CAST(:now AS BIGINT) + :most;

-- name: pull_in_schedules only lite
-- Without an interval only the clock that wrote the row tells: a person may set any time.
UPDATE schedules SET next_due = CASE WHEN interval_ms IS NULL THEN MAX(CAST(:now AS BIGINT), next_due - CAST(:back AS BIGINT))
    ELSE CAST(:now AS BIGINT) + (next_due - CAST(:now AS BIGINT)) % interval_ms END
WHERE next_due > CAST(:now AS BIGINT) + MAX(:most, COALESCE(interval_ms, 0))
  AND (interval_ms IS NOT NULL OR updated_at > CAST(:now AS BIGINT));

-- name: pull_in_bot_schedules only lite
UPDATE bot_schedules SET next_due = MAX(CAST(:now AS BIGINT), next_due - CAST(:back AS BIGINT))
WHERE next_due > CAST(:now AS BIGINT) + MAX(:most, COALESCE((SELECT s.interval_ms FROM schedules s WHERE s.id = schedule_id), 0));

-- name: pull_in_feeds only lite
UPDATE feeds SET due_at = MAX(CAST(:now AS BIGINT), due_at - CAST(:back AS BIGINT)),
    next_poll_at = CASE WHEN next_poll_at > CAST(:now AS BIGINT) + :most
        THEN MAX(CAST(:now AS BIGINT), next_poll_at - CAST(:back AS BIGINT)) ELSE next_poll_at END
WHERE due_at > CAST(:now AS BIGINT) + MAX(:most, (SELECT s.feed_every_ms FROM sources s WHERE s.id = source_id));

-- name: pull_in_sitemaps only lite
UPDATE sitemaps SET due_at = MAX(CAST(:now AS BIGINT), due_at - CAST(:back AS BIGINT))
WHERE due_at > CAST(:now AS BIGINT) + :most;

-- name: pull_in_probes only lite
UPDATE proxies SET probe_at = MAX(CAST(:now AS BIGINT), probe_at - CAST(:back AS BIGINT))
WHERE probe_at > CAST(:now AS BIGINT) + :most;

-- name: distant_times
-- Times that no rule explains. Hosts, queued tasks and recurring schedules are compared with the longest wait of each.
SELECT (SELECT COUNT(*) FROM line l JOIN hosts h ON h.id = l.host_id
        WHERE l.not_before > CAST(:now AS BIGINT) + :most + 2 * h.delay_ms) AS hosts,
       (SELECT COUNT(*) FROM queue q WHERE q.due > CAST(:now AS BIGINT) + :most) AS tasks,
       (SELECT COUNT(*) FROM schedules s WHERE s.interval_ms IS NOT NULL AND s.state IN ('pending', 'scheduled')
        AND s.next_due > CAST(:now AS BIGINT) + /*pg GREATEST */ /*lite MAX */ (:most, s.interval_ms)) AS schedules;
