"""Hooks of the handlers of manifests: their names, arguments and time limit."""

from collections.abc import Mapping

PREPARE, BUILD, FINALIZE, OVERRIDE = "prepare_manifest", "build_tasks", "finalize_job", "override_storage"
HOOKS: Mapping[str, int] = {PREPARE: 1, BUILD: 2, FINALIZE: 1, OVERRIDE: 1}
"""Hooks of handlers, and the number of their arguments."""

HOOK_TIMEOUT_SECONDS = 30.0
"""Seconds that a hook may take."""
