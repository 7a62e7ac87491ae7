-- What a schedule says besides its interval, the history of its runs, and what is known of a source.
ALTER TABLE sources ADD COLUMN crawl TEXT NOT NULL DEFAULT '{}';
ALTER TABLE sources ADD COLUMN disabled_at BIGINT;
ALTER TABLE sources ADD COLUMN disable_reason TEXT;
ALTER TABLE sources ADD COLUMN feed_url TEXT;
ALTER TABLE sources ADD COLUMN feed_disabled_at BIGINT;
ALTER TABLE sources ADD COLUMN feed_disable_reason TEXT;
ALTER TABLE sources ADD COLUMN identity_key TEXT;

ALTER TABLE schedules ADD COLUMN kind TEXT NOT NULL DEFAULT 'crawl';
ALTER TABLE schedules ADD COLUMN source_ref TEXT NOT NULL DEFAULT '';
ALTER TABLE schedules ADD COLUMN source_name TEXT;
ALTER TABLE schedules ADD COLUMN every BIGINT CHECK (every > 0);
ALTER TABLE schedules ADD COLUMN unit TEXT NOT NULL DEFAULT 'minutes' CHECK (unit IN ('minutes', 'hours', 'days'));
ALTER TABLE schedules ADD COLUMN enabled BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE schedules ADD COLUMN adaptive BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE schedules ADD COLUMN max_retries BIGINT NOT NULL DEFAULT 3 CHECK (max_retries >= 0);
ALTER TABLE schedules ADD COLUMN backoff_seconds BIGINT NOT NULL DEFAULT 60 CHECK (backoff_seconds > 0);
ALTER TABLE schedules ADD COLUMN written_time TEXT;
ALTER TABLE schedules ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}';
ALTER TABLE schedules ADD COLUMN priority BIGINT NOT NULL DEFAULT 50;
ALTER TABLE schedules ADD COLUMN automatic BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE schedules ADD COLUMN anchor BIGINT;
ALTER TABLE schedules ADD COLUMN placed_at BIGINT;
ALTER TABLE schedules ADD COLUMN retries BIGINT NOT NULL DEFAULT 0;
ALTER TABLE schedules ADD COLUMN failures BIGINT NOT NULL DEFAULT 0;
ALTER TABLE schedules ADD COLUMN failed_at BIGINT;
ALTER TABLE schedules ADD COLUMN started_at BIGINT;
ALTER TABLE schedules ADD COLUMN completed_at BIGINT;
ALTER TABLE schedules ADD COLUMN cancelled_at BIGINT;
ALTER TABLE schedules ADD COLUMN paused_at BIGINT;
ALTER TABLE schedules ADD COLUMN paused_by TEXT;
ALTER TABLE schedules ADD COLUMN error TEXT;
ALTER TABLE schedules ADD COLUMN last_due BIGINT;
ALTER TABLE schedules ADD COLUMN run_id BIGINT;
ALTER TABLE schedules ADD COLUMN runs_made BIGINT NOT NULL DEFAULT 0;
DROP INDEX schedules_due;
CREATE INDEX schedules_due_once ON schedules (next_due) WHERE state IN ('pending', 'scheduled') AND interval_ms IS NULL;
CREATE INDEX schedules_due_again ON schedules (next_due) WHERE state IN ('pending', 'scheduled') AND interval_ms IS NOT NULL;
CREATE INDEX schedules_source ON schedules (source_ref);
-- A source has one recurring schedule at most; what runs once is not counted.
CREATE UNIQUE INDEX schedules_recurring ON schedules (source_ref) WHERE interval_ms IS NOT NULL AND source_ref <> '' AND state <> 'cancelled';

ALTER TABLE runs ADD COLUMN number BIGINT;
ALTER TABLE runs ADD COLUMN due BIGINT;
ALTER TABLE runs ADD COLUMN attempt BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN indexed BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN stack TEXT;
ALTER TABLE runs ADD COLUMN cpu_ms BIGINT;
ALTER TABLE runs ADD COLUMN memory_mb BIGINT;
ALTER TABLE runs ADD COLUMN figures TEXT;
-- Each tick fires once, whoever fires it.
CREATE UNIQUE INDEX runs_tick ON runs (schedule_id, due) WHERE schedule_id IS NOT NULL AND due IS NOT NULL;
CREATE UNIQUE INDEX runs_number ON runs (schedule_id, number) WHERE schedule_id IS NOT NULL AND number IS NOT NULL;

-- Numbers of runs are kept, so that they stay what they are when older runs are forgotten.
DROP VIEW logged_runs;
CREATE VIEW logged_runs AS
SELECT u.id AS run_id, u.uid, COALESCE(s.uid, u.uid) AS name, u.state, u.started_at, u.ended_at, u.completed, u.failed, u.open, u.error,
       COALESCE(u.number, (SELECT COUNT(*) FROM runs v WHERE v.id = u.id OR (v.schedule_id = u.schedule_id AND v.id < u.id))) AS number,
       l.sealed, l.key, l.bytes, l.kept, l.archived_at, l.last, l.dropped, l.beat_at, l.told
FROM runs u LEFT JOIN schedules s ON s.id = u.schedule_id LEFT JOIN logs l ON l.run_id = u.id;

-- How a source's start page changed from run to run, for intervals that follow it.
CREATE TABLE rhythms (
    source_ref  TEXT PRIMARY KEY,
    digest      TEXT NOT NULL,
    changed_at  BIGINT NOT NULL,
    unchanged   BIGINT NOT NULL,
    interval_ms BIGINT NOT NULL
) /*lite WITHOUT ROWID */;

-- What the planners of all processes did, added up.
CREATE TABLE tallies (
    name   TEXT PRIMARY KEY,
    count  BIGINT NOT NULL
) /*lite WITHOUT ROWID */;
