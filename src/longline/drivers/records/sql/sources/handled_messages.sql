-- Ids of messages that were handled.

-- name: handled_message
SELECT id FROM handled_messages WHERE id = :id;

-- name: add_handled_message
INSERT INTO handled_messages (id, at) VALUES (:id, :now) ON CONFLICT (id) DO NOTHING;

-- name: delete_handled_messages
DELETE FROM handled_messages WHERE at <= CAST(:now AS BIGINT) - :age;
