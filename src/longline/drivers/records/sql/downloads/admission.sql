-- Admission of downloads with their run.

-- name: add_downloads
INSERT INTO downloads (task_id, run_id, resource_id, given_url, bucket, key, headers, labels, type_hint, checksum, trace_id, pools, tags, attributes)
SELECT t.id, t.run_id, r.resource_id, r.given_url, r.bucket, r.key, r.headers, r.labels, r.type_hint, r.checksum, r.trace_id, r.pools, r.tags, r.attributes
FROM tasks t /*rows , r(scope bigint, host_id bigint, task_key bytea, resource_id text, given_url text, bucket text, key text, headers text, labels text, type_hint text, checksum text, trace_id text, pools text, tags text, attributes text) */
WHERE t.scope = r.scope AND t.host_id = r.host_id AND t.key = r.task_key
ON CONFLICT (task_id) DO NOTHING;

-- name: known_downloads
SELECT d.resource_id FROM downloads d /*rows , r(run_id bigint, resource_id text) */
WHERE d.run_id = r.run_id AND d.resource_id = r.resource_id;
