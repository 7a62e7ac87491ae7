-- Figures for dashboards. Every count goes by an index and stops at a limit: a scrape never reads a whole table.

-- name: queue_figures
SELECT
    (SELECT COUNT(*) FROM (SELECT 1 FROM line WHERE owner IS NULL AND wake_at IS NOT NULL
        AND wake_at <= CAST(:now AS BIGINT) ORDER BY wake_at LIMIT :most) a) AS hosts_ready,
    (SELECT COUNT(*) FROM (SELECT 1 FROM line WHERE owner IS NULL AND wake_at IS NOT NULL
        AND wake_at <= CAST(:now AS BIGINT) - :late_ms ORDER BY wake_at LIMIT :most) b) AS hosts_late,
    (SELECT COUNT(*) FROM (SELECT 1 FROM line WHERE owner IS NULL AND wake_at IS NOT NULL
        AND wake_at > CAST(:now AS BIGINT) ORDER BY wake_at LIMIT :most) c) AS hosts_waiting,
    (SELECT COUNT(*) FROM (SELECT 1 FROM line WHERE owner IS NOT NULL
        AND wake_at >= CAST(:now AS BIGINT) ORDER BY wake_at LIMIT :most) d) AS hosts_held,
    (SELECT COUNT(*) FROM (SELECT 1 FROM offers WHERE executor = 'parse' AND due = 0
        ORDER BY priority, id LIMIT :most) e) AS parse_ready,
    (SELECT COUNT(*) FROM (SELECT 1 FROM offers WHERE executor = 'bot' AND due = 0
        ORDER BY priority, id LIMIT :most) f) AS bot_ready,
    (SELECT COUNT(*) FROM (SELECT 1 FROM unindexed WHERE item_id > 0 ORDER BY item_id LIMIT :most) g) AS unindexed,
    /*pg GREATEST */ /*lite MAX */ (0, CAST(:now AS BIGINT) - COALESCE((SELECT wake_at FROM line
        WHERE owner IS NULL AND wake_at >= 0 ORDER BY wake_at LIMIT 1), CAST(:now AS BIGINT))) AS oldest_ms;
