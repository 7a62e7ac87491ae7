-- Holds of runs. Their number is small: the cost of a hold does not grow with the tasks of its run.

-- name: add_hold
INSERT INTO holds (run_id, why, since, until) VALUES (:run_id, :why, :since, :until)
ON CONFLICT (run_id, why) DO UPDATE SET since = excluded.since, until = excluded.until
RETURNING run_id;

-- name: lift_hold
DELETE FROM holds WHERE run_id = :run_id AND why = :why RETURNING run_id;

-- name: lapsed_holds
SELECT run_id, why FROM holds WHERE until <= :now ORDER BY run_id, why;

-- name: held_runs
SELECT run_id FROM holds WHERE since <= :now AND until > :now;

-- name: unmatched_holds
-- Runs whose source is off and that are not held for it, or whose source is on and that are.
SELECT u.id AS run_id, s.enabled FROM runs u JOIN sources s ON s.id = u.source_id
WHERE u.standing AND u.kind IN ('products', 'images')
  AND s.enabled = EXISTS (SELECT 1 FROM holds d WHERE d.run_id = u.id AND d.why = 'disabled')
ORDER BY u.id;

-- name: find_holds
SELECT run_id, why, since, until FROM holds ORDER BY run_id, why;

-- name: hosts_of_held_run
-- With the hosts to which tasks of the run were redirected.
SELECT host_id FROM recrawl_hosts WHERE run_id = :run_id
UNION
SELECT t.host_id FROM tasks t WHERE t.home_id IS NOT NULL AND t.run_id = :run_id;

-- name: note_held_hosts
INSERT INTO recrawl_hosts (run_id, host_id)
SELECT CAST(:run_id AS BIGINT), h.id FROM hosts h /*rows , r(host text) */ WHERE h.host = r.host
ON CONFLICT (run_id, host_id) DO NOTHING;

-- name: set_hold_window
INSERT INTO hold_windows (run_id, from_second, to_second) VALUES (:run_id, :from_second, :to_second)
ON CONFLICT (run_id) DO UPDATE SET from_second = excluded.from_second, to_second = excluded.to_second;

-- name: drop_hold_window
DELETE FROM hold_windows WHERE run_id = :run_id;

-- name: hold_windows
SELECT run_id, from_second, to_second FROM hold_windows ORDER BY run_id;
