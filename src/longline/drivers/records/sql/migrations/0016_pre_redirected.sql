-- Tasks that a redirect led to, by the one that led there. There are few, and none ever changes what it is.
CREATE INDEX tasks_redirected ON tasks (parent_id) WHERE hops > 0;
