-- The index of texts knows the slice of ids that each is in, so that the newest can be looked at without the rest.
/*pg DROP INDEX texts_words;
CREATE INDEX texts_words ON texts USING gin (words, (ARRAY[item_id >> 12]));
*/
