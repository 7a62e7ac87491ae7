-- Items, and the items that wait for the index.

-- name: put_items
INSERT INTO items (source_id, key, hash, kind, run_id, task_id, url, title, body, fields, price, rating, availability, brand, category, columns, created_at, updated_at)
SELECT COALESCE((SELECT source_id FROM runs WHERE id = r.run_id), 0), r.key, r.hash, r.kind, r.run_id, r.task_id, r.url,
       r.title, r.body, r.fields, r.price, r.rating, r.availability, r.brand, r.category, r.columns, :now, :now
/*rows FROM r(hash text, kind text, run_id bigint, task_id bigint, url text, title text, body text, fields text, price float8, rating float8, availability text, brand text, category text, columns text, key bytea) */
WHERE TRUE
ON CONFLICT (source_id, key) DO UPDATE SET
    run_id = excluded.run_id, task_id = excluded.task_id,
    seen_again = items.run_id = excluded.run_id OR COALESCE(items.previous_run_id = excluded.run_id, FALSE),
    previous_run_id = CASE WHEN items.run_id = excluded.run_id THEN items.previous_run_id ELSE items.run_id END,
    updated_at = CASE WHEN items.hash = excluded.hash THEN items.updated_at ELSE excluded.updated_at END,
    hash = excluded.hash, title = excluded.title, body = excluded.body, fields = excluded.fields,
    price = excluded.price, rating = excluded.rating, availability = excluded.availability,
    brand = excluded.brand, category = excluded.category, columns = excluded.columns
-- What a crawl made of a page is not replaced by what is made of it when it is fetched alone.
WHERE NOT EXISTS (SELECT 1 FROM runs u WHERE u.id = excluded.run_id AND u.kind LIKE 'frontier.%')
RETURNING id, key, updated_at, seen_again;

-- name: want_index
INSERT INTO unindexed (item_id, hash) SELECT r.id, r.hash /*rows FROM r(id bigint, hash text) */ WHERE TRUE
ON CONFLICT (item_id) DO UPDATE SET hash = excluded.hash;

-- name: unindexed_items
SELECT i.id, i.hash, i.kind, i.source_id, i.run_id, i.task_id, i.url, i.title, i.body, i.fields, i.price, i.rating,
       i.availability, i.brand, i.category, i.columns, i.created_at, i.updated_at, COALESCE(s.name, '') AS source_name
FROM unindexed u JOIN items i ON i.id = u.item_id LEFT JOIN sources s ON s.id = i.source_id
ORDER BY u.item_id LIMIT :limit;

-- name: indexed_items
-- What changed since it was read carries another hash, and stays.
DELETE FROM unindexed /*rows USING r(id bigint, hash text) */ WHERE unindexed.item_id = r.id AND unindexed.hash = r.hash;

-- name: count_unindexed
SELECT COUNT(*) AS count FROM unindexed;

-- name: items
SELECT i.* FROM items i /*rows , r(id bigint) */ WHERE i.id = r.id;

-- name: items_of_run
SELECT i.*, r.position FROM run_items r JOIN items i ON i.id = r.item_id
WHERE r.run_id = :run_id AND r.position > :after AND r.position <= :until ORDER BY r.position LIMIT :limit;

-- name: last_item
SELECT last_item FROM runs WHERE id = :run_id;

-- name: wordiness
-- Numbers alone count: a parser of somebody's own may say anything.
SELECT COALESCE(s.ref, s.uid) AS source_ref, s.name, s.base_url, COUNT(*) AS documents,
       CAST(AVG(w.words) AS DOUBLE PRECISION) AS average, COUNT(CASE WHEN w.words >= :least THEN 1 END) AS enough
FROM (
    SELECT source_id, CAST(
        /*pg SUBSTRING(fields FROM '"word_count".([0-9]{1,9})[,}]') */
        /*lite CASE WHEN json_type(fields, '$.word_count') = 'integer' THEN json_extract(fields, '$.word_count') END */
    AS BIGINT) AS words
    FROM items WHERE kind = 'article'
) w JOIN sources s ON s.id = w.source_id
WHERE w.words IS NOT NULL GROUP BY s.id, s.ref, s.uid, s.name, s.base_url ORDER BY average, s.id;
