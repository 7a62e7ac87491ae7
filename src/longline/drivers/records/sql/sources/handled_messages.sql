-- Ids of messages that were handled.

-- name: heard
SELECT id FROM heard WHERE id = :id;

-- name: note_heard
INSERT INTO heard (id, at) VALUES (:id, :now) ON CONFLICT (id) DO NOTHING;

-- name: forget_heard
DELETE FROM heard WHERE at <= CAST(:now AS BIGINT) - :age;
