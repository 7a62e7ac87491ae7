-- Series: the entries of a catalogue.

-- name: add_series
INSERT INTO series (id, title, slug, cover_url, status, facts, created_at, updated_at)
VALUES (:id, :title, :slug, CAST(:cover_url AS TEXT), :status, :facts, :now, :now)
ON CONFLICT (slug) DO NOTHING
RETURNING *;

-- name: series_by_ids
SELECT s.* FROM series s /*rows , r(id text) */ WHERE s.id = r.id;

-- name: series_slugs_like
SELECT slug FROM series WHERE slug = :slug OR slug LIKE :pattern ESCAPE '\';

-- part: chosen_series
(CAST(:title AS TEXT) IS NULL OR LOWER(title) LIKE LOWER(:title) ESCAPE '\')

-- name: find_series
SELECT * FROM series WHERE /*part chosen_series */ ORDER BY title, id LIMIT :limit OFFSET :offset;

-- name: series_after
SELECT * FROM series WHERE (title, id) > (:after_title, :after_id) AND /*part chosen_series */ ORDER BY title, id LIMIT :limit;

-- name: count_series
SELECT COUNT(*) AS count FROM series WHERE /*part chosen_series */;
