-- Pages of recrawls by age. Recrawls are walked through by their ids: most have no page any more.

-- name: pages_of_recrawls
SELECT c.id, p.fetched_at IS NOT NULL AND p.fetched_at < :before
             AND c.rest IN ('completed', 'failed', 'paused', 'cancelled') AS is_old
FROM recrawls c LEFT JOIN pages p ON p.task_id = c.id WHERE c.id > :after ORDER BY c.id LIMIT :limit;
