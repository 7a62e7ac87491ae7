-- Names of sources by their public ids: the id at the source manager goes before our own.

-- name: names_of_sources
SELECT s.uid AS called, s.name FROM sources s /*rows , r(called text) */ WHERE s.uid = r.called;

-- name: names_of_remote_sources
SELECT s.ref AS called, s.name FROM sources s /*rows , r(called text) */ WHERE s.ref = r.called;
