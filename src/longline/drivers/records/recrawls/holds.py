"""Holds of runs, and the hosts that are woken when a hold ends."""

from collections.abc import Sequence

from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table, struct
from longline.model.recrawls.hold import ENDLESS_MS, Hold, HoldReason, HoldWindow


class HoldRecords(Table):
    """Holds and daily windows of runs."""

    async def hold(self, hold: Hold) -> None:
        await self._write("add_hold", run_id=hold.run_id, why=hold.why, since=hold.since, until=hold.until)

    async def lift(self, run_id: int, why: HoldReason) -> bool:
        return await self._database.transact(lambda tx: _lift(tx, run_id, why))

    async def end_lapsed(self) -> int:
        async def work(tx: Transaction) -> int:
            lapsed = await tx.all("lapsed_holds")
            return sum([await _lift(tx, row["run_id"], row["why"]) for row in lapsed])

        return await self._database.transact(work)

    async def follow_switches(self) -> int:
        if not await self._database.read(lambda tx: tx.all("unmatched_holds")):
            return 0

        async def work(tx: Transaction) -> int:
            unmatched = await tx.all("unmatched_holds")
            off = [row["run_id"] for row in unmatched if not row["enabled"]]
            for run_id in off:
                await tx.all("add_hold", run_id=run_id, why="disabled", since=0, until=ENDLESS_MS)
            return sum([await _lift(tx, row["run_id"], "disabled") for row in unmatched if row["enabled"]])

        return await self._database.transact(work)

    async def held_runs(self) -> frozenset[int]:
        async def work(tx: Transaction) -> frozenset[int]:
            return frozenset(row["run_id"] for row in await tx.all("held_runs"))

        return await self._database.read(work)

    async def note_hosts(self, run_id: int, hosts: Sequence[str]) -> None:
        async def work(tx: Transaction) -> None:
            await tx.batch("note_held_hosts", [(host,) for host in sorted(set(hosts))], run_id=run_id)

        await self._database.transact(work)

    async def find(self) -> list[Hold]:
        return await self._all("find_holds", Hold)

    async def set_window(self, run_id: int, window: HoldWindow | None) -> None:
        async def work(tx: Transaction) -> None:
            await _lift(tx, run_id, "maintenance")
            if window is None:
                await tx.all("drop_hold_window", run_id=run_id)
                return
            times = {"from_second": window.from_second, "to_second": window.to_second}
            await tx.all("set_hold_window", run_id=run_id, **times)
            since, until = window.occurrence(tx.now)
            await tx.all("add_hold", run_id=run_id, why="maintenance", since=since, until=until)

        await self._database.transact(work)

    async def windows(self) -> list[HoldWindow]:
        async def work(tx: Transaction) -> list[HoldWindow]:
            return [struct(row, HoldWindow) for row in await tx.all("hold_windows")]

        return await self._database.read(work)


async def _lift(tx: Transaction, run_id: int, why: str) -> bool:
    """End a hold under the locks of the run's hosts, which are looked at again by the next claim."""
    hosts = sorted({row["host_id"] for row in await tx.all("hosts_of_held_run", run_id=run_id)})
    await tx.batch("lock_lines", [(host_id,) for host_id in hosts])
    lifted = await tx.one("lift_hold", run_id=run_id, why=why) is not None
    if lifted:
        await tx.batch("wake_lines", [(host_id, tx.now) for host_id in hosts])
    return lifted
