-- Downloads in the queue: marks of their hosts, the orders of claimed tasks, and the results that a report brings.

-- name: mark_downloads
-- The lines are locked: a release looks for downloads under the same lock.
UPDATE line SET downloads = TRUE /*rows FROM r(host_id bigint) */ WHERE line.host_id = r.host_id AND NOT line.downloads;

-- name: mark_downloads_of_tasks
UPDATE line SET downloads = TRUE /*rows FROM r(task_id bigint, host_id bigint) */
WHERE line.host_id = r.host_id AND NOT line.downloads AND EXISTS (SELECT 1 FROM downloads d WHERE d.task_id = r.task_id);

-- name: download_orders
SELECT d.task_id, d.resource_id, d.key, d.bucket, d.headers, d.labels, d.type_hint AS content_type, d.checksum, d.trace_id, d.pools
FROM downloads d /*all rows , r(task_id bigint) */ WHERE d.task_id = r.task_id;

-- name: finish_downloads
UPDATE downloads SET stored_at = r.stored_at, bytes = r.bytes, sha256 = r.sha256, content_type = r.content_type,
    proxy = r.proxy, ms = r.ms, width = r.width, height = r.height
/*rows FROM r(task_id bigint, stored_at bigint, bytes bigint, sha256 text, content_type text, proxy text, ms bigint, width bigint, height bigint) */
WHERE downloads.task_id = r.task_id;

-- name: add_dead_letters
INSERT INTO dead_letters (run_id, run_uid, task_id, resource_id, url, kind, tenant, reason, error, status, attempts, host, proxy, failed_at)
SELECT d.run_id, u.uid, d.task_id, d.resource_id, d.given_url, r.kind, r.tenant, r.reason, r.error, r.status, r.attempts, r.host, r.proxy, r.failed_at
FROM downloads d JOIN runs u ON u.id = d.run_id
/*rows , r(task_id bigint, kind text, tenant text, reason text, error text, status bigint, attempts bigint, host text, proxy text, failed_at bigint) */
WHERE d.task_id = r.task_id;
