-- Items as runs bring them: new ones, changes with the former selves, and lists of the items of pages and runs.

-- part: with_page
-- The page that last had the item, as a task of the run that brings it now.
LEFT JOIN tasks x ON x.id = r.task_id LEFT JOIN tasks c ON c.id = i.task_id
LEFT JOIN tasks h ON h.scope = x.scope AND h.host_id = c.host_id AND h.key = c.key
LEFT JOIN pages p ON p.task_id = h.id
LEFT JOIN runs m ON m.id = i.run_id

-- name: put_items only lite
INSERT INTO items (source_id, lineage, key, name, named, hash, kind, run_id, task_id, url, title, body, fields, price, rating, availability, brand, category, columns, created_at, updated_at)
SELECT COALESCE(u.source_id, 0), CASE WHEN r.named AND u.source_id IS NULL THEN COALESCE(u.lineage, u.id) ELSE 0 END, r.key, r.name, r.named, r.hash, r.kind, r.run_id, r.task_id, r.url,
       r.title, r.body, r.fields, r.price, r.rating, r.availability, r.brand, r.category, r.columns, :now, :now
FROM runs u /*rows , r(hash text, kind text, run_id bigint, task_id bigint, url text, title text, body text, fields text, price float8, rating float8, availability text, brand text, category text, columns text, key bytea, name text, named boolean) */
WHERE u.id = r.run_id
ON CONFLICT DO NOTHING
RETURNING key, id, hash, version, task_id, NULL AS page_task_id, NULL AS listed, TRUE AS is_new, FALSE AS is_standing;

-- name: put_items only pg
WITH r AS MATERIALIZED (
    SELECT r.*, COALESCE(u.source_id, 0) AS source_id, u.standing,
           CASE WHEN r.named AND u.source_id IS NULL THEN COALESCE(u.lineage, u.id) ELSE 0 END AS lineage
    FROM runs u /*rows , r(hash text, kind text, run_id bigint, task_id bigint, url text, title text, body text, fields text, price float8, rating float8, availability text, brand text, category text, columns text, key bytea, name text, named boolean) */
    WHERE u.id = r.run_id
), known AS MATERIALIZED (
    SELECT i.key, i.id, i.hash, i.version, i.task_id, h.id AS page_task_id, p.items AS listed, FALSE AS is_new, COALESCE(r.standing AND NOT m.standing, FALSE) AS is_standing
    FROM r JOIN items i ON i.source_id = r.source_id AND i.lineage = r.lineage AND i.key = r.key
    /*part with_page */
), made AS (
    INSERT INTO items (source_id, lineage, key, name, named, hash, kind, run_id, task_id, url, title, body, fields, price, rating, availability, brand, category, columns, created_at, updated_at)
    SELECT r.source_id, r.lineage, r.key, r.name, r.named, r.hash, r.kind, r.run_id, r.task_id, r.url,
           r.title, r.body, r.fields, r.price, r.rating, r.availability, r.brand, r.category, r.columns, :now, :now
    FROM r WHERE NOT EXISTS (SELECT 1 FROM known k WHERE k.key = r.key) ORDER BY r.key
    ON CONFLICT DO NOTHING
    RETURNING key, id, hash, version, task_id, CAST(NULL AS BIGINT) AS page_task_id, CAST(NULL AS TEXT) AS listed, TRUE AS is_new, FALSE AS is_standing
)
SELECT * FROM known UNION ALL SELECT * FROM made;

-- name: known_items
SELECT i.key, i.id, i.hash, i.version, i.task_id, h.id AS page_task_id, p.items AS listed, FALSE AS is_new, COALESCE(u.standing AND NOT m.standing, FALSE) AS is_standing
/*all rows FROM r(key bytea, run_id bigint, task_id bigint, named boolean) */ JOIN runs u ON u.id = r.run_id
JOIN items i ON i.source_id = COALESCE(u.source_id, 0) AND i.key = r.key
    AND i.lineage = CASE WHEN r.named AND u.source_id IS NULL THEN COALESCE(u.lineage, u.id) ELSE 0 END
/*part with_page */;

-- name: lock_page_tasks only pg
-- The report of such a page waits until this one is done, or this one for it: only one of them is first with an item.
SELECT t.id FROM tasks t /*rows , r(id bigint) */ WHERE t.id = r.id ORDER BY t.id FOR NO KEY UPDATE OF t;

-- name: keep_versions
INSERT INTO item_versions (item_id, version, hash, run_id, task_id, updated_at, price, rating, availability, brand, category, columns, url, title, fields, body)
SELECT i.id, i.version, i.hash, i.run_id, i.task_id, i.updated_at, i.price, i.rating, i.availability, i.brand, i.category, i.columns, i.url, i.title, i.fields, i.body
FROM items i /*rows , r(id bigint, hash text) */ WHERE i.id = r.id AND i.hash <> r.hash /*pg ORDER BY i.id FOR NO KEY UPDATE OF i */;

-- name: change_items
UPDATE items SET version = items.versions + 1, versions = items.versions + 1, updated_at = :now,
    hash = r.hash, run_id = r.run_id, task_id = r.task_id, url = r.url, title = r.title, body = r.body, fields = r.fields,
    price = r.price, rating = r.rating, availability = r.availability, brand = r.brand, category = r.category, columns = r.columns
/*rows FROM r(id bigint, hash text, kind text, run_id bigint, task_id bigint, url text, title text, body text, fields text, price float8, rating float8, availability text, brand text, category text, columns text) */
WHERE items.id = r.id AND items.hash <> r.hash
RETURNING items.id, items.version;

-- name: carry_items
-- Another page has the item first in this run.
UPDATE items SET task_id = r.task_id /*rows FROM r(id bigint, task_id bigint, was bigint) */
WHERE items.id = r.id AND items.task_id = r.was
RETURNING items.id;

-- name: page_lists
-- Under a lock: another report may let such a page be the first with an item that its own page drops.
SELECT t.run_id, p.task_id, p.items FROM pages p JOIN tasks t ON t.id = p.task_id /*rows , r(task_id bigint) */
WHERE p.task_id = r.task_id AND p.items IS NOT NULL /*pg ORDER BY p.task_id FOR NO KEY UPDATE OF p */;

-- name: page_records
SELECT p.task_id, s.key AS segment, p.start FROM pages p JOIN segments s ON s.id = p.segment_id /*rows , r(task_id bigint) */
WHERE p.task_id = r.task_id;

-- name: pages_with_items
-- For each item: the page of the run with its newest version among those that do not list it first, and the page that it
-- leads to, which another run may have made the first. One look into the index for each, however many pages have it.
SELECT p.task_id, p.items FROM pages p
WHERE p.items IS NOT NULL AND p.task_id /*pg = ANY (ARRAY */ /*lite IN */ (
    SELECT (SELECT l.task_id FROM item_pages l WHERE l.run_id = :run_id AND l.item_id = r.id ORDER BY l.version DESC, l.task_id LIMIT 1)
    /*all rows FROM r(id bigint) */
    UNION
    SELECT t.id /*all rows FROM r(id bigint) */ JOIN items i ON i.id = r.id JOIN tasks t ON t.id = i.task_id
    WHERE t.run_id = :run_id
) /*pg ) */;

-- name: list_item_pages
INSERT INTO item_pages (task_id, item_id, run_id, version)
SELECT r.task_id, r.item_id, :run_id, r.version /*rows FROM r(task_id bigint, item_id bigint, version bigint) */
WHERE TRUE
ON CONFLICT DO NOTHING;

-- name: unlist_item_pages
DELETE FROM item_pages /*rows USING r(task_id bigint, item_id bigint) */
WHERE item_pages.task_id = r.task_id AND item_pages.item_id = r.item_id;

-- name: relist_items
UPDATE pages SET items = r.became /*rows FROM r(task_id bigint, was text, became text) */
WHERE pages.task_id = r.task_id AND pages.items = r.was
RETURNING pages.task_id;

-- name: lead_items
-- Another page has the item first in this run; an item of a crawl stays with its page if a page is fetched alone.
UPDATE items SET task_id = r.task_id /*rows FROM r(id bigint, task_id bigint) */
WHERE items.id = r.id
  AND NOT EXISTS (SELECT 1 FROM runs u JOIN runs m ON m.id = items.run_id WHERE u.id = :run_id AND u.standing AND NOT m.standing);

-- name: list_items
UPDATE pages SET items = r.items /*rows FROM r(task_id bigint, items text) */ WHERE pages.task_id = r.task_id;

-- name: place_items
INSERT INTO run_items (run_id, position, entries)
SELECT r.run_id, r.position, r.entries /*rows FROM r(run_id bigint, position bigint, entries text) */
WHERE TRUE;
