-- Events, and the places that readers follow them by.

-- name: find_events
SELECT place AS id, at, noun, subject, move, was, became, actor, reason, CASE WHEN :listed = 1 THEN moves END AS moves
FROM events WHERE place > :after ORDER BY place LIMIT :limit;

-- name: unplaced_event
SELECT id FROM events WHERE place IS NULL LIMIT 1;

-- name: last_place
SELECT last FROM places WHERE noun = 'event' /*pg FOR UPDATE */;

-- name: place_events
-- What is there by now is all that was committed; of one subject, the earlier has the smaller id.
UPDATE events SET place = fresh.place FROM (
    SELECT id, CAST(:last AS BIGINT) + ROW_NUMBER() OVER (ORDER BY id) AS place
    FROM (SELECT id FROM events WHERE place IS NULL ORDER BY id LIMIT :limit) unplaced
) fresh WHERE events.id = fresh.id
RETURNING events.id;

-- name: move_places
UPDATE places SET last = :last WHERE noun = 'event';
