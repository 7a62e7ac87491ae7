-- How often bots come is counted in the records, so that a limit holds over any number of servers.

ALTER TABLE bots ADD COLUMN spare BIGINT;
ALTER TABLE bots ADD COLUMN spare_at BIGINT NOT NULL DEFAULT 0;
