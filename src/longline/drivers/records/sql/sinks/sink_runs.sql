-- The runs that sinks get.

-- part: wanted
(s.every_run OR (s.name <> '' AND EXISTS (
    SELECT 1 FROM sources o WHERE o.id = r.source_id AND o.sinks LIKE '%"' || s.name || '"%')))

-- name: any_new_items
SELECT run_id FROM run_counts WHERE new_items LIMIT 1;

-- name: take_new_items
-- Locked in the order of reports, which lock several runs too.
UPDATE run_counts SET new_items = FALSE WHERE run_id /*pg = ANY (ARRAY */ /*lite IN */ (
    SELECT c.run_id FROM run_counts c WHERE c.new_items ORDER BY c.run_id LIMIT :limit /*pg FOR NO KEY UPDATE */
) /*pg ) */
RETURNING run_id;

-- name: lock_sources_of_sinks
-- A source that gets other sinks at this moment assigns its runs itself: the later transaction sees the earlier one.
SELECT o.id FROM sources o JOIN runs u ON u.source_id = o.id /*rows , r(id bigint) */
WHERE u.id = r.id /*pg ORDER BY o.id FOR SHARE OF o */;

-- name: lock_sinks
SELECT id FROM sinks ORDER BY id /*pg FOR NO KEY UPDATE */;

-- name: lock_sink
UPDATE sinks SET assigned = TRUE WHERE id = :id RETURNING id;

-- name: assign_runs
INSERT INTO sink_positions (sink_id, run_id)
SELECT s.id, r.id FROM sinks s, runs r /*rows , t(id bigint) */
WHERE r.id = t.id AND s.seen_at > CAST(:now AS BIGINT) - :abandoned AND /*part wanted */
ON CONFLICT (sink_id, run_id) DO UPDATE SET waiting = TRUE;

-- name: assign_crawl
INSERT INTO sink_positions (sink_id, run_id)
SELECT s.id, r.id FROM sinks s, runs r WHERE s.id = :id AND r.id = :run_id
ON CONFLICT (sink_id, run_id) DO UPDATE SET waiting = TRUE;

-- name: assign_sink
INSERT INTO sink_positions (sink_id, run_id)
SELECT s.id, r.id FROM sinks s, runs r JOIN run_counts c ON c.run_id = r.id
WHERE s.id = :id AND c.last_item > 0 AND /*part wanted */
ON CONFLICT (sink_id, run_id) DO UPDATE SET waiting = TRUE;

-- name: unassign_sink
UPDATE sink_positions SET waiting = FALSE
WHERE sink_id = :id AND waiting AND NOT EXISTS (
    SELECT 1 FROM sinks s, runs r WHERE s.id = sink_positions.sink_id AND r.id = sink_positions.run_id AND /*part wanted */);

-- name: assign_source
INSERT INTO sink_positions (sink_id, run_id)
SELECT s.id, r.id FROM sinks s, runs r JOIN run_counts c ON c.run_id = r.id
WHERE r.source_id = :source_id AND c.last_item > 0 AND s.name <> '' AND /*part wanted */
ON CONFLICT (sink_id, run_id) DO UPDATE SET waiting = TRUE;

-- name: unassign_source
UPDATE sink_positions SET waiting = FALSE
WHERE waiting AND run_id IN (SELECT u.id FROM runs u WHERE u.source_id = :source_id)
    AND EXISTS (SELECT 1 FROM sinks s, runs r WHERE s.id = sink_positions.sink_id AND r.id = sink_positions.run_id
        AND s.name <> '' AND NOT /*part wanted */);

-- name: named_sinks
SELECT DISTINCT sinks FROM sources WHERE sinks <> '[]';

-- name: see_sinks
UPDATE sinks SET seen_at = :now /*rows FROM r(id bigint) */ WHERE sinks.id = r.id;

-- name: undelivered_runs
SELECT r.id FROM runs r JOIN run_counts c ON c.run_id = r.id /*rows , t(id bigint) */
WHERE r.id = t.id AND EXISTS (
    SELECT 1 FROM sinks s WHERE s.seen_at > CAST(:now AS BIGINT) - :abandoned AND (
        (c.new_items AND /*part wanted */)
        OR EXISTS (SELECT 1 FROM sink_positions p WHERE p.sink_id = s.id AND p.run_id = r.id AND p.waiting)));
