-- What runs asked for, request by request, summed by how that went; a status of 0 means that nothing came.
CREATE TABLE requests (
    run_id    BIGINT NOT NULL REFERENCES runs (id),
    reason    TEXT NOT NULL,
    status    BIGINT NOT NULL,
    error     TEXT NOT NULL,
    count     BIGINT NOT NULL,
    bytes     BIGINT NOT NULL,
    ms        BIGINT NOT NULL,
    least_ms  BIGINT NOT NULL,
    most_ms   BIGINT NOT NULL,
    last_at   BIGINT NOT NULL,
    last_url  TEXT NOT NULL,
    PRIMARY KEY (run_id, reason, status, error)
) /*pg WITH (fillfactor = 50) */ /*lite WITHOUT ROWID */;
