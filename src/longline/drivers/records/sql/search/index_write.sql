-- The full-text index inside the database: documents that are written.

-- name: index_texts only pg
-- What stands between title and body is no word; no phrase can begin in one and end in the other.
INSERT INTO texts (item_id, length, title_words, words)
SELECT r.id, r.length, to_tsvector('simple', r.title),
       to_tsvector('simple', r.title) || CAST(CAST(:between AS TEXT) AS tsvector) || to_tsvector('simple', r.body)
/*rows FROM r(id bigint, title text, body text, length bigint) */
ON CONFLICT (item_id) DO UPDATE SET length = excluded.length, title_words = excluded.title_words, words = excluded.words;

-- name: index_texts only lite
-- All at once: at the end of a statement for several rows, FTS5 writes down what it has gathered. It counts words itself.
INSERT OR REPLACE INTO texts (rowid, title, body)
SELECT r.id, r.title, CASE WHEN r.length IS NULL THEN r.body END
/*all rows FROM r(id bigint, title text, body text, length bigint) */;
