-- Downloads as lists show them.

-- part: shown_download
SELECT d.task_id, d.run_id, d.resource_id, d.given_url, d.key, d.bucket, d.tags, d.labels, d.checksum, d.trace_id, d.pools, d.attributes,
       n.state, t.reason, t.error, t.status, t.attempt AS attempts, t.finished_at AS ended_at,
       d.stored_at, d.bytes, d.sha256, d.content_type, d.proxy, d.ms, d.width, d.height
FROM downloads d JOIN tasks t ON t.id = d.task_id JOIN tasks_now n ON n.id = d.task_id

-- name: download
/*part shown_download */
WHERE d.task_id = :task_id;

-- name: downloads_of_run
/*part shown_download */
WHERE d.run_id = :run_id AND d.task_id > :after AND t.run_id = :run_id AND t.id > :after ORDER BY t.id LIMIT :limit;

-- name: downloads_of_resources
/*part shown_download */
/*rows , r(run_id bigint, resource_id text) */
WHERE d.run_id = r.run_id AND d.resource_id = r.resource_id;
