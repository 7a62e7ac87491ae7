-- What a URL gave the last time, where redirects led, and claims counted apart from attempts.

ALTER TABLE tasks ADD COLUMN hops BIGINT NOT NULL DEFAULT 0;
ALTER TABLE queue ADD COLUMN claims BIGINT NOT NULL DEFAULT 0;
ALTER TABLE pages ADD COLUMN body_of BIGINT;

-- What was last seen at a URL, by whichever run: what makes the next request conditional. `task_id` is the task whose
-- record holds the body.
CREATE TABLE visits (
    host_id        BIGINT NOT NULL,
    key            /*pg BYTEA */ /*lite BLOB */ NOT NULL,
    task_id        BIGINT NOT NULL,
    digest         TEXT NOT NULL,
    fetched_at     BIGINT NOT NULL,
    etag           TEXT,
    last_modified  TEXT,
    PRIMARY KEY (host_id, key)
) /*pg WITH (fillfactor = 80) */ /*lite WITHOUT ROWID */;
