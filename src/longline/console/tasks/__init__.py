"""Pages of tasks, hosts and workers."""
