-- URLs that pages of recrawls brought, until a loop has taken them.

-- name: find_recrawl_finds
SELECT f.id, f.task_id, f.kind, f.url, c.source_id FROM recrawl_finds f JOIN recrawls c ON c.id = f.task_id
ORDER BY f.id LIMIT :limit;

-- name: delete_recrawl_finds
DELETE FROM recrawl_finds /*rows USING r(id bigint) */ WHERE recrawl_finds.id = r.id;
