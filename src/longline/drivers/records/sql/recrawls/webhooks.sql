-- Webhooks of recrawls: an outbox, and the log of all tries.

-- part: first_item only pg
(SELECT ABS(CAST(CAST(p.items AS JSONB) -> 0 ->> 0 AS BIGINT)) FROM pages p WHERE p.task_id = w.task_id)

-- part: first_item only lite
(SELECT ABS(json_extract(p.items, '$[0][0]')) FROM pages p WHERE p.task_id = w.task_id)

-- name: take_webhooks
UPDATE webhooks SET due = CAST(:now AS BIGINT) + :lease_ms, token = token + 1
WHERE id /*pg = ANY (ARRAY */ /*lite IN */ (
    SELECT id FROM webhooks WHERE state = 'waiting' AND due <= :now
    ORDER BY due, id LIMIT :limit /*pg FOR UPDATE SKIP LOCKED */
) /*pg ) */
RETURNING id;

-- name: webhooks_by_id
SELECT w.*, /*part first_item */ AS item_id FROM webhooks w /*rows , r(id bigint) */ WHERE w.id = r.id;

-- name: settle_webhook
UPDATE webhooks SET state = :state, tries = :tries, due = CAST(:now AS BIGINT) + :retry_ms, updated_at = :now
WHERE id = :id AND token = :token AND state = 'waiting'
RETURNING id;

-- name: add_webhook_try
INSERT INTO webhook_tries (webhook_id, number, at, ms, status, error)
VALUES (:webhook_id, :number, :now, :ms, CAST(:status AS BIGINT), CAST(:error AS TEXT));

-- name: find_webhooks
SELECT w.*, /*part first_item */ AS item_id FROM webhooks w
WHERE (CAST(:task_id AS BIGINT) IS NULL OR w.task_id = :task_id) AND (CAST(:state AS TEXT) IS NULL OR w.state = :state)
ORDER BY w.id DESC LIMIT :limit OFFSET :offset;

-- name: count_webhooks
SELECT COUNT(*) AS count FROM webhooks w
WHERE (CAST(:task_id AS BIGINT) IS NULL OR w.task_id = :task_id) AND (CAST(:state AS TEXT) IS NULL OR w.state = :state);

-- name: tries_of_webhooks
SELECT t.webhook_id, t.number, t.at, t.ms, t.status, t.error FROM webhook_tries t /*rows , r(id bigint) */ WHERE t.webhook_id = r.id;

-- name: old_webhooks
SELECT id FROM webhooks WHERE state <> 'waiting' AND updated_at < CAST(:now AS BIGINT) - :age_ms ORDER BY id LIMIT :limit /*pg FOR UPDATE SKIP LOCKED */;

-- name: delete_webhook_tries
DELETE FROM webhook_tries /*rows USING r(id bigint) */ WHERE webhook_tries.webhook_id = r.id;

-- name: delete_webhooks
DELETE FROM webhooks /*rows USING r(id bigint) */ WHERE webhooks.id = r.id;
