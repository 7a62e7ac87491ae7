-- Pages of lists of recrawls, by nine filters and eight orders. Each rest is read by itself in the order of its own index, as
-- far as the page reaches, and the rests are merged: so the indexes by rest serve lists of all rests.

-- name: plan_each only pg
-- A list has nine filters, most of them unused: a plan for all cases would suit none.
SELECT set_config('plan_cache_mode', 'force_custom_plan', TRUE);

-- part: chosen
/*pg = ANY (CAST(:chosen AS BIGINT[])) */ /*lite IN (SELECT value FROM json_each(:chosen)) */;

-- part: left_out
/*pg = ANY (CAST(:left_out AS BIGINT[])) */ /*lite IN (SELECT value FROM json_each(:left_out)) */;

-- part: held
/*pg = ANY (CAST(:held AS BIGINT[])) */ /*lite IN (SELECT value FROM json_each(:held)) */;

-- part: is_asleep
(c.waits OR c.due_at > :now OR c.run_id /*part held */);

-- part: fits
(CAST(:source_id AS BIGINT) IS NULL OR c.source_id = :source_id)
  AND (CAST(:priority_min AS BIGINT) IS NULL OR c.priority >= :priority_min)
  AND (CAST(:priority_max AS BIGINT) IS NULL OR c.priority <= :priority_max)
  AND (CAST(:created_after AS BIGINT) IS NULL OR c.created_at >= :created_after)
  AND (CAST(:created_before AS BIGINT) IS NULL OR c.created_at <= :created_before)
  AND (CAST(:recurring AS BOOLEAN) IS NULL OR (:recurring AND c.recurring) OR (NOT :recurring AND NOT c.recurring))
  AND (CAST(:batch_id AS BIGINT) IS NULL OR c.batch_id = :batch_id)
  AND (CAST(:created_by AS TEXT) IS NULL OR c.created_by = :created_by)
  AND (CAST(:asleep AS BOOLEAN) IS NULL OR (:asleep AND /*part is_asleep */) OR (NOT :asleep AND NOT /*part is_asleep */))
  AND (CAST(:is_chosen AS BOOLEAN) IS NULL OR c.id /*part chosen */)
  AND (CAST(:has_left_out AS BOOLEAN) IS NULL OR NOT (c.id /*part left_out */));

-- part: sorted_columns
c.id, c.id + 0 AS rank, c.created_at, c.updated_at, c.due_at, c.ended_at, c.priority, c.retries;

-- part: page
LIMIT :limit OFFSET :offset;

-- part: sorted
SELECT id FROM (
SELECT * FROM (SELECT /*part sorted_columns */ FROM recrawls c WHERE c.rest = 'pending' AND (CAST(:rest AS TEXT) IS NULL OR :rest = 'pending') AND /*part fits */
               ORDER BY /*given */ LIMIT :reach) AS pending
UNION ALL
SELECT * FROM (SELECT /*part sorted_columns */ FROM recrawls c WHERE c.rest = 'downloaded' AND (CAST(:rest AS TEXT) IS NULL OR :rest = 'downloaded') AND /*part fits */
               ORDER BY /*given */ LIMIT :reach) AS downloaded
UNION ALL
SELECT * FROM (SELECT /*part sorted_columns */ FROM recrawls c WHERE c.rest = 'queued_parse' AND (CAST(:rest AS TEXT) IS NULL OR :rest = 'queued_parse') AND /*part fits */
               ORDER BY /*given */ LIMIT :reach) AS queued_parse
UNION ALL
SELECT * FROM (SELECT /*part sorted_columns */ FROM recrawls c WHERE c.rest = 'completed' AND (CAST(:rest AS TEXT) IS NULL OR :rest = 'completed') AND /*part fits */
               ORDER BY /*given */ LIMIT :reach) AS completed
UNION ALL
SELECT * FROM (SELECT /*part sorted_columns */ FROM recrawls c WHERE c.rest = 'failed' AND (CAST(:rest AS TEXT) IS NULL OR :rest = 'failed') AND /*part fits */
               ORDER BY /*given */ LIMIT :reach) AS failed
UNION ALL
SELECT * FROM (SELECT /*part sorted_columns */ FROM recrawls c WHERE c.rest = 'paused' AND (CAST(:rest AS TEXT) IS NULL OR :rest = 'paused') AND /*part fits */
               ORDER BY /*given */ LIMIT :reach) AS paused
UNION ALL
SELECT * FROM (SELECT /*part sorted_columns */ FROM recrawls c WHERE c.rest = 'cancelled' AND (CAST(:rest AS TEXT) IS NULL OR :rest = 'cancelled') AND /*part fits */
               ORDER BY /*given */ LIMIT :reach) AS cancelled
) AS merged ORDER BY /*given */ /*part page */;

-- name: recrawls_by_id_up
/*part sorted: rank */;

-- name: recrawls_by_id_down
/*part sorted: rank DESC */;

-- name: recrawls_by_created_at_up
/*part sorted: created_at, id */;

-- name: recrawls_by_created_at_down
/*part sorted: created_at DESC, id DESC */;

-- name: recrawls_by_updated_at_up
/*part sorted: updated_at, id */;

-- name: recrawls_by_updated_at_down
/*part sorted: updated_at DESC, id DESC */;

-- name: recrawls_by_due_at_up
/*part sorted: due_at, id */;

-- name: recrawls_by_due_at_down
/*part sorted: due_at DESC, id DESC */;

-- name: recrawls_by_ended_at_up
/*part sorted: ended_at, id */;

-- name: recrawls_by_ended_at_down
/*part sorted: ended_at DESC, id DESC */;

-- name: recrawls_by_priority_up
/*part sorted: priority, id */;

-- name: recrawls_by_priority_down
/*part sorted: priority DESC, id DESC */;

-- name: recrawls_by_retries_up
/*part sorted: retries, id */;

-- name: recrawls_by_retries_down
/*part sorted: retries DESC, id DESC */;

-- name: few_recrawls
-- A filter with few recrawls is read first, and sorted then: no plan can walk through a whole order in search of them.
SELECT f.id FROM (SELECT /*part sorted_columns */ FROM recrawls c
                  WHERE (CAST(:rest AS TEXT) IS NULL OR c.rest = :rest) AND /*part fits */ LIMIT :most) AS f
ORDER BY CAST(:way AS BIGINT) * CASE CAST(:sort AS TEXT)
             WHEN 'created_at' THEN f.created_at WHEN 'updated_at' THEN f.updated_at WHEN 'due_at' THEN f.due_at
             WHEN 'ended_at' THEN f.ended_at WHEN 'priority' THEN f.priority WHEN 'retries' THEN f.retries ELSE f.id END,
         CAST(:way AS BIGINT) * f.id /*part page */;

-- name: count_recrawls_found
SELECT COUNT(*) AS total FROM (SELECT 1 AS one FROM recrawls c
                               WHERE (CAST(:rest AS TEXT) IS NULL OR c.rest = :rest) AND /*part fits */ LIMIT :most) AS found;
