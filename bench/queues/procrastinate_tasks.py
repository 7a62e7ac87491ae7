"""Procrastinate on PostgreSQL: as many tasks that do nothing, put in, then worked off. Prints the seconds."""
# mypy: disable-error-code="import-not-found, untyped-decorator"

import asyncio
import sys
import time

from procrastinate import App, PsycopgConnector

URL = sys.argv[1]
COUNT = int(sys.argv[2])

app = App(connector=PsycopgConnector(conninfo=URL))


@app.task(queue="bench")
async def nothing(number: int) -> None:
    """Do nothing."""


async def main() -> None:
    """Put the tasks in and work them off."""
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        for first in range(0, COUNT, 500):
            batch = [{"number": n} for n in range(first, min(first + 500, COUNT))]
            await nothing.batch_defer_async(*batch)
        begun = time.perf_counter()
        await app.run_worker_async(queues=["bench"], wait=False, concurrency=16, install_signal_handlers=False)
        print(f"seconds={time.perf_counter() - begun}", flush=True)


asyncio.run(main())
