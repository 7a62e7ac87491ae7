"""Servers that are killed during changes by people: a change and its audit row are both stored, or neither is.

By hand: `python -m tests.chaos.audit 200` on SQLite, with `postgres` as the second word on a server of its own.
"""

import asyncio
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from longline.services.callers.tokens import Tokens
from tests.drivers.records.peek import Peek
from tests.servers import running_postgres
from tests.servers.program import Program

SECRET = "s" * 64
BOTS = 4
SHOP = {"domain_name": "shop.example", "base_url": "https://shop.example", "parser_name": "product"}
RATE_LIMITED = 429
TASKS = 1200
"""Tasks of the batch, which are moved in three transactions."""

MAX_SESSION_SECONDS = 60.0
"""Longest life of a session of PostgreSQL after its client was killed."""

MAX_LIFE_SECONDS = 0.4


class Figures(NamedTuple):
    """The figures of all rounds."""

    rounds: int
    acknowledged: int
    stored: int
    rows: int
    faults: list[str]


class Round:
    """One life of a server, and the clients that make changes until it is killed."""

    def __init__(self, address: str) -> None:
        token = Tokens(SECRET, lambda: time.time_ns() // 10**6).issue("admin", "me", 3600)
        headers = {"Authorization": f"Bearer {token}"}
        self.client = httpx.AsyncClient(base_url=address, headers=headers, timeout=30)
        self.acknowledged, self.begun = 0, asyncio.Event()

    async def change_bot(self, bot: str, number: int) -> None:
        """Count in the description of a bot, one change after the other."""
        while True:
            number += 1
            body = {"description": str(number)}
            answer = await self.client.patch(f"/api/crawl/admin/bots/{bot}", json=body)
            assert answer.status_code == 200, answer.text
            self._count(1)

    async def make_jobs(self) -> None:
        """Make jobs, several at once, which share commits."""
        while True:
            body = {"url": "https://a.example/", "source_id": "x"}
            answers = await asyncio.gather(*(self.client.post("/api/v1/jobs", json=body) for _ in range(3)))
            assert {answer.status_code for answer in answers} == {201}
            self._count(len(answers))

    async def sync_sources(self, life: int) -> None:
        """Make sources, and give them their schedules, several in one transaction."""
        number = 0
        while True:
            for _ in range(3):
                number += 1
                body = {"name": f"n{life}-{number}", "url": f"https://n{life}-{number}.example/"}
                assert (await self.client.post("/api/v1/sources", json=body)).status_code == 201
            answer = await self.client.post("/api/v1/admin/sync-enabled-sources")
            assert answer.status_code == 200, answer.text

    async def move_batch(self) -> None:
        """Pause and restart the tasks of a batch, in several transactions for each request."""
        while True:
            for move in ("pause", "restart"):
                answer = await self.client.post(f"/api/admin/batches/1/{move}", json={})
                while answer.status_code == RATE_LIMITED:
                    await asyncio.sleep(0.1)
                    answer = await self.client.post(f"/api/admin/batches/1/{move}", json={})
                assert answer.status_code == 200, answer.text

    def _count(self, answers: int) -> None:
        self.acknowledged += answers
        self.begun.set()

    async def run(self, numbers: dict[str, int], number: int, kill: Any, life: float) -> None:
        works = [self.change_bot(bot, number) for bot, number in numbers.items()]
        works += [self.make_jobs(), self.sync_sources(number), self.move_batch()]
        tasks = [asyncio.create_task(work) for work in works]
        await self.begun.wait()
        await asyncio.sleep(life)
        kill()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        await self.client.aclose()
        wrong = [one for one in found if not isinstance(one, httpx.TransportError)]
        assert not wrong, wrong


async def check(database: str, bystanders: set[int]) -> tuple[dict[str, int], int, list[str]]:
    """Return the number that each bot has reached, the number of stored changes, and all unmatched changes and rows."""
    looking = Peek(database)
    await sessions_ended(looking, bystanders)
    numbers = {
        str(name): int(description or 0)
        for name, description in await looking.rows("SELECT name, description FROM bots WHERE registered")
    }
    counts = await looking.rows("SELECT thing, COUNT(*) FROM audit WHERE action = 'bot.change' GROUP BY thing")
    jobs = {uid for (uid,) in await looking.rows("SELECT uid FROM schedules WHERE NOT automatic")}
    things = [thing for (thing,) in await looking.rows("SELECT thing FROM audit WHERE action = 'schedule.create'")]
    faults = [*await check_sync(looking), *await check_moves(looking)]
    await looking.close()
    rows = {str(thing): int(count) for thing, count in counts}
    faults += [f"{bot}: {n} changes, {rows.get(bot, 0)} rows" for bot, n in numbers.items() if n != rows.get(bot, 0)]
    faults += [f"jobs without a row or rows without a job: {jobs ^ set(things)}"] if jobs != set(things) else []
    faults += ["a job has two rows"] if len(things) != len(set(things)) else []
    return numbers, sum(numbers.values()) + len(jobs), faults


async def sessions(looking: Peek) -> set[int]:
    """Return the PostgreSQL sessions of others in this database."""
    if looking.engine == "lite":
        return set()
    rows = await looking.rows(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
        " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
    )
    return {int(pid) for (pid,) in rows}


async def sessions_ended(looking: Peek, bystanders: set[int]) -> None:
    """Wait until PostgreSQL has ended the sessions of a killed server: a commit that it had received goes on."""
    async with asyncio.timeout(MAX_SESSION_SECONDS):
        while True:
            if not await sessions(looking) - bystanders:
                return
            await asyncio.sleep(0.01)


async def check_sync(looking: Peek) -> list[str]:
    """Return automatic schedules that no row of a synchronisation lists, and listed ones that are missing."""
    there = sorted(uid for (uid,) in await looking.rows("SELECT uid FROM schedules WHERE automatic"))
    rows = await looking.rows("SELECT after FROM audit WHERE action = 'source.sync'")
    listed = sorted(one["uid"] for (after,) in rows for one in json.loads(after)["schedules"])
    return [] if there == listed else [f"{len(there)} automatic schedules, {len(listed)} in audit rows"]


async def check_moves(looking: Peek) -> list[str]:
    """Return moves of tasks by people that no audit row lists, and listed ones that were not made."""
    rows = await looking.rows("SELECT moves FROM events WHERE noun = 'run' AND move = 'report' AND actor = 'person'")
    moves = [move for (text,) in rows for move in json.loads(text)]
    made = Counter((task, "pause" if became == "paused" else "restart") for task, was, became, _ in moves if was)
    listed = Counter[tuple[int, str]]()
    for (after,) in await looking.rows("SELECT after FROM audit WHERE action IN ('task.pause', 'task.restart')"):
        state = json.loads(after)
        listed.update((task_id, state["move"]) for task_id in state["tasks"])
    return [] if made == listed else [f"{made.total()} moves of tasks, {listed.total()} in audit rows"]


def start(database: str, folder: Path) -> tuple[Program, str]:
    """Start a server, and return it with its address."""
    environ = {**os.environ, "LONGLINE_DATA": str(folder), "LONGLINE_DATABASE": database, "AUTH_JWT_SECRET": SECRET}
    process = Program(
        ["up", "--port", "0", "--log-level", "error"],
        environ,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    return process, process.stdout.readline().split(" listens on ")[1].split()[0]


async def register(address: str) -> dict[str, int]:
    """Make the bots that are changed."""
    first = Round(address)
    numbers = {f"b{number}": 0 for number in range(BOTS)}
    for bot in numbers:
        body = {"bot_id": bot, "name": bot, "description": "0"}
        assert (await first.client.post("/api/crawl/admin/bots", json=body)).status_code == 201
    shop = (await first.client.post("/api/admin/domains", json=SHOP)).json()["data"]["id"]
    batch = (await first.client.post("/api/admin/batches", json={"name": "all"})).json()["data"]["id"]
    assert batch == 1
    urls = [f"https://shop.example/{number}" for number in range(TASKS)]
    tasks = {"domain_id": shop, "batch_id": batch, "urls": urls}
    answer = await first.client.post("/api/admin/tasks/batch", json=tasks)
    assert answer.status_code == 201, answer.text
    await first.client.aclose()
    return numbers


async def rounds(database: str, folder: Path, count: int, seed: int = 1) -> Figures:
    """Start, change, kill and check in that many rounds; the rows of all rounds are checked each time."""
    chance, acknowledged, stored, faults = random.Random(seed), 0, 0, list[str]()
    numbers: dict[str, int] = {}
    looking = Peek(database)
    bystanders = await sessions(looking)
    await looking.close()
    for number in range(count):
        process, address = start(database, folder)
        numbers = numbers or await register(address)
        life = Round(address)
        await life.run(numbers, number, process.kill, chance.uniform(0.02, MAX_LIFE_SECONDS))
        process.communicate()
        acknowledged += life.acknowledged
        numbers, stored, found = await check(database, bystanders)
        faults += [f"round {number}: {fault}" for fault in found]
        if stored < acknowledged:
            faults.append(f"round {number}: {acknowledged} acknowledged, {stored} stored")
    looking = Peek(database)
    rows = await looking.value("SELECT COUNT(*) FROM audit WHERE action IN ('bot.change', 'schedule.create')")
    await looking.close()
    return Figures(count, acknowledged, stored, int(rows), faults)


def main(words: list[str]) -> None:
    """Run so many rounds on the engine that is named, and print the figures."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
        where = f"sqlite:///{place}/longline.db"
        if words[1:] == ["postgres"]:
            where = stack.enter_context(stack.enter_context(running_postgres(durable=True)).fresh_database())
        print(asyncio.run(rounds(where, Path(place), int(words[0]))), f"{time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
