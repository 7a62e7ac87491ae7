"""Names of sources by their public ids, on either engine."""

from collections.abc import Collection

from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table


class SourceNameRecords(Table):
    """Names of sources by their public ids."""

    async def of_refs(self, refs: Collection[str]) -> dict[str, str]:
        async def work(tx: Transaction) -> dict[str, str]:
            asked = [(each,) for each in sorted(set(refs))]
            ours, remote = await tx.batch("names_of_sources", asked), await tx.batch("names_of_remote_sources", asked)
            return {row["called"]: row["name"] for row in (*ours, *remote)}

        return await self._database.read(work)
