"""Sinks: places outside the platform that get items while runs go on."""
