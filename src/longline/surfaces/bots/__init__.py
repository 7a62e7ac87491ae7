"""The HTTP API of the bot-pull contract: bots pull and submit jobs, and admins manage them."""

PREFIX = "/api/crawl"
ADMIN = f"{PREFIX}/admin"
"""Beginnings of the paths of all operations, and of those of admins."""
