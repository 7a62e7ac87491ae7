-- The full-text index inside the database: documents that are written.

-- name: index_texts only pg
INSERT INTO texts (item_id, length, title_words, words)
SELECT r.id, r.length, r.title_words, r.words /*rows FROM r(id bigint, title_words tsvector, words tsvector, length bigint) */
WHERE TRUE
ON CONFLICT (item_id) DO UPDATE SET length = excluded.length, title_words = excluded.title_words, words = excluded.words;

-- name: index_texts only lite
-- All at once: at the end of a statement for several rows, FTS5 writes down what it has gathered. It counts words itself.
-- An item that changed after its text was read waits for the index again; a text that the index has is the present one.
INSERT INTO texts (rowid, title, body)
SELECT i.id, r.title, r.body FROM items i /*all rows , r(id bigint, version bigint, title text, body text) */
WHERE i.id = r.id AND i.version = r.version AND NOT EXISTS (SELECT 1 FROM texts_docsize d WHERE d.id = i.id);

-- name: indexed_selves only lite
-- Items whose texts the index has.
SELECT i.* FROM items i /*all rows , r(id bigint) */ WHERE i.id = r.id AND EXISTS (SELECT 1 FROM texts_docsize d WHERE d.id = i.id);

-- name: forget_texts only lite
INSERT INTO texts (texts, rowid, title, body)
SELECT 'delete', r.id, r.title, r.body /*all rows FROM r(id bigint, title text, body text) */;

-- name: tokenizer_of_texts only lite
SELECT tokenizer FROM texts_of;

-- name: say_tokenizer only lite
INSERT INTO texts_of (id, tokenizer) VALUES (1, :tokenizer) ON CONFLICT (id) DO UPDATE SET tokenizer = excluded.tokenizer;

-- name: forget_all_texts only lite
INSERT INTO texts (texts) VALUES ('delete-all');

-- name: want_whole_index only lite
INSERT INTO unindexed (item_id, hash) SELECT d.id, i.hash FROM texts_docsize d JOIN items i ON i.id = d.id WHERE TRUE
ON CONFLICT (item_id) DO NOTHING;
