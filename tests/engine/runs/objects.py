"""An object store in a dictionary."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

from longline.model.errors import NotFound
from longline.ports.blobs import BlobInfo


class Objects:
    """Objects by their keys."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.labels: dict[str, Mapping[str, str]] = {}

    async def put(self, key: str, data: bytes | Sequence[bytes], labels: Mapping[str, str] | None = None) -> None:
        self.objects[key] = data if isinstance(data, bytes) else b"".join(data)
        self.labels[key] = labels or {}

    async def get(self, key: str) -> bytes:
        if key not in self.objects:
            raise NotFound("object", key)
        return self.objects[key]

    async def get_range(self, key: str, offset: int, length: int) -> bytes:
        return (await self.get(key))[offset : offset + length]

    async def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            self.objects.pop(key, None)

    async def list(self, prefix: str = "") -> AsyncIterator[BlobInfo]:
        for key in sorted(self.objects):
            if key.startswith(prefix):
                yield BlobInfo(key, len(self.objects[key]))

    async def check(self) -> str:
        return "objects in memory"
