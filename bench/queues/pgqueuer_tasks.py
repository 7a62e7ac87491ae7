"""PgQueuer on PostgreSQL: as many jobs that do nothing, put in, then worked off. Prints the seconds."""
# mypy: disable-error-code="import-not-found, untyped-decorator"

import asyncio
import sys
import time
from datetime import timedelta

import asyncpg
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.queries import Queries

URL = sys.argv[1]
COUNT = int(sys.argv[2])


async def main() -> None:
    """Put the jobs in and work them off."""
    connection = await asyncpg.connect(URL)
    driver = AsyncpgDriver(connection)
    queries = Queries(driver)
    await queries.install()
    for first in range(0, COUNT, 500):
        size = min(500, COUNT - first)
        await queries.enqueue(["nothing"] * size, [None] * size, [0] * size)
    queuer, left = PgQueuer(driver), COUNT

    @queuer.entrypoint("nothing")
    async def nothing(_: object) -> None:
        nonlocal left
        left -= 1
        if not left:
            queuer.shutdown.set()

    begun = time.perf_counter()
    await queuer.run(batch_size=100, dequeue_timeout=timedelta(seconds=1))
    print(f"seconds={time.perf_counter() - begun}", flush=True)


asyncio.run(main())
