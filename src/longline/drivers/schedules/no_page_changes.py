"""The store of page changes of a platform that adapts no interval."""

from longline.ports.records.schedules import PageChanges


class NoPageChanges:
    """An empty store, with which every interval stays as configured."""

    async def get(self, _: str) -> PageChanges | None:
        return None

    async def save(self, _: str, __: PageChanges) -> None:
        pass

    async def forget(self, _: str) -> None:
        pass
