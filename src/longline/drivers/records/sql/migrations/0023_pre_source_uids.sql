-- Sources are called by a UUID outside, as everything else that is made one by one; those that were made before keep
-- the number by which they are known.
ALTER TABLE sources ADD COLUMN uid TEXT;
UPDATE sources SET uid = CAST(id AS TEXT);
CREATE UNIQUE INDEX sources_uid ON sources (uid);
