-- Messages of others that were heeded, so that a repeat changes nothing.
CREATE TABLE heard (
    id  TEXT PRIMARY KEY,
    at  BIGINT NOT NULL
) /*lite WITHOUT ROWID */;
CREATE INDEX heard_at ON heard (at);
