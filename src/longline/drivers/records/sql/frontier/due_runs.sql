-- Queued runs that start by themselves.

-- part: may_start
u.state = 'queued' AND u.schedule_id IS NULL AND u.due IS NOT NULL AND u.due <= :now
  AND NOT EXISTS (SELECT 1 FROM sources s WHERE s.id = u.source_id AND NOT s.enabled)
  AND NOT EXISTS (SELECT 1 FROM paused_kinds k WHERE k.kind = u.kind)

-- name: due_runs
SELECT u.id, u.plan, u.kind, u.source_id, u.subject, u.uid, u.due > u.created_at + CAST(:delayed AS BIGINT) AS was_delayed FROM runs u WHERE /*part may_start */ ORDER BY u.due, u.id LIMIT :limit;

-- name: due_run
SELECT u.id FROM runs u WHERE u.id = :id AND /*part may_start */;

-- name: pause_kind
INSERT INTO paused_kinds (kind, paused_at) VALUES (:kind, :now) ON CONFLICT (kind) DO NOTHING RETURNING kind;

-- name: resume_kind
DELETE FROM paused_kinds WHERE kind = :kind RETURNING kind;

-- name: paused_kinds
SELECT kind FROM paused_kinds ORDER BY kind;
