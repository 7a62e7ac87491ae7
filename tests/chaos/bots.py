"""Fifty bots in trouble against one server on PostgreSQL: `python -m tests.chaos.bots --jobs 20000`.

They crash while they hold jobs, submit late, twice and for others, and have clocks of their own. The answers that they
get are recorded, and `bot_history` checks them against the promises of the server.
"""

import argparse
import asyncio
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
import wreq

from longline.services.callers.tokens import Tokens
from tests.chaos.bot_history import History, Lock, Submit
from tests.servers import running_postgres
from tests.servers.program import Program

LOCK_SECONDS = 2
HOST = "shop.example"
SECRET = "s" * 64


@contextmanager
def server(database: str, folder: Path, *, careless: bool = False) -> Iterator[str]:
    """Run a server in a process of its own, and yield its address."""
    module, words = "tests.chaos.bot_server", ["careless"] if careless else []
    environ = {**os.environ, "LONGLINE_DATA": str(folder), "LONGLINE_DATABASE": database, "AUTH_JWT_SECRET": SECRET}
    migration = Program([*words, "migrate"], environ, module, stdout=subprocess.DEVNULL)
    assert migration.wait() == 0
    words += ["up", "--port", "0", "--log-level", "error"]
    process = Program(words, environ, module, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    try:
        yield process.stdout.readline().split(" listens on ")[1].split()[0]
    finally:
        process.terminate()
        process.communicate(timeout=120)


def admin_token() -> str:
    """Return a token for the server's admin side."""
    return Tokens(SECRET, now).issue("admin", "chaos", 86400)


class Client:
    """A client that accepts only answers of the contract."""

    def __init__(self, address: str, token: str = "") -> None:
        self._address = address
        self._headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
        self._client = wreq.Client(no_proxy=True)

    async def ask(self, path: str, method: str = "POST", **body: Any) -> dict[str, Any]:
        url = f"{self._address}/api/crawl/{path}"
        if method == "POST":
            answer = await self._client.post(url, headers=self._headers, body=orjson.dumps(body))
        else:
            answer = await self._client.get(url, headers=self._headers)
        told: dict[str, Any] = orjson.loads(bytes(await answer.bytes()))
        assert answer.status.as_int() < 500, told
        return told


def milliseconds(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def now() -> int:
    return time.time_ns() // 1_000_000


class ChaosBot:
    """One bot; `shift` is the number of seconds by which its clock is ahead."""

    def __init__(self, client: Client, name: str, token: str, luck: random.Random, history: History) -> None:
        self._client, self._name, self._token, self._luck, self._history = client, name, token, luck, history
        self._shift = luck.choice((0, 0, -30, 30))
        self._latest: dict[str, Lock] = {}

    async def run(self, stop: asyncio.Event, others: list[Lock]) -> None:
        while not stop.is_set():
            locks = await self._pull()
            if not locks:
                await asyncio.sleep(0.2)
            others[:] = (locks + others)[:100]
            for lock in locks:
                if self._luck.random() < 0.02:
                    break  # a crash with all jobs locked
                await self._work(lock, others)

    async def _pull(self) -> list[Lock]:
        who = {"bot_id": self._name, "api_token": self._token}
        told = await self._client.ask("pull/", **who, max_jobs=self._luck.randint(1, 10))
        locks = []
        for job in told["data"]["jobs"]:
            until = milliseconds(job["locked_until"])
            locks.append(Lock(self._name, job["job_id"], until - job["timeout_seconds"] * 1000, until))
        self._history.locks += locks
        self._latest |= {lock.job: lock for lock in locks}
        return locks

    async def _work(self, lock: Lock, others: list[Lock]) -> None:
        chance = self._luck.random()
        if chance < 0.02:
            await asyncio.sleep(LOCK_SECONDS + 0.2)  # far too slow; submits all the same
        mine = now() + self._shift * 1000
        if mine > lock.until and chance < 0.5 and self._shift > 0:
            return  # by the bot's clock the lock has lapsed, so it gives the job up
        if chance < 0.05:
            stranger = self._luck.choice(others)
            # The job may be one of the bot's own, pulled a moment ago.
            await self._submit(stranger.job, self._latest.get(stranger.job), success=True)
        if chance > 0.95:
            await self._submit(lock.job, lock, success=False)
            return
        times = 2 if chance > 0.9 else 1
        await asyncio.gather(*(self._submit(lock.job, lock, success=True) for _ in range(times)))
        if chance > 0.88:
            await self._submit(lock.job, lock, success=True)  # and once more, later

    async def _submit(self, job: str, lock: Lock | None, *, success: bool) -> None:
        said: dict[str, Any] = {"price": "1.00", "currency": "USD"} if success else {"error_msg": "bad luck"}
        sent = now()
        who = {"bot_id": self._name, "api_token": self._token}
        told = await self._client.ask("submit/", **who, job_id=job, success=success, **said)
        outcome = told["data"]["status"] if told["success"] else told["error"]
        self._history.submits.append(Submit(self._name, job, lock, sent, now(), outcome))


async def prepare(admin: Client, jobs: int) -> None:
    """Make the jobs: known URLs, and one policy that is spread over them."""
    for first in range(0, jobs, 1000):
        urls = [f"https://{HOST}/{n}" for n in range(first, min(first + 1000, jobs))]
        await admin.ask("admin/urls", urls=urls)
    await admin.ask("admin/policies", domain=HOST, name="all", max_retries=1_000_000)
    for _ in range(600):
        if await waiting_jobs(admin) == jobs:
            return
        await asyncio.sleep(0.1)
    raise AssertionError("the jobs of the policy were not made")


async def waiting_jobs(admin: Client) -> int:
    """Return the number of jobs that wait; none are counted while the scheduler makes jobs of the same policy."""
    told = await admin.ask("admin/create-jobs", limit=1)
    return int(told["data"]["created"] + told["data"]["skipped"])


async def storm(address: str, token: str, jobs: int, bots: int, seed: int) -> tuple[History, dict[str, Any]]:
    """Run the bots until every job has ended; return the history, and the state of each job."""
    admin, history, stop = Client(address, token), History(), asyncio.Event()
    await prepare(admin, jobs)
    others: list[Lock] = []
    crew = []
    for n in range(bots):
        made = await admin.ask(
            "admin/bots", bot_id=f"bot-{n}", custom_lock_ttl_seconds=LOCK_SECONDS, rate_limit_per_minute=None
        )
        client = Client(address)
        bot = ChaosBot(client, f"bot-{n}", made["data"]["api_token"], random.Random(seed * 1000 + n), history)
        crew.append(asyncio.create_task(bot.run(stop, others)))
    try:
        await _until_all_ended(admin, crew)
    finally:
        stop.set()
        await asyncio.gather(*crew)
    return history, await _final(admin, jobs)


async def _until_all_ended(admin: Client, crew: list[asyncio.Task[None]]) -> None:
    while True:
        await asyncio.sleep(0.5)
        # The sweep that upkeep makes once a minute, made more often.
        await admin.ask("admin/expire-locks")
        counts = (await admin.ask("admin/dashboard", "GET"))["data"]["jobs"]
        if not counts["pending"] + counts["locked"] + counts["expired"]:
            return
        for task in crew:
            if task.done():
                task.result()


async def _final(admin: Client, jobs: int) -> dict[str, Any]:
    results = set()
    final: dict[str, tuple[str, int]] = {}
    for offset in range(0, jobs, 200):
        found = await admin.ask(f"admin/results?limit=200&offset={offset}", "GET")
        results |= {result["job_id"] for result in found["data"]["results"]}
        page = await admin.ask(f"admin/jobs?limit=200&offset={offset}", "GET")
        final |= {job["id"]: (job["status"], job["retry_count"]) for job in page["data"]["jobs"]}
    assert len(final) == jobs
    return {job: (*stands, job in results) for job, stands in final.items()}


def report(history: History, seconds: float) -> str:
    """Return the figures in a few lines."""
    outcomes = Counter(submit.outcome for submit in history.submits)
    jobs = {lock.job for lock in history.locks}
    told = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
    again = len(history.locks) - len(jobs)
    return f"{len(jobs)} jobs in {seconds:.1f} s, {len(history.locks)} locks ({again} of them again); submits: {told}"


def main() -> int:
    """Run the storm and print the faults of the history."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.bots", description=__doc__)
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--bots", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--careless", action="store_true", help="a build without the owner check, which must be caught")
    asked = parser.parse_args()
    with running_postgres() as postgres, tempfile.TemporaryDirectory() as folder:
        database = asyncio.run(postgres.create_database())
        with server(database, Path(folder), careless=asked.careless) as address:
            begun = time.monotonic()
            history, final = asyncio.run(storm(address, admin_token(), asked.jobs, asked.bots, asked.seed))
            print(report(history, time.monotonic() - begun))
    faults = history.faults(final)
    for fault in faults[:20]:
        print(f"FAULT {fault}")
    print(f"{len(faults)} faults" if faults else "every job has one result, no lock met another, nothing was lost")
    return int(bool(faults) != asked.careless)


if __name__ == "__main__":
    sys.exit(main())
