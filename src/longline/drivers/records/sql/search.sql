-- The index inside the database.

-- name: index_texts only pg
-- What stands between title and body is no word; no phrase can begin in one and end in the other.
INSERT INTO texts (item_id, length, title_words, words)
SELECT r.id, r.length, to_tsvector('simple', r.title),
       to_tsvector('simple', r.title) || CAST(CAST(:between AS TEXT) AS tsvector) || to_tsvector('simple', r.body)
/*rows FROM r(id bigint, title text, body text, length bigint) */
ON CONFLICT (item_id) DO UPDATE SET length = excluded.length, title_words = excluded.title_words, words = excluded.words;

-- name: index_texts only lite
INSERT OR REPLACE INTO texts (rowid, title, body) SELECT r.id, r.title, r.body
/*rows FROM r(id bigint, title text, body text, length bigint) */
WHERE r.length >= 0;

-- name: forget_texts
DELETE FROM texts /*rows USING r(id bigint) */ WHERE /*pg texts.item_id */ /*lite texts.rowid */ = r.id;

-- part: chosen
(CAST(:kind AS TEXT) IS NULL OR i.kind = :kind)
    AND (CAST(:source_id AS BIGINT) IS NULL OR i.source_id = :source_id)
    AND (CAST(:run_id AS BIGINT) IS NULL OR i.run_id = :run_id)
    AND (CAST(:availability AS TEXT) IS NULL OR i.availability = :availability)
    AND (CAST(:brand AS TEXT) IS NULL OR i.brand = :brand)
    AND (CAST(:category AS TEXT) IS NULL OR i.category = :category)
    AND (CAST(:price_min AS DOUBLE PRECISION) IS NULL OR i.price >= :price_min)
    AND (CAST(:price_max AS DOUBLE PRECISION) IS NULL OR i.price <= :price_max)
    AND (CAST(:rating_min AS DOUBLE PRECISION) IS NULL OR i.rating >= :rating_min)

-- part: ordered
CASE CAST(:sort AS TEXT) WHEN 'price' THEN i.price WHEN 'rating' THEN i.rating
        WHEN 'created' THEN i.created_at * 1.0 WHEN 'updated' THEN i.updated_at * 1.0 END
        * CAST(:direction AS DOUBLE PRECISION) NULLS LAST, i.id * CAST(:direction AS DOUBLE PRECISION)

-- part: said
texts JOIN items i ON i.id = /*pg texts.item_id WHERE texts.words @@ CAST(:text AS tsquery) */ /*lite texts.rowid WHERE texts MATCH :text */

-- name: browse
SELECT i.id, 0.0 AS score, COUNT(*) OVER () AS total FROM items i
WHERE /*part chosen */
ORDER BY /*part ordered */ LIMIT :limit OFFSET :offset;

-- name: search_sorted
SELECT i.id, 0.0 AS score, COUNT(*) OVER () AS total FROM /*part said */
    AND /*part chosen */
ORDER BY /*part ordered */ LIMIT :limit OFFSET :offset;

-- name: search_ranked only lite
WITH found AS MATERIALIZED (
    SELECT i.id, -bm25(texts, :title_weight, 1.0) AS score FROM /*part said */
    AND /*part chosen */
)
SELECT id, score, (SELECT COUNT(*) FROM found) AS total FROM found ORDER BY score DESC, id DESC LIMIT :limit OFFSET :offset;

-- name: search_ranked only pg
-- BM25 as SQLite counts it. PostgreSQL does not tell how often a text has a word, but its rank of a single word is
-- 6/pi² (1 + 1/4 + … + 1/n²), from which n can be told.
WITH asked AS MATERIALIZED (
    SELECT CAST(a.query AS tsquery) AS query, COALESCE(1.0 * s.words / NULLIF(s.texts, 0), 1) AS mean,
           GREATEST(1e-6, ln((GREATEST(s.texts - d.texts, 0) + 0.5) / (d.texts + 0.5))) AS rarity
    FROM unnest(CAST(:queries AS TEXT[]), CAST(:lows AS TEXT[]), CAST(:highs AS TEXT[])) AS a (query, low, high)
    CROSS JOIN (SELECT COALESCE(MAX(texts), 0) AS texts, COALESCE(MAX(words), 0) AS words FROM vocabulary_of) s
    CROSS JOIN LATERAL (SELECT COALESCE(SUM(v.doc), 0) AS texts FROM vocabulary v WHERE v.term BETWEEN a.low AND a.high) d
), found AS MATERIALIZED (
    SELECT i.id, texts.length, texts.title_words, texts.words FROM /*part said */
    AND /*part chosen */
    LIMIT :most
)
SELECT f.id, SUM(a.rarity * t.times * 2.2 / (t.times + 1.2 * (0.25 + 0.75 * f.length / a.mean))) AS score,
       (SELECT COUNT(*) FROM found) AS total
FROM found f CROSS JOIN asked a
CROSS JOIN LATERAL (
    SELECT round(1 / (1.6449340668 - 1.64493406685 * ts_rank('{1,1,1,1}', f.words, a.query)) - 0.5)
           + (CAST(:title_weight AS DOUBLE PRECISION) - 1)
           * round(1 / (1.6449340668 - 1.64493406685 * ts_rank('{1,1,1,1}', f.title_words, a.query)) - 0.5) AS times
) t
GROUP BY f.id ORDER BY score DESC, f.id DESC LIMIT :limit OFFSET :offset;

-- name: count_browsed
SELECT COUNT(*) AS count FROM items i WHERE /*part chosen */;

-- name: count_found
SELECT COUNT(*) AS count FROM /*part said */ AND /*part chosen */;

-- name: terms_between
SELECT term, doc FROM vocabulary WHERE term BETWEEN CAST(:low AS TEXT) AND CAST(:high AS TEXT) ORDER BY doc DESC, term LIMIT :limit;

-- name: has_trigrams only pg
SELECT COUNT(*) AS count FROM pg_extension WHERE extname = 'pg_trgm';

-- name: terms_alike only pg
SELECT term, doc FROM vocabulary WHERE term % CAST(:word AS TEXT) ORDER BY similarity(term, :word) DESC, doc DESC LIMIT :limit;

-- name: merge_texts only lite
INSERT INTO texts (texts, rank) VALUES ('merge', 200);

-- name: clean_texts only pg
SELECT gin_clean_pending_list('texts_words');

-- name: size_of_texts only pg
SELECT COUNT(*) AS texts FROM texts;

-- name: mean_text only pg
SELECT COALESCE(AVG(length), 0)::float8 AS mean FROM texts TABLESAMPLE SYSTEM (:percent);

-- name: counted_texts only pg
SELECT texts FROM vocabulary_of;

-- name: forget_vocabulary only pg
DELETE FROM vocabulary;

-- name: count_vocabulary only pg
INSERT INTO vocabulary (term, doc)
SELECT word, ceil(ndoc * CAST(:factor AS DOUBLE PRECISION)) FROM ts_stat(CAST(:sample AS TEXT)) WHERE word <> '.';

-- name: say_vocabulary only pg
INSERT INTO vocabulary_of (id, texts, words) VALUES (1, :texts, :words)
ON CONFLICT (id) DO UPDATE SET texts = excluded.texts, words = excluded.words;
