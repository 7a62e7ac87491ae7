"""Sources of the interval-job contract: requests, responses and settings."""
