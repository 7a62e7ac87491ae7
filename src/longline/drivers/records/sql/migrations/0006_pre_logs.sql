-- Logs of runs, and events in an order that readers can follow.

CREATE TABLE logs (
    run_id       BIGINT PRIMARY KEY,
    last         BIGINT NOT NULL DEFAULT 0,
    dropped      BIGINT NOT NULL DEFAULT 0,
    sealed       BOOLEAN NOT NULL DEFAULT FALSE,
    key          TEXT,
    bytes        BIGINT NOT NULL DEFAULT 0,
    kept         BIGINT NOT NULL DEFAULT 0,
    archived_at  BIGINT,
    beat_at      BIGINT NOT NULL,
    told         BIGINT NOT NULL DEFAULT 0,
    emptied      BOOLEAN NOT NULL DEFAULT FALSE
) /*pg WITH (fillfactor = 50) */;
CREATE INDEX logs_open ON logs (run_id) WHERE NOT sealed;
CREATE INDEX logs_unkept ON logs (run_id) WHERE sealed AND kept < last;
CREATE INDEX logs_sealed ON logs (beat_at) WHERE sealed;
CREATE INDEX logs_full ON logs (beat_at) WHERE sealed AND NOT emptied;

CREATE TABLE entries (
    run_id   BIGINT NOT NULL,
    number   BIGINT NOT NULL,
    at       BIGINT NOT NULL,
    level    TEXT NOT NULL CHECK (level IN ('debug', 'info', 'warn', 'error')),
    topic    TEXT NOT NULL,
    message  TEXT NOT NULL,
    fields   TEXT,
    PRIMARY KEY (run_id, number)
) /*lite WITHOUT ROWID */;

CREATE INDEX runs_schedule ON runs (schedule_id, id);

ALTER TABLE events ADD COLUMN place BIGINT;
CREATE UNIQUE INDEX events_place ON events (place);
CREATE INDEX events_unplaced ON events (id) WHERE place IS NULL;

CREATE TABLE places (
    noun  TEXT PRIMARY KEY,
    last  BIGINT NOT NULL
) /*pg WITH (fillfactor = 10) */;
INSERT INTO places (noun, last) VALUES ('event', 0);

-- A run with its log, under the name by which logs are asked for: its schedule's id, or its own.
CREATE VIEW logged_runs AS
SELECT u.id AS run_id, u.uid, COALESCE(s.uid, u.uid) AS name, u.state, u.started_at, u.ended_at, u.completed, u.failed, u.open, u.error,
       (SELECT COUNT(*) FROM runs v WHERE v.id = u.id OR (v.schedule_id = u.schedule_id AND v.id < u.id)) AS number,
       l.sealed, l.key, l.bytes, l.kept, l.archived_at, l.last, l.dropped, l.beat_at, l.told
FROM runs u LEFT JOIN schedules s ON s.id = u.schedule_id LEFT JOIN logs l ON l.run_id = u.id;
