-- Moves and priorities of many tasks at once, each judged by itself, and the tasks that this takes from workers.

-- name: tasks_standing
-- `attempt` counts the attempts of the present executor that were reported; `mark` is the token in the queue.
SELECT t.id, t.host_id, t.home_id, t.due, t.priority, t.next_priority, t.executor, t.run_id, t.scope, t.state AS rest, t.reason,
       n.state, n.token, COALESCE(q.attempt, t.attempt) AS attempt, q.token AS mark,
       EXISTS (SELECT 1 FROM pages p WHERE p.task_id = t.id) AS paged
FROM tasks t
JOIN tasks_now n ON n.id = t.id
LEFT JOIN queue q ON q.host_id = t.host_id AND q.due = t.due AND q.priority = t.priority AND q.run_id = t.run_id AND q.id = t.id
/*rows , r(id bigint) */
WHERE t.id = r.id;

-- name: move_tasks
UPDATE tasks SET state = :became, reason = :reason,
    error = CASE WHEN :anew = 1 THEN CAST(:error AS TEXT) ELSE COALESCE(CAST(:error AS TEXT), tasks.error) END,
    due = r.due, priority = r.priority, next_priority = NULL, executor = r.executor, attempt = r.attempt,
    finished_at = CAST(:finished_at AS BIGINT),
    -- A recrawl that is fetched anew has no beginning until a worker reports one.
    began_at = CASE WHEN :anew = 1 AND :became = 'pending' AND tasks.scope < 0 THEN NULL ELSE tasks.began_at END
/*rows FROM r(id bigint, was text, due bigint, priority bigint, executor text, attempt bigint) */
WHERE tasks.id = r.id AND tasks.state = r.was
RETURNING tasks.id;

-- name: rest_tasks_of_bots
-- An ended task lets its schedule make the next one.
UPDATE bot_tasks SET held_at = NULL, open_key = CASE WHEN r.ended THEN NULL ELSE bot_tasks.open_key END, updated_at = :now
/*rows FROM r(id bigint, ended boolean) */ WHERE bot_tasks.task_id = r.id;

-- name: empty_queue_of_tasks
DELETE FROM queue /*rows USING r(host_id bigint, due bigint, priority bigint, run_id bigint, id bigint) */
WHERE queue.host_id = r.host_id AND queue.due = r.due AND queue.priority = r.priority AND queue.run_id = r.run_id
  AND queue.id = r.id
RETURNING queue.host_id, queue.id, queue.token;

-- name: empty_offers_of_tasks
DELETE FROM offers /*rows USING r(id bigint) */ WHERE offers.id = r.id;

-- name: withdraw_from_holders
-- The holder of a host reads its count every half second, and looks for its tasks in the queue when the count moved.
UPDATE line SET withdrawals = line.withdrawals + 1 /*rows FROM r(host_id bigint, token bigint) */
WHERE line.host_id = r.host_id AND line.token = r.token AND line.owner IS NOT NULL
RETURNING line.host_id, line.token;

-- name: withdrawals
SELECT host_id, token, withdrawals FROM line WHERE owner = :owner AND withdrawals > 0;

-- name: marked_tasks
SELECT q.id, q.due FROM queue q
/*rows , r(host_id bigint, due bigint, priority bigint, run_id bigint, id bigint, token bigint) */
WHERE q.host_id = r.host_id AND q.due = r.due AND q.priority = r.priority AND q.run_id = r.run_id AND q.id = r.id
  AND q.token = r.token;

-- name: prioritize_tasks
UPDATE tasks SET priority = r.priority, next_priority = r.next_priority
/*rows FROM r(id bigint, priority bigint, next_priority bigint) */ WHERE tasks.id = r.id;

-- name: prioritize_offers
UPDATE offers SET priority = r.priority /*rows FROM r(id bigint, priority bigint) */ WHERE offers.id = r.id;

-- name: outdated_priorities
-- Tasks that came back to the queue without a report: their worker let them go unstarted, or died.
-- A join would read all tasks on PostgreSQL, which does not know how few of them have another priority.
SELECT t.id, t.next_priority FROM tasks t
WHERE t.next_priority IS NOT NULL AND (SELECT n.state FROM tasks_now n WHERE n.id = t.id) = t.state
ORDER BY t.id LIMIT :limit;
