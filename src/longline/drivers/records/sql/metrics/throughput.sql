-- Throughput by minute and hour.

-- name: add_throughput
INSERT INTO throughput (at, worker, measure, reason, count)
SELECT CAST(:at AS BIGINT), :worker, r.measure, r.reason, r.count /*rows FROM r(measure text, reason text, count bigint) */ WHERE TRUE
ON CONFLICT (at, worker, measure, reason) DO UPDATE SET count = throughput.count + excluded.count;

-- name: throughput_minutes
SELECT at - at % :step AS at, measure, reason, CAST(SUM(count) AS BIGINT) AS count FROM throughput
WHERE at >= :since GROUP BY 1, measure, reason ORDER BY 1;

-- name: throughput_hours
SELECT at - at % :step AS at, measure, reason, CAST(SUM(count) AS BIGINT) AS count FROM throughput_hours
WHERE at >= :since GROUP BY 1, measure, reason ORDER BY 1;

-- name: sum_throughput_hours
-- Computed anew for the hours whose minutes may have changed: repeated, it changes nothing.
INSERT INTO throughput_hours (at, measure, reason, count)
SELECT at - at % 3600000, measure, reason, CAST(SUM(count) AS BIGINT) FROM throughput
WHERE at >= :since GROUP BY 1, measure, reason
ON CONFLICT (at, measure, reason) DO UPDATE SET count = excluded.count;

-- name: forget_throughput_minutes
DELETE FROM throughput WHERE at < :before;

-- name: forget_throughput_hours
DELETE FROM throughput_hours WHERE at < :before;
