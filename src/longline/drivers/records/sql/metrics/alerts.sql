-- Alerts about proxies of sources, catalogues and the platform, and the facts that raise them.

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

-- name: sources_disabled_by_failures
-- The reason is that of disable_failing_source.
SELECT id AS source_id, name, failures, COALESCE(disabled_at, updated_at) AS since FROM sources
WHERE NOT enabled AND disable_reason = 'failures in a row' ORDER BY name, id LIMIT :limit;

-- name: stuck_runs
SELECT u.source_id, s.name, u.uid AS run_uid, u.started_at FROM runs u JOIN sources s ON s.id = u.source_id
WHERE u.kind = 'series' AND u.state IN ('queued', 'running') AND u.state = 'running' AND u.deleted_at IS NULL AND u.started_at <= :started_before
ORDER BY u.started_at, u.id LIMIT :limit;

-- name: raised_alerts
SELECT * FROM alerts WHERE state = 'raised' ORDER BY since, id;

-- name: cleared_alerts
SELECT * FROM alerts WHERE state = 'cleared' AND (cleared_at, id) < (:at, :id) ORDER BY cleared_at DESC, id DESC LIMIT :limit;

-- name: lock_alerts
SELECT 1 /*pg FROM turns WHERE id = 1 FOR UPDATE */;

-- name: raise_alerts
INSERT INTO alerts (scope, kind, subject, state, text, source_id, proxy_id, run_id, since, seen_at)
SELECT CAST(:scope AS TEXT), r.kind, r.subject, 'raised', r.text, r.source_id, r.proxy_id, r.run_id, CAST(:now AS BIGINT), CAST(:now AS BIGINT)
/*rows FROM r(kind text, subject text, text text, source_id bigint, proxy_id bigint, run_id bigint) */ WHERE TRUE;

-- name: keep_alerts
UPDATE alerts SET text = r.text, seen_at = :now /*rows FROM r(kind text, subject text, text text) */
WHERE alerts.scope = :scope AND alerts.kind = r.kind AND alerts.subject = r.subject AND alerts.state = 'raised';

-- name: clear_alerts
UPDATE alerts SET state = 'cleared', cleared_at = :now /*rows FROM r(id bigint) */ WHERE alerts.id = r.id;

-- name: forget_alerts
DELETE FROM alerts WHERE state = 'cleared' AND cleared_at < :before;

-- name: stalled_runs
-- Runs under way with open tasks of which none has moved for a while; a standing run never ends.
SELECT u.id, COALESCE(s.name, u.seed) AS title, u.source_id, c.open, COALESCE(e.at, u.started_at) AS moved_at
FROM runs u JOIN run_counts c ON c.run_id = u.id LEFT JOIN sources s ON s.id = u.source_id
LEFT JOIN events e ON e.id = (SELECT MAX(n.id) FROM events n WHERE n.noun = 'run' AND n.subject = u.id)
WHERE u.state IN ('queued', 'running') AND u.state = 'running' AND NOT u.standing AND u.deleted_at IS NULL AND c.open > 0
  AND u.started_at < :before AND COALESCE(e.at, u.started_at) < :before
ORDER BY u.id LIMIT :limit;
