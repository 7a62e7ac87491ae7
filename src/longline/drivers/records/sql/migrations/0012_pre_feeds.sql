-- Feeds: where those of sources are, and how polling them goes.

-- The feed of a source. Without a URL it is still searched for; run_id is the poll or search that is under way, and
-- due_at when the next one may begin. A feed that failed too often rests until then.
CREATE TABLE feeds (
    source_id        BIGINT PRIMARY KEY REFERENCES sources (id) ON DELETE CASCADE,
    url              TEXT,
    active           BOOLEAN NOT NULL DEFAULT TRUE,
    every_ms         BIGINT NOT NULL DEFAULT 900000 CHECK (every_ms > 0),
    stage            TEXT,
    run_id           BIGINT,
    due_at           BIGINT NOT NULL DEFAULT 0,
    next_poll_at     BIGINT,
    polled_at        BIGINT,
    etag             TEXT,
    last_modified    TEXT,
    entries          BIGINT NOT NULL DEFAULT 0,
    errors           BIGINT NOT NULL DEFAULT 0,
    error            TEXT,
    error_type       TEXT,
    disabled_at      BIGINT,
    disabled_reason  TEXT,
    CHECK ((run_id IS NULL) = (stage IS NULL)),
    CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL))
) /*pg WITH (fillfactor = 70) */;
CREATE INDEX feeds_due ON feeds (due_at) WHERE run_id IS NULL;
CREATE INDEX feeds_asked ON feeds (run_id) WHERE run_id IS NOT NULL;
