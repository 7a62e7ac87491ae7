-- Requests of runs, summed by their outcome.

-- name: count_requests
INSERT INTO requests (run_id, reason, status, error, count, bytes, ms, least_ms, most_ms, last_at, last_url)
SELECT r.run_id, r.reason, r.status, r.error, r.count, r.bytes, r.ms, r.least_ms, r.most_ms, r.last_at, r.last_url
/*rows FROM r(run_id bigint, reason text, status bigint, error text, count bigint, bytes bigint, ms bigint, least_ms bigint, most_ms bigint, last_at bigint, last_url text) */
WHERE TRUE
ON CONFLICT (run_id, reason, status, error) DO UPDATE SET
    count = requests.count + excluded.count, bytes = requests.bytes + excluded.bytes, ms = requests.ms + excluded.ms,
    least_ms = /*pg LEAST */ /*lite MIN */ (requests.least_ms, excluded.least_ms),
    most_ms = /*pg GREATEST */ /*lite MAX */ (requests.most_ms, excluded.most_ms),
    last_at = /*pg GREATEST */ /*lite MAX */ (requests.last_at, excluded.last_at),
    last_url = CASE WHEN excluded.last_at >= requests.last_at THEN excluded.last_url ELSE requests.last_url END;

-- name: request_sums
SELECT q.run_id, q.reason, q.status, CAST(SUM(q.count) AS BIGINT) AS count, CAST(SUM(q.bytes) AS BIGINT) AS bytes,
       CAST(SUM(q.ms) AS BIGINT) AS ms, MIN(q.least_ms) AS least_ms, MAX(q.most_ms) AS most_ms
FROM requests q /*rows , r(run_id bigint) */
WHERE q.run_id = r.run_id GROUP BY q.run_id, q.reason, q.status ORDER BY q.run_id, q.reason, q.status;

-- name: error_sums
SELECT q.run_id, q.error, q.count, q.last_url FROM requests q /*rows , r(run_id bigint) */
WHERE q.run_id = r.run_id AND q.error <> '' ORDER BY q.count DESC, q.last_at DESC, q.error;
