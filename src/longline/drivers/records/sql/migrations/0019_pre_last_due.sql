-- A slot is as loaded as schedules have their times in it, those that came due in it already among them.

CREATE INDEX schedules_last_due ON schedules (last_due) WHERE interval_ms IS NOT NULL;
