"""Counters, figures of the queue and throughput, on either engine."""
