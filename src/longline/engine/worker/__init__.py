"""The worker: the way of one URL from claim to report."""
