-- Settings of one API, kept by its admins.

-- name: door_setting
SELECT * FROM door_settings WHERE door = :door AND key = :key;

-- part: chosen_door_settings
door = :door AND key LIKE :pattern ESCAPE '\'

-- name: find_door_settings
SELECT * FROM door_settings WHERE /*part chosen_door_settings */ ORDER BY key LIMIT :limit OFFSET :offset;

-- name: count_door_settings
SELECT COUNT(*) AS count FROM door_settings WHERE /*part chosen_door_settings */;

-- name: put_door_setting
INSERT INTO door_settings (door, key, value, description, created_at, updated_at)
VALUES (:door, :key, CAST(:value AS TEXT), CAST(:description AS TEXT), :now, :now)
ON CONFLICT (door, key) DO UPDATE SET value = excluded.value,
    description = COALESCE(excluded.description, door_settings.description), updated_at = excluded.updated_at
RETURNING *;

-- name: remove_door_setting
DELETE FROM door_settings WHERE door = :door AND key = :key RETURNING id;
