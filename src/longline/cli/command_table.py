"""The commands of the program: their modules, groups, other names, and headings in the help."""

COMMANDS = {
    "up": "serve:up",
    "crawl": "crawl:crawl",
    "demo": "demo:demo",
    "search": "search:search",
    "page": "page:page",
    "urls": "urls:urls",
    "export": "export:export",
    "diff": "diff:diff",
    "reparse": "reparse:reparse",
    "mcp": "mcp:mcp",
    "token": "token:token",
    "audit": "audit:audit",
    "api": "serve:api",
    "worker": "serve:worker",
    "migrate": "migrate:migrate",
    "doctor": "doctor:doctor",
    "settings": "settings:settings",
    "version": "version:version",
}
"""Commands, each with its module and function."""

GROUPS = {
    "runs": "runs:build",
    "sources": "sources:build",
    "recrawls": "recrawls:build",
    "batches": "batches:build",
    "sinks": "sinks:build",
    "candidates": "candidates:build",
    "proxies": "proxies:build",
    "bots": "bots:build",
    "policies": "policies:build",
    "keys": "keys:build",
    "manifests": "manifests:build",
    "series": "series:build",
    "maintenance": "maintenance:build",
}
"""Command groups, each with the function that builds the group."""

LISTING_GROUPS = frozenset({"runs"})
"""Groups that list their subject where no command is given."""

HIDDEN = {"create_jobs_from_policies": "policies:create_jobs", "expire_locks": "bots:expire_locks"}
"""Names of the bot-pull contract for its two maintenance commands."""

SECTIONS = {
    "Crawl": ("crawl", "demo", "runs", "urls", "diff", "reparse"),
    "Results": ("search", "page", "export", "sinks", "mcp"),
    "Platform": ("up", "api", "worker", "migrate", "doctor", "settings", "maintenance", "version"),
    "Sources": ("sources", "candidates", "proxies", "series"),
    "Recrawls, manifests and bots": ("recrawls", "batches", "manifests", "bots", "policies"),
    "Access": ("token", "keys", "audit"),
}
"""Every command of the program, by the heading over it."""
