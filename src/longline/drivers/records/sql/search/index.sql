-- The full-text index inside the database: queries and maintenance.

-- part: of_run only pg
SELECT CAST(e.entry ->> 0 AS BIGINT)
FROM run_items l CROSS JOIN LATERAL jsonb_array_elements(CAST(l.entries AS JSONB)) AS e (entry) WHERE l.run_id = :run_id

-- part: of_run only lite
SELECT json_extract(e.value, '$[0]') FROM run_items l JOIN json_each(l.entries) e WHERE l.run_id = :run_id

-- part: chosen
(CAST(:kind AS TEXT) IS NULL OR i.kind = :kind)
    AND (CAST(:source_id AS BIGINT) IS NULL OR i.source_id = :source_id)
    AND (CAST(:run_id AS BIGINT) IS NULL OR i.id IN (/*part of_run */))
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

-- part: has_text
/*pg texts.words @@ CAST(:text AS tsquery) */ /*lite texts MATCH :text */

-- part: is_chosen
(CAST(:every AS BOOLEAN) OR EXISTS (
        SELECT 1 FROM items i WHERE i.id = /*pg texts.item_id */ /*lite texts.rowid */ AND /*part chosen */
    ))

-- part: with_items
texts JOIN items i ON i.id = /*pg texts.item_id */ /*lite texts.rowid */

-- part: ranked only lite
SELECT id, score, (SELECT COUNT(*) FROM found) AS total FROM found ORDER BY score DESC, id DESC LIMIT :limit OFFSET :offset

-- part: ranked only pg
-- BM25 as SQLite counts it. PostgreSQL does not tell how often a text has a word, but its rank of a single word is
-- 6/pi² (1 + 1/4 + … + 1/n²), from which n can be told.
SELECT f.id, SUM(a.rarity * t.times * 2.2 / (t.times + 1.2 * (0.25 + 0.75 * f.length / CAST(:mean AS DOUBLE PRECISION)))) AS score,
       (SELECT COUNT(*) FROM found) AS total
FROM found f CROSS JOIN unnest(CAST(CAST(:queries AS TEXT[]) AS tsquery[]), CAST(:rarities AS DOUBLE PRECISION[])) AS a (query, rarity)
CROSS JOIN LATERAL (
    SELECT round(1 / (1.6449340668 - 1.64493406685 * ts_rank('{1,1,1,1}', f.words, a.query)) - 0.5)
           + (CAST(:title_weight AS DOUBLE PRECISION) - 1)
           * round(1 / (1.6449340668 - 1.64493406685 * ts_rank('{1,1,1,1}', f.title_words, a.query)) - 0.5) AS times
) t
GROUP BY f.id ORDER BY score DESC, f.id DESC LIMIT :limit OFFSET :offset

-- name: browse
SELECT i.id, 0.0 AS score, COUNT(*) OVER () AS total FROM items i
WHERE /*part chosen */
ORDER BY /*part ordered */ LIMIT :limit OFFSET :offset;

-- name: search_sorted
SELECT i.id, 0.0 AS score, COUNT(*) OVER () AS total FROM /*part with_items */
WHERE /*part has_text */ AND /*part chosen */
ORDER BY /*part ordered */ LIMIT :limit OFFSET :offset;

-- name: search_ranked
WITH found AS MATERIALIZED (
    SELECT /*pg texts.item_id AS id, texts.length, texts.title_words, texts.words */
           /*lite texts.rowid AS id, -bm25(texts, :title_weight, 1.0) AS score */
    FROM texts WHERE /*part has_text */ AND /*part is_chosen */ /*pg LIMIT :most */
)
/*part ranked */;

-- name: search_newest only pg
-- Very many texts fit: those in some slices of the index, in which it goes from one that fits straight to the next.
WITH found AS MATERIALIZED (
    SELECT texts.item_id AS id, texts.length, texts.title_words, texts.words
    FROM texts WHERE /*part has_text */ AND ARRAY[texts.item_id >> 12] && CAST(:slices AS BIGINT[])
    AND /*part is_chosen */ LIMIT :most
)
/*part ranked */;

-- name: count_browsed
SELECT COUNT(*) AS count FROM items i WHERE /*part chosen */;

-- name: count_found
SELECT COUNT(*) AS count FROM texts WHERE /*part has_text */ AND /*part is_chosen */;

-- name: weigh_words only pg
-- Of words that begin so, the most frequent ones stand for all of them where many fit.
SELECT s.*, a.place, CAST(COALESCE(SUM(v.doc), 0) AS BIGINT) AS docs,
       TRIM_ARRAY(ARRAY_AGG(v.term ORDER BY v.doc DESC, v.term) FILTER (WHERE v.term IS NOT NULL),
                  GREATEST(CAST(COUNT(v.term) AS INTEGER) - 20, 0)) AS terms
FROM unnest(CAST(:lows AS TEXT[]), CAST(:highs AS TEXT[])) WITH ORDINALITY AS a (low, high, place)
CROSS JOIN (
    SELECT COALESCE(MAX(texts), 0) AS texts, COALESCE(MAX(words), 0) AS words,
           (SELECT COALESCE(MIN(item_id), 0) FROM texts) AS oldest, (SELECT COALESCE(MAX(item_id), 0) FROM texts) AS newest
    FROM vocabulary_of
) s
LEFT JOIN vocabulary v ON v.term BETWEEN a.low AND a.high
GROUP BY s.texts, s.words, s.oldest, s.newest, a.place ORDER BY a.place;

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
