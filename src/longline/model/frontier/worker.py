"""Workers: processes that leases name as their owners."""

import msgspec


class WorkerRow(msgspec.Struct, frozen=True):
    """A registered process. `mark` is the file that it keeps locked while it lives, on engines that share a folder."""

    id: int
    name: str
    roles: str
    mark: str
    started_at: int
    seen_at: int
