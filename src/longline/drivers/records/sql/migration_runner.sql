-- Applied migrations, and checks of the database.

-- name: applied_migrations
SELECT name FROM migrations ORDER BY name;

-- name: record_migrations
INSERT INTO migrations (name, applied_at) SELECT r.name, :now /*rows FROM r(name text) */;

-- name: lock_migrations only pg
SELECT pg_advisory_xact_lock(:lock);

-- name: ping
SELECT 1 AS answer;

-- name: has_migrations
/*pg SELECT to_regclass('migrations') IS NOT NULL AS there */
/*lite SELECT COUNT(*) > 0 AS there FROM sqlite_master WHERE name = 'migrations' */;

-- name: quick_check only lite
SELECT quick_check AS problem FROM pragma_quick_check(20);

-- name: integrity_check only lite
-- Compares indexes with their tables as well.
SELECT integrity_check AS problem FROM pragma_integrity_check(20);
