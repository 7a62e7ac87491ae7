-- Alerts about proxies of sources, and the sums that raise them.

-- name: source_pools
-- The sources that have recrawls, also those without proxies.
SELECT s.id AS source_id, s.name, s.enabled, COUNT(m.id) AS proxies,
    CAST(COALESCE(SUM(CASE WHEN m.active THEN 1 ELSE 0 END), 0) AS BIGINT) AS active,
    CAST(COALESCE(SUM(CASE WHEN m.active AND p.active AND m.failure_count < :failing THEN 1 ELSE 0 END), 0) AS BIGINT) AS usable,
    CAST(COALESCE(SUM(CASE WHEN m.failure_count >= :failing THEN 1 ELSE 0 END), 0) AS BIGINT) AS failing,
    CAST(COALESCE(SUM(m.success_count), 0) AS BIGINT) AS successes,
    CAST(COALESCE(SUM(m.total_failures), 0) AS BIGINT) AS failures, CAST(AVG(m.avg_ms) AS BIGINT) AS avg_ms
FROM sources s LEFT JOIN source_proxies m ON m.source_id = s.id LEFT JOIN proxies p ON p.id = m.proxy_id
WHERE s.uses LIKE '%"products"%' GROUP BY s.id, s.name, s.enabled ORDER BY s.name;

-- name: slow_proxies
SELECT m.source_id, s.name, m.proxy_id, m.avg_ms FROM source_proxies m JOIN sources s ON s.id = m.source_id
WHERE m.active AND m.avg_ms > :above_ms AND s.uses LIKE '%"products"%'
ORDER BY s.name, m.proxy_id LIMIT :limit;

-- name: raised_alerts
SELECT kind, subject, since FROM alerts ORDER BY kind, subject;

-- name: lock_alerts
SELECT 1 /*pg FROM turns WHERE id = 1 FOR UPDATE */;

-- name: raise_alerts
INSERT INTO alerts (kind, subject, since)
SELECT r.kind, r.subject, CAST(:now AS BIGINT) /*rows FROM r(kind text, subject text) */ WHERE TRUE
ON CONFLICT (kind, subject) DO NOTHING;

-- name: clear_alerts
DELETE FROM alerts /*rows USING r(kind text, subject text) */ WHERE alerts.kind = r.kind AND alerts.subject = r.subject;
