-- Counters that are summed by day.

-- name: add_tallies
INSERT INTO tallies (name, count) SELECT r.name, r.count /*rows FROM r(name text, count bigint) */ WHERE TRUE
ON CONFLICT (name) DO UPDATE SET count = tallies.count + excluded.count;

-- name: put_tally
INSERT INTO tallies (name, count) VALUES (:name, :count) ON CONFLICT (name) DO UPDATE SET count = excluded.count;

-- name: tallies
SELECT name, count FROM tallies;
