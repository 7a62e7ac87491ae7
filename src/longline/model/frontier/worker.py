"""A worker is one process that works: leases name it as their owner."""

import msgspec


class WorkerRow(msgspec.Struct, frozen=True):
    """A process that joined. `mark` is the file whose lock it holds while it lives, on engines that share a folder."""

    id: int
    name: str
    roles: str
    mark: str
    started_at: int
    seen_at: int
