-- Items, and the items that wait for the index.

-- name: want_index
INSERT INTO unindexed (item_id, hash) SELECT r.id, r.hash /*rows FROM r(id bigint, hash text) */ WHERE TRUE
ON CONFLICT (item_id) DO UPDATE SET hash = excluded.hash;

-- name: unindexed_items
-- With the hash of the mark: an item that was indexed with a later report has another one.
SELECT i.id, i.version, u.hash, i.kind, i.source_id, i.run_id, i.task_id, i.url, i.title, i.body, i.fields, i.price, i.rating,
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

-- name: newest_items
SELECT * FROM items WHERE id < :before ORDER BY id DESC LIMIT :limit;

-- name: newest_items_of_kind
SELECT * FROM items WHERE kind = :kind AND id < :before ORDER BY id DESC LIMIT :limit;

-- part: self
i.id, i.source_id, i.kind, i.name, i.created_at, r.run_id, r.task_id, r.version,
       CASE WHEN v.version IS NULL THEN i.hash ELSE v.hash END AS hash,
       CASE WHEN v.version IS NULL THEN i.url ELSE v.url END AS url,
       CASE WHEN v.version IS NULL THEN i.title ELSE v.title END AS title,
       CASE WHEN v.version IS NULL THEN i.body ELSE v.body END AS body,
       CASE WHEN v.version IS NULL THEN i.fields ELSE v.fields END AS fields,
       CASE WHEN v.version IS NULL THEN i.price ELSE v.price END AS price,
       CASE WHEN v.version IS NULL THEN i.rating ELSE v.rating END AS rating,
       CASE WHEN v.version IS NULL THEN i.availability ELSE v.availability END AS availability,
       CASE WHEN v.version IS NULL THEN i.brand ELSE v.brand END AS brand,
       CASE WHEN v.version IS NULL THEN i.category ELSE v.category END AS category,
       CASE WHEN v.version IS NULL THEN i.columns ELSE v.columns END AS columns,
       CASE WHEN v.version IS NULL THEN i.updated_at ELSE v.updated_at END AS updated_at

-- part: with_version
JOIN items i ON i.id = r.id LEFT JOIN item_versions v ON v.item_id = r.id AND v.version = r.version AND i.version <> r.version

-- name: items_of_run
SELECT position, entries FROM run_items WHERE run_id = :run_id AND position > :after ORDER BY position LIMIT :limit;

-- name: listed_items
-- A page without a list is one that was deleted, or that is not parsed any more.
SELECT /*part self */, r.position
/*all rows FROM r(id bigint, version bigint, task_id bigint, position bigint, entry text, run_id bigint) */
/*part with_version */
LEFT JOIN pages p ON p.task_id = r.task_id
WHERE p.task_id IS NULL OR /*pg strpos */ /*lite instr */ (p.items, r.entry) > 0;

-- name: item_selves
SELECT /*part self */ /*all rows FROM r(id bigint, version bigint, task_id bigint, run_id bigint) */
/*part with_version */;

-- name: last_item
SELECT last_item FROM run_counts WHERE run_id = :run_id;

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
