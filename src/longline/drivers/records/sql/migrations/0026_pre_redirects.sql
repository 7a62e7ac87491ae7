-- Redirects are archived, and the pages of a segment can be found.
CREATE INDEX pages_segment ON pages (segment_id);
CREATE TABLE redirects (
    task_id     BIGINT NOT NULL REFERENCES tasks (id),
    number      BIGINT NOT NULL,
    segment_id  BIGINT NOT NULL REFERENCES segments (id),
    start       BIGINT NOT NULL,
    length      BIGINT NOT NULL,
    digest      TEXT NOT NULL,
    status      BIGINT NOT NULL,
    fetched_at  BIGINT NOT NULL,
    url         TEXT NOT NULL,
    PRIMARY KEY (task_id, number)
);
CREATE INDEX redirects_segment ON redirects (segment_id);
