"""Jobs of a catalogue over processes that die: two APIs and three workers on PostgreSQL, one killed every few seconds.

`python -m tests.chaos.catalogue` runs the large form and prints its figures. The database itself writes the history, by
triggers: every state of a job and every change of a source's health, with its transaction. A checker replays it. At
every moment the failures of a source are its failed jobs in a row, each job ends once, and none starts before its time.
"""

import argparse
import asyncio
import os
import random
import ssl
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg
import httpx
import trustme

from longline.services.callers.tokens import Tokens
from tests.servers import running_postgres
from tests.servers.process import free_ports
from tests.servers.program import Program
from tests.servers.program import run as run_program
from tests.web import SiteHandle, running_site
from tests.web.wire import Answer, Request

SECRET = "a secret of this storm that both servers know"
SELECTORS = {
    "selectors": {
        "series": {"container": "li.comic", "id": "a@data-id", "title": "a", "url": "a@href"},
        "chapter": {"container": "li.chapter", "number": "b"},
    }
}
HISTORY = """
CREATE TABLE history (
    id BIGINT GENERATED ALWAYS AS IDENTITY, tx BIGINT, at TIMESTAMPTZ, noun TEXT, thing BIGINT, source BIGINT,
    was TEXT, became TEXT, failures BIGINT, enabled BOOLEAN);
CREATE FUNCTION note_run() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO history (tx, at, noun, thing, source, was, became)
    VALUES (txid_current(), clock_timestamp(), 'run', NEW.id, NEW.source_id, OLD.state, NEW.state); RETURN NULL; END $$;
CREATE TRIGGER run_history AFTER UPDATE ON runs FOR EACH ROW WHEN (OLD.state <> NEW.state AND NEW.kind = 'series')
    EXECUTE FUNCTION note_run();
CREATE FUNCTION note_source() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO history (tx, at, noun, thing, source, failures, enabled)
    VALUES (txid_current(), clock_timestamp(), 'source', NEW.id, NEW.id, NEW.failures, NEW.enabled);
    RETURN NULL; END $$;
CREATE TRIGGER source_history AFTER UPDATE ON sources FOR EACH ROW EXECUTE FUNCTION note_source();
"""
ENDED = ("completed", "failed", "cancelled")


class Size(NamedTuple):
    """The amount of work and the duration. Times are seconds."""

    sources: int = 6
    seconds: float = 180.0
    kill_every: float = 5.0
    patience: float = 180.0


SMALL = Size(sources=2, seconds=12.0, kill_every=4.0, patience=90.0)


@dataclass
class Verdict:
    """The answers that callers got, and the faults of the history."""

    kills: Counter[str] = field(default_factory=Counter)
    triggered: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    disabled: int = 0
    steps: int = 0
    faults: list[str] = field(default_factory=list)


class Processes:
    """Two servers and three workers, each restarted after a kill."""

    def __init__(self, database: str, folder: Path, issuer: Path) -> None:
        self._environment = os.environ | {
            "LONGLINE_DATA": str(folder),
            "LONGLINE_DATABASE": database,
            "LONGLINE_CA_FILE": str(issuer),
            "LONGLINE_EGRESS_ALLOW": "127.0.0.0/8",
            "LONGLINE_LEASE": "5s",
            "LONGLINE_LOG_LEVEL": "error",
            "AUTH_JWT_SECRET": SECRET,
        }
        self.ports = free_ports(2)
        self._words = {f"api {port}": ["api", "--port", str(port)] for port in self.ports}
        self._words |= {f"worker {number}": ["worker"] for number in range(3)}
        self._log = (folder / "log").open("ab")
        assert run_program("migrate", env=self._environment).returncode == 0
        self._running = {name: self._start(name) for name in self._words}

    def _start(self, name: str) -> Program:
        return Program(self._words[name], self._environment, stdout=subprocess.DEVNULL, stderr=self._log)

    def kill_one(self, chance: random.Random) -> str:
        """Kill one process, and restart it."""
        name = chance.choice(sorted(self._running))
        self._running[name].kill()
        self._running[name].wait()
        self._running[name] = self._start(name)
        return name.split()[0]

    def stop(self) -> None:
        """End all processes."""
        for process in self._running.values():
            process.kill()
            process.wait()
        self._log.close()


class Client:
    """A caller that goes to the other server when one does not answer."""

    def __init__(self, ports: list[int], chance: random.Random) -> None:
        self._ports, self._chance = ports, chance
        self._client = httpx.AsyncClient(timeout=10)
        self._tokens = Tokens(SECRET, lambda: int(time.time() * 1000))

    async def ask(self, method: str, path: str, body: Any = None) -> httpx.Response:
        """Send a request until a server answers; each request has a user of its own, since users have limits."""
        async with asyncio.timeout(90):
            while True:
                port = self._chance.choice(self._ports)
                bearer = self._tokens.issue("admin", f"user{self._chance.random()}", 3600)
                try:
                    answer = await self._client.request(
                        method,
                        f"http://127.0.0.1:{port}/api/v1/admin/{path}",
                        json=body,
                        headers={"Authorization": f"Bearer {bearer}"},
                    )
                    if answer.status_code < 500:
                        return answer
                except httpx.TransportError:
                    pass
                await asyncio.sleep(0.2)

    async def close(self) -> None:
        await self._client.aclose()


def answering(site: SiteHandle, number: int, chance: random.Random) -> None:
    """Let the catalogue of one source be there or not, by chance."""
    path = f"/s{number}/"
    page = "".join(f"<li class=comic><a data-id=s{number}c{n} href={path}{n}>Comic {n}</a></li>" for n in range(5))

    def answer(_: Request) -> Answer:
        return Answer(404) if chance.random() < 0.6 else Answer(body=f"<title>x</title><ul>{page}</ul>".encode())

    site.site.extra[path] = answer


class Storm:
    """The storm: its processes, its callers and its verdict."""

    def __init__(self, size: Size, seed: int) -> None:
        self.size, self.chance, self.verdict = size, random.Random(seed), Verdict()
        self.due: dict[str, str] = {}

    async def run(self, database: str, folder: Path) -> Verdict:
        """Run the storm on an empty database, and judge."""
        issuer, tls = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        issuer.issue_cert("127.0.0.1").configure_cert(tls)
        issuer.cert_pem.write_to_path(folder / "issuer.pem")
        with running_site(0, tls=tls) as site:
            processes = await asyncio.to_thread(Processes, database, folder, folder / "issuer.pem")
            client = Client(processes.ports, self.chance)
            try:
                await _execute(database, HISTORY)
                await self._rage(processes, client, site)
            finally:
                await client.close()
                await asyncio.to_thread(processes.stop)
        await self._judge(database)
        return self.verdict

    async def _rage(self, processes: Processes, client: Client, site: SiteHandle) -> None:
        sources = [await self._source(client, site, number) for number in range(self.size.sources)]
        until = time.monotonic() + self.size.seconds
        working = [asyncio.create_task(self._work(client, source, until)) for source in sources]
        while time.monotonic() < until:
            await asyncio.sleep(self.size.kill_every)
            self.verdict.kills[await asyncio.to_thread(processes.kill_one, self.chance)] += 1
        await asyncio.gather(*working)

    async def _source(self, client: Client, site: SiteHandle, number: int) -> int:
        answering(site, number, self.chance)
        config = SELECTORS | {"ratelimit": 500}
        body = {"name": f"s{number}", "slug": f"s{number}", "baseurl": f"{site.url}s{number}/"}
        extension = {"extensionid": "longline.extension.selectors", "config": config}
        answer = await client.ask("POST", "crawler/sources", body | extension)
        if answer.status_code == 409:  # the server was killed after the row was written
            found = (await client.ask("GET", f"crawler/sources?q=s{number}")).json()["data"]
            return int(found[0]["id"])
        assert answer.status_code == 201, answer.text
        return int(answer.json()["data"]["id"])

    async def _work(self, client: Client, source: int, until: float) -> None:
        """Trigger one job after the other, and enable the source whenever it was disabled."""
        while time.monotonic() < until:
            body: dict[str, Any] = {"sourceid": source}
            if self.chance.random() < 0.3:
                at = datetime.fromtimestamp(time.time() + 1.5, UTC).isoformat()
                body["scheduledat"] = at
            answer = await client.ask("POST", "crawler/jobs", body)
            if answer.status_code == 400:
                self.verdict.disabled += 1
                await client.ask("PATCH", f"crawler/sources/{source}/enable", {"isenabled": True})
                continue
            if answer.status_code == 201:
                self.verdict.triggered += 1
                self.due[answer.json()["data"]["id"]] = answer.json()["data"]["scheduledat"]
            await self._until_ended(client, source)

    async def _until_ended(self, client: Client, source: int) -> None:
        """Wait until no job of the source is open, or cancel one by chance; held jobs wait for an enabled source."""
        path = f"crawler/jobs?sourceid={source}&status=queued,running"
        async with asyncio.timeout(self.size.patience):
            while open_jobs := (await client.ask("GET", path)).json()["data"]:
                if self.chance.random() < 0.01:
                    await client.ask("PATCH", f"crawler/jobs/{open_jobs[0]['id']}/cancel", {"reason": "by chance"})
                await asyncio.sleep(0.2)

    async def _judge(self, database: str) -> None:
        connection: Any = await asyncpg.connect(database)
        try:
            rows = await connection.fetch("SELECT * FROM history ORDER BY id")
            runs = await connection.fetch("SELECT id, uid, state, due, started_at FROM runs WHERE kind = 'series'")
            sources = {row["id"]: row["failures"] for row in await connection.fetch("SELECT id, failures FROM sources")}
        finally:
            await connection.close()
        self._judge_runs(rows, runs)
        self._judge_sources(rows, sources)

    def _judge_runs(self, rows: list[Any], runs: list[Any]) -> None:
        faults = self.verdict.faults
        ends = Counter(row["thing"] for row in rows if row["noun"] == "run" and row["became"] in ENDED)
        left = [row["thing"] for row in rows if row["noun"] == "run" and row["was"] in ENDED]
        faults += [f"run {run} ended {count} times" for run, count in ends.items() if count != 1]
        faults += [f"run {run} was opened again" for run in left]
        for run in runs:
            self.verdict.ends[run["state"]] += 1
            if run["state"] not in ENDED:
                faults.append(f"run {run['id']} is {run['state']}")
            if run["started_at"] is not None and run["started_at"] < run["due"]:
                faults.append(f"run {run['id']} started {run['due'] - run['started_at']} ms before its time")
        known = {run["uid"] for run in runs}
        faults += [f"job {uid} was triggered and is not there" for uid in self.due if uid not in known]

    def _judge_sources(self, rows: list[Any], stored: dict[int, int]) -> None:
        """Replay the history: failures rise by one with each failed job, and fall to zero with a completed one."""
        ends: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
        for row in rows:
            if row["noun"] == "run" and row["became"] in ENDED:
                ends[row["tx"], row["source"]].append(row["became"])
        failures: Counter[int] = Counter()
        enabled: dict[int, bool] = defaultdict(lambda: True)
        noted: set[tuple[int, int]] = set()
        for row in (row for row in rows if row["noun"] == "source"):
            source, key = row["source"], (row["tx"], row["source"])
            if key not in noted:
                noted.add(key)
                for state in ends[key]:
                    failures[source] = {"failed": failures[source] + 1, "completed": 0}.get(state, failures[source])
            if row["enabled"] and not enabled[source]:
                failures[source] = 0
            enabled[source] = row["enabled"]
            self.verdict.steps += 1
            if row["failures"] != failures[source]:
                self.verdict.faults.append(
                    f"source {source}: {row['failures']} failures, {failures[source]} by its jobs"
                )
            if row["enabled"] and row["failures"] >= 5 and not self._follows(rows, row):
                self.verdict.faults.append(f"source {source} is enabled with {row['failures']} failures")
        self.verdict.faults += [
            f"source {source} has {count} failures, and {failures[source]} by its history"
            for source, count in stored.items()
            if count != failures[source]
        ]

    @staticmethod
    def _follows(rows: list[Any], row: Any) -> bool:
        """Return whether the same transaction disables the source in a later statement."""
        later = [each for each in rows if each["tx"] == row["tx"] and each["id"] > row["id"]]
        return any(each["noun"] == "source" and not each["enabled"] for each in later)


async def _execute(database: str, text: str) -> None:
    connection: Any = await asyncpg.connect(database)
    try:
        await connection.execute(text)
    finally:
        await connection.close()


def main() -> None:
    """Run the large form, or another size of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, value in Size()._asdict().items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    parser.add_argument("--seed", type=int, default=1)
    given = vars(parser.parse_args())
    seed = given.pop("seed")
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as place, running_postgres() as server, server.fresh_database() as url:
        verdict = asyncio.run(Storm(Size(**given), seed).run(url, Path(place)))
    print(f"seed {seed}, {time.monotonic() - begun:.0f} s")
    print(f"killed {dict(verdict.kills)}; {verdict.triggered} jobs triggered, ended {dict(verdict.ends)}")
    print(f"found disabled {verdict.disabled} times; {verdict.steps} changes of sources replayed")
    print("\n".join(verdict.faults) or "every promise was kept")


if __name__ == "__main__":
    main()
