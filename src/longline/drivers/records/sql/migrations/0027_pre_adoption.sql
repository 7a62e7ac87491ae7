-- A run that outlives its process is adopted. `adoptions` counts the adoptions after a kill since a URL of the run last
-- ended, `adopted_ended` is the number of URLs that had ended at the last of them, and `unheld_ms` is the time in which no
-- process held the run.
ALTER TABLE runs ADD COLUMN adoptions BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN adopted_ended BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN unheld_ms BIGINT NOT NULL DEFAULT 0;

-- Documents are counted with the run that brings them, in the transaction that writes them: `indexed` in all, `untitled`
-- without a title, `bodiless` without a text.
ALTER TABLE runs ADD COLUMN untitled BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN bodiless BIGINT NOT NULL DEFAULT 0;
UPDATE runs SET
    indexed = (SELECT COUNT(*) FROM items i WHERE i.run_id = runs.id AND i.kind <> 'extraction'),
    untitled = (SELECT COUNT(*) FROM items i WHERE i.run_id = runs.id AND i.kind <> 'extraction' AND i.title = ''),
    bodiless = (SELECT COUNT(*) FROM items i WHERE i.run_id = runs.id AND i.kind <> 'extraction' AND i.body = '')
WHERE state = 'running';

-- Two runs that overlap bring the same documents: an item knows the last two runs that brought it, and `seen_again` says
-- whether the last one had brought it before.
ALTER TABLE items ADD COLUMN previous_run_id BIGINT;
ALTER TABLE items ADD COLUMN seen_again BOOLEAN NOT NULL DEFAULT FALSE;
