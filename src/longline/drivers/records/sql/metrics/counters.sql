-- Counters that are summed by day.

-- name: add_tallies
INSERT INTO counters (name, count) SELECT r.name, r.count /*rows FROM r(name text, count bigint) */ WHERE TRUE
ON CONFLICT (name) DO UPDATE SET count = counters.count + excluded.count;

-- name: put_tally
INSERT INTO counters (name, count) VALUES (:name, :count) ON CONFLICT (name) DO UPDATE SET count = excluded.count;

-- name: counters
SELECT name, count FROM counters;
