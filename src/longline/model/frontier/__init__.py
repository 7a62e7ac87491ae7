"""The frontier: hosts, tasks, outcomes and workers."""
