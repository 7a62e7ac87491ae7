-- The most URLs that all runs of a source together may admit.

ALTER TABLE sources ADD COLUMN budget BIGINT CHECK (budget > 0);
ALTER TABLE sources ADD COLUMN admitted BIGINT NOT NULL DEFAULT 0;
