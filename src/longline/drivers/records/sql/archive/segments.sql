-- Segments: begun before their objects are stored, dropped when no report named them.

-- name: begin_segment
INSERT INTO segments (key, owner, state, created_at) VALUES (:key, :owner, 'writing', :now) RETURNING id;

-- name: abandoned_segments
SELECT * FROM segments s /*rows , r(owner bigint) */ WHERE s.owner = r.owner AND s.state = 'writing' /*pg ORDER BY s.id */;

-- name: drop_segment
DELETE FROM segments WHERE id = :id AND state = 'writing';

-- name: find_segments
SELECT * FROM segments WHERE state = 'stored' ORDER BY id;

-- name: find_segments_of_run
SELECT * FROM segments WHERE state = 'stored' AND id IN (
    SELECT p.segment_id FROM pages p JOIN tasks t ON t.id = p.task_id WHERE t.run_id = :run_id
) ORDER BY id;
