-- Series that runs of catalogues find.

-- name: known_targets
-- Those of runs of another kind too: such items are no more than items.
SELECT u.id AS run_id, r.external_id AS external_id
FROM runs u /*rows , r(run_id bigint, external_id text) */
WHERE u.id = r.run_id AND (u.kind <> 'series' OR u.source_id IS NULL
   OR EXISTS (SELECT 1 FROM targets t WHERE t.source_id = u.source_id AND t.external_id = r.external_id));

-- name: add_found_series
INSERT INTO series (id, title, slug, cover_url, status, facts, created_at, updated_at)
SELECT r.id, r.title, r.slug, r.cover, 'ongoing', r.facts, :now, :now
/*rows FROM r(id text, title text, slug text, cover text, facts text) */
WHERE TRUE
ON CONFLICT DO NOTHING;

-- name: add_found_targets
INSERT INTO targets (series_id, source_id, external_id, url, active, tried_at, created_at, updated_at)
SELECT r.series_id, u.source_id, r.external_id, r.url, TRUE, :now, :now, :now
FROM runs u /*rows , r(series_id text, run_id bigint, external_id text, url text) */
WHERE u.id = r.run_id
ON CONFLICT (source_id, external_id) DO NOTHING;

-- name: drop_series_without_target
-- Another report has found the same series at the same time.
DELETE FROM series /*rows USING r(id text) */
WHERE series.id = r.id AND NOT EXISTS (SELECT 1 FROM targets t WHERE t.series_id = series.id);

-- name: series_runs_among
SELECT u.id FROM runs u /*rows , r(id bigint) */ WHERE u.id = r.id AND u.kind = 'series';
