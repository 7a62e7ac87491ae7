-- Items of two runs side by side, and the evidence that an item is gone.

-- part: entries only pg
SELECT l.run_id, CAST(e.entry ->> 0 AS BIGINT) AS item_id, CAST(e.entry ->> 1 AS BIGINT) AS version, CAST(e.entry ->> 2 AS BIGINT) AS task_id
FROM run_items l CROSS JOIN LATERAL jsonb_array_elements(CAST(l.entries AS JSONB)) AS e (entry)
LEFT JOIN pages p ON p.task_id = CAST(e.entry ->> 2 AS BIGINT)
WHERE l.run_id IN (:before, :after)
  AND (p.task_id IS NULL OR strpos(p.items, '[' || (e.entry ->> 0) || ',' || (e.entry ->> 1) || COALESCE(',' || (e.entry ->> 3), '') || ']') > 0)

-- part: entries only lite
SELECT l.run_id, json_extract(e.value, '$[0]') AS item_id, json_extract(e.value, '$[1]') AS version, json_extract(e.value, '$[2]') AS task_id
FROM run_items l JOIN json_each(l.entries) e LEFT JOIN pages p ON p.task_id = json_extract(e.value, '$[2]')
WHERE l.run_id IN (:before, :after)
  AND (p.task_id IS NULL OR instr(p.items, '[' || json_extract(e.value, '$[0]') || ',' || json_extract(e.value, '$[1]')
                                           || COALESCE(',' || json_extract(e.value, '$[3]'), '') || ']') > 0)

-- part: listed only pg
LEFT JOIN LATERAL jsonb_array_elements(CAST(p.items AS JSONB)) AS e (entry) ON TRUE
LEFT JOIN items i ON i.id = ABS(CAST(e.entry ->> 0 AS BIGINT))

-- part: listed only lite
LEFT JOIN json_each(p.items) e LEFT JOIN items i ON i.id = ABS(json_extract(e.value, '$[0]'))

-- name: item_changes
WITH entries AS MATERIALIZED (/*part entries */)
SELECT a.item_id, a.version AS before_version, a.task_id AS before_task_id, b.version AS after_version, b.task_id AS after_task_id
FROM entries a LEFT JOIN entries b ON b.run_id = :after AND b.item_id = a.item_id
WHERE a.run_id = :before AND (b.item_id IS NULL OR b.version <> a.version)
UNION ALL
SELECT b.item_id, NULL, NULL, b.version, b.task_id
FROM entries b LEFT JOIN entries a ON a.run_id = :before AND a.item_id = b.item_id
WHERE b.run_id = :after AND a.item_id IS NULL;

-- name: missing_items
-- The pages that had the items which the later run did not find, each with the task of the page in the later run.
WITH entries AS MATERIALIZED (/*part entries */), redirected AS MATERIALIZED (
    SELECT DISTINCT d.url FROM tasks m JOIN redirects d ON d.task_id = m.id WHERE m.run_id = :after
)
SELECT i.id AS item_id, i.kind, NOT i.named AND i.url = p.url AS is_of_page, n.state, n.reason, n.status,
       n.id IS NULL AND EXISTS (SELECT 1 FROM redirected d WHERE d.url = t.url) AS is_moved
FROM tasks t JOIN pages p ON p.task_id = t.id /*part listed */
LEFT JOIN tasks n ON n.scope = :after AND n.host_id = t.host_id AND n.key = t.key
WHERE t.run_id = :before AND i.id IN (SELECT a.item_id FROM entries a WHERE a.run_id = :before)
  AND NOT EXISTS (SELECT 1 FROM entries b WHERE b.run_id = :after AND b.item_id = i.id)
ORDER BY i.id, t.id;

-- name: unread_pages
-- Pages of the later run that were not read, by the kind of the items that they had in the earlier run, if it had them.
SELECT DISTINCT i.kind, n.state = 'skipped' AND n.reason = 'robots' AS is_forbidden
FROM tasks n LEFT JOIN tasks t ON t.scope = :before AND t.host_id = n.host_id AND t.key = n.key
LEFT JOIN pages p ON p.task_id = t.id /*part listed */
WHERE n.run_id = :after AND (
    n.state NOT IN ('completed', 'skipped', 'failed')
    OR (n.state = 'failed' AND COALESCE(n.status, 0) NOT IN (404, 410))
    OR (n.state = 'skipped' AND n.reason IN ('challenge', 'robots')));

-- name: sum_items
-- Items of a run by what the run made of them: an item is new if the run made its first version.
WITH entries AS MATERIALIZED (/*part entries */)
SELECT COUNT(*) AS found, COUNT(CASE WHEN COALESCE(f.run_id, i.run_id) = :after THEN 1 END) AS added,
       COUNT(CASE WHEN COALESCE(f.run_id, i.run_id) <> :after AND COALESCE(v.run_id, i.run_id) = :after THEN 1 END) AS changed
FROM entries e JOIN items i ON i.id = e.item_id
LEFT JOIN item_versions v ON v.item_id = e.item_id AND v.version = e.version AND i.version <> e.version
LEFT JOIN item_versions f ON f.item_id = e.item_id AND f.version = 1 AND i.version <> 1
WHERE e.run_id = :after;

-- name: item_history
SELECT version, updated_at, price, availability, fields FROM items WHERE id = :item_id
UNION ALL
SELECT v.version, v.updated_at, v.price, v.availability, v.fields FROM item_versions v
WHERE v.item_id = :item_id AND v.version <> (SELECT i.version FROM items i WHERE i.id = :item_id)
ORDER BY updated_at DESC, version DESC LIMIT :limit;
