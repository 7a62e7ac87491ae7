-- How polite one was to a host is kept up for a while, and then follows what is asked for.

ALTER TABLE hosts ADD COLUMN pace_until BIGINT NOT NULL DEFAULT 0;
