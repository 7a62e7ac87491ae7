"""The configured kinds of manifests: their handlers, headers, places in the object store, and plans."""

from collections.abc import Iterable, Mapping

import msgspec

from longline.model.errors import NotFound
from longline.model.object_keys import resource_key
from longline.model.runs.crawl_plan import CrawlPlan
from longline.plugins.manifest_handlers import ManifestHandler

DEFAULT_KIND = "default"
"""Kind that is always configured."""


class ManifestKind(msgspec.Struct, frozen=True):
    """One kind of manifests; `plan` is that of every run, `bucket` is empty for the usual one."""

    name: str
    plan: CrawlPlan
    handler: ManifestHandler
    headers: dict[str, str] = {}
    bucket: str = ""
    key_prefix: str = ""

    def key(self, uid: str, resource_id: str) -> str:
        """Return the usual key of a file."""
        return resource_key(self.name, uid, resource_id, self.key_prefix)


class ManifestKinds:
    """All configured kinds."""

    def __init__(self, kinds: Iterable[ManifestKind]) -> None:
        self._kinds: Mapping[str, ManifestKind] = {kind.name: kind for kind in kinds}

    @property
    def names(self) -> list[str]:
        """Return the names of all kinds."""
        return sorted(self._kinds)

    def find(self, name: str) -> ManifestKind | None:
        """Return a kind, or None if it is not configured."""
        return self._kinds.get(name)

    def get(self, name: str) -> ManifestKind:
        """Return a kind; raise `NotFound` if it is not configured."""
        found = self._kinds.get(name)
        if found is None:
            raise NotFound("kind of manifests", name)
        return found
