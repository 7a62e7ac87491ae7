-- Leases and pauses are kept by a time that does not jump with a wall clock.

-- The engine's time: a reference clock (the machine's monotonic clock for SQLite, the server's clock for PostgreSQL) plus
-- `offset_ms`, to which `slew_ms` are added slowly after the reference time `slew_from_ms`. `basis` names the reference
-- clock; without one the engine's time was never set. One row.
CREATE TABLE engine_clock (
    id            BIGINT PRIMARY KEY CHECK (id = 1),
    version       BIGINT NOT NULL DEFAULT 0,
    basis         TEXT NOT NULL DEFAULT '',
    offset_ms     BIGINT NOT NULL DEFAULT 0,
    slew_from_ms  BIGINT NOT NULL DEFAULT 0,
    slew_ms       BIGINT NOT NULL DEFAULT 0
) /*lite WITHOUT ROWID */;
INSERT INTO engine_clock (id) VALUES (1);
