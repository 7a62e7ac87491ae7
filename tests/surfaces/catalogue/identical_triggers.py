"""Identical triggers at once: one job is made, and all others get the literal conflict.

`python -m tests.surfaces.catalogue.identical_triggers sqlite 200` runs 200 rounds of 50 requests.
"""

import asyncio
import sys
import tempfile
from collections import Counter
from pathlib import Path

import httpx

from tests.servers import running_postgres
from tests.surfaces.catalogue.running import data, token
from tests.surfaces.products.running import Stage

DUPLICATE = '{"error":"A job for this comic and source is already queued or running.","code":"CONFLICT"}'
ADMIN = "/api/v1/admin"


async def race(stage: Stage, rounds: int, requests: int) -> Counter[tuple[int, str]]:
    """Send so many identical triggers in each round, each round by a user of its own; count the answers."""
    seen: Counter[tuple[int, str]] = Counter()
    limits = httpx.Limits(max_connections=requests, max_keepalive_connections=requests)
    async with httpx.AsyncClient(base_url=stage.address, verify=False, timeout=60, limits=limits) as client:
        for number in range(rounds):
            headers = {"Authorization": f"Bearer {token(stage)}"}
            body = {"name": f"Race {number}", "slug": f"race-{number}", "baseurl": f"https://r{number}.example"}
            source = data(await client.post(f"{ADMIN}/crawler/sources", json=body, headers=headers), 201)
            trigger = {"sourceid": source["id"], "scheduledat": "2099-01-01T00:00:00Z"}
            answers = await asyncio.gather(
                *(client.post(f"{ADMIN}/crawler/jobs", json=trigger, headers=headers) for _ in range(requests))
            )
            told = Counter((each.status_code, each.text if each.status_code != 201 else "") for each in answers)
            assert told == {(201, ""): 1, (409, DUPLICATE): requests - 1}, told
            seen += told
    return seen


def main(engine: str, rounds: str) -> None:
    """Run the long form, and print its counts."""
    with tempfile.TemporaryDirectory() as folder:
        if engine == "sqlite":
            return _run(Stage(Path(folder)), engine, int(rounds))
        with running_postgres() as server, server.fresh_database() as url:
            return _run(Stage(Path(folder), url), engine, int(rounds))


def _run(stage: Stage, engine: str, rounds: int) -> None:
    try:
        seen = asyncio.run(race(stage, rounds, 50))
        print(
            f"{engine}: {rounds} rounds, "
            + ", ".join(f"{count} times {status} {text}" for (status, text), count in seen.items())
        )
    finally:
        stage.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
