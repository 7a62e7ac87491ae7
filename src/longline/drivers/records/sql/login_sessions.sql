-- Logins of runs.

-- name: session
SELECT number, locked FROM sessions WHERE run_id = :run_id AND name = :name;

-- name: put_session
INSERT INTO sessions (run_id, name, number, locked) VALUES (:run_id, :name, :number, :locked)
ON CONFLICT (run_id, name) DO UPDATE SET number = excluded.number, locked = excluded.locked
WHERE sessions.number < excluded.number;

-- name: ended_session
SELECT s.run_id FROM sessions s JOIN runs r ON r.id = s.run_id WHERE r.ended_at IS NOT NULL LIMIT 1;

-- name: drop_ended_sessions
DELETE FROM sessions WHERE run_id IN (
    SELECT s.run_id FROM sessions s JOIN runs r ON r.id = s.run_id WHERE r.ended_at IS NOT NULL
)
RETURNING run_id;
