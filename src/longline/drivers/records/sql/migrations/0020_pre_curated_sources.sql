-- Sources that another service keeps: `ref` is their id there, `feed_listed` whether it has their feeds polled, and
-- `told_…` how it knows a feed to be. What differs from that is still to be told; whoever tells it holds it until
-- `tell_at`.
ALTER TABLE sources ADD COLUMN ref TEXT;
ALTER TABLE sources ADD COLUMN feed_listed BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE sources ADD COLUMN told_feed_url TEXT;
ALTER TABLE sources ADD COLUMN told_feed_disabled_at BIGINT;
ALTER TABLE sources ADD COLUMN tell_at BIGINT NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX sources_ref ON sources (ref) WHERE ref IS NOT NULL;
CREATE INDEX sources_untold ON sources (id) WHERE ref IS NOT NULL
    AND (COALESCE(feed_url, '') <> COALESCE(told_feed_url, '')
         OR COALESCE(feed_disabled_at, 0) <> COALESCE(told_feed_disabled_at, 0));
