"""Names of the streams of manifests in Redis, and of their consumer groups."""

from longline.model.manifests.manifest import StreamName

PREFIX = "fetchbox."

NAMES: dict[StreamName, str] = {
    "tasks": f"{PREFIX}jobs.tasks",
    "status": f"{PREFIX}jobs.status",
    "logs": f"{PREFIX}jobs.logs",
    "dead_letters": f"{PREFIX}jobs.dlq",
}

GROUPS: dict[StreamName, str] = {
    "tasks": "workers",
    "status": "operators",
    "logs": "operators",
    "dead_letters": "operators",
}

POSITIONS_KEY = f"{PREFIX}positions"
