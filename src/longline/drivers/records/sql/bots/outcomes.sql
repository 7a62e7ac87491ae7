-- Outcomes of tasks of bots, with the figures that follow from them.
-- Locks on several rows go from offers to schedules to bots to runs, and in the order of ids.

-- name: reckon_bot_schedules
UPDATE bot_schedules SET failures = r.failures, next_due = r.next_due,
    last_success_at = COALESCE(r.last_success_at, bot_schedules.last_success_at),
    last_failed_at = COALESCE(r.last_failed_at, bot_schedules.last_failed_at)
/*rows FROM r(id bigint, failures bigint, next_due bigint, last_success_at bigint, last_failed_at bigint) */
WHERE bot_schedules.schedule_id = r.id;

-- name: bot_standings
SELECT t.id, t.url, t.created_at, t.state, t.reason, t.run_id, t.host_id, t.priority, t.attempt AS rested_attempt,
       o.owner, o.token, o.due, o.attempt, h.name AS holder, b.schedule_id, b.max_retries, b.retries, b.lapses,
       b.held_ms, p.page_key
FROM tasks t
JOIN bot_tasks b ON b.task_id = t.id
LEFT JOIN bot_results p ON p.task_id = t.id
LEFT JOIN offers o ON o.id = t.id
LEFT JOIN bots h ON h.id = -o.owner /*rows , r(id bigint) */
WHERE t.id = r.id;

-- name: free_offers
UPDATE offers SET owner = NULL, token = 0, due = 0 /*rows FROM r(id bigint) */ WHERE offers.id = r.id;

-- name: rest_bot_tasks
UPDATE bot_tasks SET retries = r.retries, answered_at = COALESCE(r.answered_at, bot_tasks.answered_at), held_at = NULL,
    open_key = CASE WHEN r.ended THEN NULL ELSE bot_tasks.open_key END, updated_at = :now
/*rows FROM r(id bigint, retries bigint, answered_at bigint, ended boolean) */ WHERE bot_tasks.task_id = r.id;

-- name: count_answers
UPDATE bots SET completed = bots.completed + r.completed, failed = bots.failed + r.failed, last_submit_at = :now
/*rows FROM r(id bigint, completed bigint, failed bigint) */ WHERE bots.id = r.id;

-- name: count_bot_hours
INSERT INTO bot_hours (bot_id, hour, pulls, pulled, completed, retried, failed)
SELECT r.bot_id, CAST(:hour AS BIGINT), r.pulls, r.pulled, r.completed, r.retried, r.failed
/*rows FROM r(bot_id bigint, pulls bigint, pulled bigint, completed bigint, retried bigint, failed bigint) */ WHERE TRUE
ON CONFLICT (bot_id, hour) DO UPDATE SET pulls = bot_hours.pulls + excluded.pulls,
    pulled = bot_hours.pulled + excluded.pulled, completed = bot_hours.completed + excluded.completed,
    retried = bot_hours.retried + excluded.retried, failed = bot_hours.failed + excluded.failed;
