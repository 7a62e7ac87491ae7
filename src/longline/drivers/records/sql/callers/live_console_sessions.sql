-- Logins at the console.

-- part: in_force
s.expires_at > :now AND (s.kind <> 'key' OR EXISTS (
    SELECT 1 FROM api_keys k WHERE k.uid = s.subject AND k.revoked_at IS NULL AND COALESCE(k.expires_at, :now + 1) > :now))

-- name: add_console_session
INSERT INTO console_sessions (uid, secret, subject, name, role, kind, address, agent, created_at, seen_at, expires_at)
VALUES (:uid, :secret, :subject, :name, :role, :kind, :address, :agent, :now, :now, :expires_at)
RETURNING *;

-- name: console_session
SELECT s.*, COALESCE(c.time_zone, 'UTC') AS time_zone, (SELECT COUNT(*) FROM alerts a WHERE a.state = 'raised') AS alerts
FROM console_sessions s LEFT JOIN console_choices c ON c.subject = s.subject AND c.kind = s.kind
WHERE s.uid = :uid AND /*part in_force */;

-- name: console_sessions_in_force
SELECT s.uid /*all rows FROM r(uid text) */ JOIN console_sessions s ON s.uid = r.uid WHERE /*part in_force */;

-- name: choose_time_zone
INSERT INTO console_choices (subject, kind, time_zone) VALUES (:subject, :kind, :time_zone)
ON CONFLICT (subject, kind) DO UPDATE SET time_zone = excluded.time_zone;

-- name: find_console_sessions
SELECT s.* FROM console_sessions s WHERE s.id < :before AND /*part in_force */ ORDER BY s.id DESC LIMIT :limit;

-- name: console_sessions_of_subject
SELECT s.* FROM console_sessions s WHERE s.subject = :subject AND s.kind = :kind AND /*part in_force */
ORDER BY s.id DESC LIMIT :limit;

-- name: touch_console_session
UPDATE console_sessions SET seen_at = :now WHERE uid = :uid;

-- name: remove_console_session
DELETE FROM console_sessions WHERE uid = :uid RETURNING id;

-- name: forget_console_sessions
DELETE FROM console_sessions WHERE expires_at <= :now;
