-- Tasks that are leased one by one, without their host.

-- name: take_offers
UPDATE offers SET owner = :owner, token = :token, attempt = attempt + 1, due = CAST(:now AS BIGINT) + :ttl
WHERE id /*pg = ANY (ARRAY */ /*lite IN */ (
    SELECT id FROM offers WHERE executor = :executor AND due = 0
    ORDER BY priority, id LIMIT :limit /*pg FOR UPDATE SKIP LOCKED */
) /*pg ) */
RETURNING id, token, attempt, due;

-- name: taken_tasks
SELECT t.id, t.url, t.run_id, t.scope, t.depth, t.priority, t.due, t.attempt, t.max_attempts FROM tasks t /*rows , r(id bigint) */
WHERE t.id = r.id;

-- name: lock_offers
SELECT o.id FROM offers o /*rows , r(id bigint) */ WHERE o.id = r.id /*pg ORDER BY o.id FOR NO KEY UPDATE OF o */;

-- name: renew_offers
UPDATE offers SET due = CAST(:now AS BIGINT) + :ttl /*rows FROM r(id bigint, token bigint) */
WHERE offers.id = r.id AND offers.token = r.token AND offers.owner = :owner AND offers.due >= :now
RETURNING offers.id;

-- name: offer_tasks
INSERT INTO offers (id, executor, host_id, due, priority, attempt)
SELECT r.id, r.executor, r.host_id, r.due, r.priority, r.attempt
/*rows FROM r(id bigint, executor text, host_id bigint, due bigint, priority bigint, attempt bigint) */
WHERE TRUE;

-- name: close_offers
DELETE FROM offers /*rows USING r(id bigint, token bigint) */
WHERE offers.id = r.id AND offers.token = r.token AND offers.owner IS NOT NULL
RETURNING offers.id;

-- name: task_places
SELECT t.id, t.host_id, t.home_id, t.executor, t.state FROM tasks t /*rows , r(id bigint) */ WHERE t.id = r.id;

-- name: describe_pages
UPDATE pages SET title = r.title, items = r.items /*rows FROM r(task_id bigint, title text, items text) */ WHERE pages.task_id = r.task_id;
