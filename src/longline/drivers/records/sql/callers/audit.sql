-- The audit: rows are written and read. The states of things are read under `audited_<noun>`.

-- name: write_audit
INSERT INTO audit (uid, at, subject, name, role, kind, tenant, door, action, noun, thing, number, before, after, reason, address)
VALUES (:uid, :now, :subject, :name, :role, :kind, :tenant, :door, :action, :noun, :thing, CAST(:number AS BIGINT), CAST(:before AS TEXT),
        CAST(:after AS TEXT), CAST(:reason AS TEXT), :address);

-- part: chosen_audit
(CAST(:subject AS TEXT) IS NULL OR subject = :subject)
  AND (CAST(:action AS TEXT) IS NULL OR action = :action)
  AND (CAST(:begins AS TEXT) IS NULL OR substr(action, 1, length(:begins)) = :begins)
  AND (CAST(:noun AS TEXT) IS NULL OR noun = :noun)
  AND (CAST(:thing AS TEXT) IS NULL OR thing = :thing OR number = CAST(:number AS BIGINT))
  AND (CAST(:tenant AS TEXT) IS NULL OR tenant = :tenant)
  AND (CAST(:since AS BIGINT) IS NULL OR at >= :since)
  AND (CAST(:until AS BIGINT) IS NULL OR at < :until)

-- name: find_audit
SELECT * FROM audit
WHERE /*part chosen_audit */
  AND (CAST(:before_id AS BIGINT) IS NULL OR id < :before_id)
ORDER BY id DESC LIMIT :limit OFFSET :offset;

-- name: audit_by_uid
SELECT * FROM audit WHERE uid = :uid;

-- part: source
SELECT s.*, f.errors AS feed_errors, f.error_type AS feed_error_type, f.due_at AS feed_due_at, f.next_poll_at AS feed_next_poll_at
FROM sources s LEFT JOIN feeds f ON f.source_id = s.id;

-- name: audited_source
/*part source */ WHERE s.id = :key;

-- name: audited_source_by_name
/*part source */ WHERE s.name = :key;

-- part: schedule
SELECT s.*, b.domain, b.name AS domain_name, b.pattern, b.priority AS bot_priority, b.max_retries AS bot_retries,
       b.backoff_ms, b.lease_ms, b.config
FROM schedules s LEFT JOIN bot_schedules b ON b.schedule_id = s.id;

-- name: audited_schedule
/*part schedule */ WHERE s.id = :key;

-- name: audited_schedule_by_name
/*part schedule */ WHERE s.uid = :key;

-- name: audited_task
SELECT id, url, executor, state, reason, error, priority, due, attempt, created_at, finished_at FROM tasks WHERE id = :key;

-- name: audited_bot
SELECT * FROM bots WHERE name = :key;

-- name: audited_link
SELECT id, uid, source, url, parent_url, domain, status, taken FROM links WHERE uid = :key;

-- name: audited_candidate
SELECT * FROM candidates WHERE id = :key;

-- name: audited_proxy
SELECT * FROM proxies WHERE id = :key;

-- name: audited_key
SELECT * FROM api_keys WHERE uid = :key;

-- name: audited_session
SELECT id, uid, subject, name, role, kind, address, agent, created_at, expires_at FROM console_sessions WHERE uid = :key;

-- name: audited_run
SELECT id, uid, kind, source_id, subject, seed, state, error, due, created_at, started_at, ended_at, deleted_at FROM runs WHERE id = :key;

-- name: audited_run_kind
SELECT kind AS name, paused_at FROM paused_kinds WHERE kind = :key;

-- name: audited_maintenance_run
SELECT id, task, state, created_at, started_at, ended_at, error FROM maintenance_runs WHERE id = :key;

-- name: audited_maintenance_schedule
SELECT task AS name, cron, enabled FROM maintenance_schedules WHERE task = :key;

-- name: audited_series
SELECT * FROM series WHERE id = :key;

-- name: audited_target
SELECT * FROM targets WHERE id = :key;

-- name: audited_door_setting
SELECT key AS name, door, value, description FROM door_settings WHERE door || '/' || key = :key;

-- name: count_audit
SELECT COUNT(*) AS count FROM audit WHERE /*part chosen_audit */;
