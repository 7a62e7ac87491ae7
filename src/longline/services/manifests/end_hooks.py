"""Hooks at the ends of manifests: the handler of a manifest is called once for each end."""

import logging
from collections.abc import Awaitable, Callable

from longline.model.manifests.manifest import ManifestSnapshot
from longline.model.runs.end_effect import RunEffect
from longline.plugins.manifest_handlers import HandlerFailed, ManifestSummary
from longline.ports.records.manifests import ManifestStore
from longline.services.manifests.manifest_kinds import ManifestKind, ManifestKinds

log = logging.getLogger(__name__)


class ManifestEndings:
    """The handler of effects that call the hooks of manifests at their end.

    The effect is deleted after the hook was called: a kill in between repeats the call, with the same number of the end
    in its summary. The failure of a hook is logged and changes nothing.
    """

    def __init__(
        self, store: ManifestStore, kinds: ManifestKinds, close: Callable[[RunEffect], Awaitable[bool]]
    ) -> None:
        self._store, self._kinds, self._close = store, kinds, close

    async def carry_out(self, effect: RunEffect) -> bool:
        """Call the hook of a manifest at its end; return False when another process has the effect."""
        found, kind = await self._store.get(effect.run_uid), self._kinds.find(effect.detail)
        if found is not None and kind is not None and not found.awaits_files:
            await _told(kind, _summary(found, effect))
        return await self._close(effect)


async def _told(kind: ManifestKind, summary: ManifestSummary) -> None:
    try:
        await kind.handler.finalize(summary)
    except HandlerFailed as error:
        log.warning("hook at the end of a manifest failed", extra={"manifest": summary.id, "error": str(error)})


def _summary(found: ManifestSnapshot, effect: RunEffect) -> ManifestSummary:
    return ManifestSummary(
        found.uid,
        found.kind,
        found.tenant,
        effect.state,
        found.admitted,
        found.completed,
        found.given_up,
        found.metadata_key,
        effect.error,
        effect.id,
    )
