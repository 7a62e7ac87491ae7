-- A source says of its feed where it is, whether it is wanted, how often, and whether it rests; its row among the feeds
-- keeps no more than how polling goes, and is there from the source's first day.
ALTER TABLE sources ADD COLUMN feed_wanted BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE sources ADD COLUMN feed_every_ms BIGINT NOT NULL DEFAULT 900000 CHECK (feed_every_ms > 0);

UPDATE sources SET feed_wanted = f.active, feed_every_ms = f.every_ms, feed_url = COALESCE(f.url, sources.feed_url),
    feed_disabled_at = f.disabled_at, feed_disable_reason = f.disabled_reason
FROM feeds f WHERE f.source_id = sources.id;

ALTER TABLE feeds RENAME TO feeds_before;
DROP INDEX feeds_due;
DROP INDEX feeds_asked;
/*pg ALTER TABLE feeds_before DROP CONSTRAINT feeds_pkey; */
CREATE TABLE feeds (
    source_id      BIGINT PRIMARY KEY REFERENCES sources (id) ON DELETE CASCADE,
    stage          TEXT,
    run_id         BIGINT,
    due_at         BIGINT NOT NULL DEFAULT 0,
    next_poll_at   BIGINT,
    polled_at      BIGINT,
    etag           TEXT,
    last_modified  TEXT,
    entries        BIGINT NOT NULL DEFAULT 0,
    errors         BIGINT NOT NULL DEFAULT 0,
    error          TEXT,
    error_type     TEXT,
    CHECK ((run_id IS NULL) = (stage IS NULL))
) /*pg WITH (fillfactor = 70) */;
CREATE INDEX feeds_due ON feeds (due_at) WHERE run_id IS NULL;
CREATE INDEX feeds_asked ON feeds (run_id) WHERE run_id IS NOT NULL;
INSERT INTO feeds SELECT source_id, stage, run_id, due_at, next_poll_at, polled_at, etag, last_modified, entries, errors,
    error, error_type FROM feeds_before;
INSERT INTO feeds (source_id) SELECT id FROM sources WHERE TRUE ON CONFLICT (source_id) DO NOTHING;
DROP TABLE feeds_before;

CREATE VIEW feeds_now AS
SELECT f.source_id, s.feed_url AS url, s.feed_wanted AS active, s.feed_every_ms AS every_ms, f.stage, f.run_id, f.due_at,
       f.next_poll_at, f.polled_at, f.etag, f.last_modified, f.entries, f.errors, f.error, f.error_type,
       s.feed_disabled_at AS disabled_at, s.feed_disable_reason AS disabled_reason, s.enabled
FROM feeds f JOIN sources s ON s.id = f.source_id;

-- When the sitemaps of a source are read. While run_id is set that is under way, at `level` indexes from the first.
CREATE TABLE sitemaps (
    source_id  BIGINT PRIMARY KEY REFERENCES sources (id) ON DELETE CASCADE,
    level      BIGINT NOT NULL DEFAULT 0,
    run_id     BIGINT,
    due_at     BIGINT NOT NULL DEFAULT 0
) /*pg WITH (fillfactor = 70) */;
CREATE INDEX sitemaps_due ON sitemaps (due_at) WHERE run_id IS NULL;
CREATE INDEX sitemaps_asked ON sitemaps (run_id) WHERE run_id IS NOT NULL;
INSERT INTO sitemaps (source_id) SELECT id FROM sources;
