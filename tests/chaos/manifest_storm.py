"""Manifests through the door in a storm: a misbehaving origin, dying proxies, killed workers, a restarted S3 server.

`python -m tests.chaos.manifest_storm` posts 10 manifests of 1,000 resources. A watcher lists and reads the bucket
during the storm: no object may ever be partial. Afterwards every resource is stored or dead, every object equals the
origin's file, the codes of the dead letters are those of the origin, and a replay completes all but missing files.
"""

import argparse
import asyncio
import json
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from obstore.store import S3Store

from tests.chaos.downloads import Origin, checksum, content, hash_of, treatment
from tests.drivers.http.wire import Peer, serving
from tests.servers.process import free_ports
from tests.servers.program import Program
from tests.servers.proxies import RunningProxy, running_proxy
from tests.servers.s3 import S3Bucket, S3Server, find_weed, launch
from tests.surfaces.manifests.running import HANDLERS, environment

LEASE_SECONDS = 4.0
WORKERS = 2
PATIENCE_SECONDS = 1800.0
CODES = {"error": "HTTP_500", "missing": "HTTP_404", "hang": "DOWNLOAD_TIMEOUT", "short": "DOWNLOAD_TRUNCATED"}
CODES |= {"wrong": "DOWNLOAD_CHECKSUM_MISMATCH"}
BEHIND_PROXIES = {(code, "DOWNLOAD_PROXY_EXHAUSTED") for code in (*CODES.values(), "DOWNLOAD_TOO_LARGE")}
BEHIND_PROXIES |= {("DOWNLOAD_TRUNCATED", "DOWNLOAD_PROXY_FAILED")}
"""Codes of bad files behind proxies: two of three die, and the third one rests after five failures in a row.

A body that breaks off counts against the proxy that forwards it.
"""

ENDLESS = "endless"
PAIRS = 5
"""Pairs of resources with one URL, in each manifest."""


@dataclass
class Verdict:
    """The result of a storm: stored resources, dead letters by code, troubles, objects read, and all faults."""

    stored: int = 0
    dead: Counter[str] = field(default_factory=Counter)
    troubles: Counter[str] = field(default_factory=Counter)
    looks: int = 0
    faults: list[str] = field(default_factory=list)


class EndlessOrigin(Origin):
    """The origin of downloads, with one file that never ends."""

    async def answer(self, peer: Peer) -> None:
        """Answer the requests of one connection."""
        while await peer.request():
            name = peer.path.rpartition("/")[2]
            if name == ENDLESS and not self.healed:
                await peer.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
                with suppress(ConnectionError):
                    while True:
                        await peer.send(b"x" * 65536)
                return
            kind = treatment(name) if not peer.path.startswith("/cdn") and name != ENDLESS else "served"
            kind = "served" if self.healed and kind not in ("missing", "away") else kind
            if not await self._answer(peer, name, kind):
                return


class RestartableS3:
    """An S3 server that can be stopped and started again on its folder and ports."""

    def __init__(self, folder: Path) -> None:
        self._launch = launch(folder, *find_weed())
        self.server = self.start()

    def start(self) -> S3Server:
        """Start the server, and wait until it answers."""
        self._process = subprocess.Popen(self._launch.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while True:
            with suppress(OSError):
                if (found := self._launch.answer()) is not None:
                    return found
            assert time.monotonic() < deadline
            time.sleep(0.1)

    def stop(self) -> None:
        """Stop the server in good order."""
        self._process.terminate()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def restart(self) -> None:
        """Stop for a moment, and start again."""
        self.stop()
        time.sleep(2)
        self.start()


def store_of(bucket: S3Bucket) -> S3Store:
    """Return a client of the bucket."""
    return S3Store(
        bucket.name,
        endpoint=bucket.endpoint,
        access_key_id=bucket.access_key,
        secret_access_key=bucket.secret_key,
        region=bucket.region,
        client_options={"allow_http": True, "timeout": "20s"},
        retry_config={"max_retries": 0},
    )


def name_of(resource_id: str) -> str:
    """Return the name of a resource's file; the first ones of a manifest are pairs, and one file never ends."""
    manifest, _, number = resource_id.partition("-")
    if resource_id == "1-11":
        return ENDLESS
    return f"{manifest}-{int(number) // 2 * 2 if int(number) < 2 * PAIRS else number}"


def resource(resource_id: str, url: str) -> dict[str, Any]:
    """Return an entry of a manifest."""
    hint = checksum(name_of(resource_id))
    return {"id": resource_id, "url": url} | ({"tags": {"checksum_hint": hint}} if hint else {})


def expected_code(resource_id: str) -> str | None:
    """Return the code of a resource that the origin does not serve."""
    name = name_of(resource_id)
    return "DOWNLOAD_TOO_LARGE" if name == ENDLESS else CODES.get(treatment(name))


@contextmanager
def watching(store: S3Store, verdict: Verdict) -> Iterator[None]:
    """List and read objects during the context; a partial object is a fault."""
    stop = threading.Event()

    def look() -> None:
        while not stop.wait(0.05):
            with suppress(Exception):  # the server may be away
                for batch in store.list("resources/"):
                    for one in random.sample(batch, min(20, len(batch))):
                        data = bytes(store.get(one["path"]).bytes())
                        verdict.looks += 1
                        if data != content(name_of(one["path"].rpartition("/")[2])):
                            verdict.faults.append(f"{one['path']}: {len(data)} bytes that the origin does not serve")

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


class Crew:
    """The API and its workers, in processes of their own."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self._folder, self._env = folder, env
        self._api = self._start("api")
        self.workers = [self._start("worker") for _ in range(WORKERS)]

    def _start(self, *words: str) -> "subprocess.Popen[Any]":
        with (self._folder / "log").open("ab") as log:
            return Program(words, env=self._env, stdout=log, stderr=log)

    def trouble(self, number: int) -> str:
        """Kill a worker and start another, or stop one for longer than its lease."""
        place = number % WORKERS
        process = self.workers[place]
        if number % 3:
            process.kill()
            process.wait()
            self.workers[place] = self._start("worker")
            return "SIGKILL"
        process.send_signal(signal.SIGSTOP)
        time.sleep(LEASE_SECONDS * 1.3)
        process.send_signal(signal.SIGCONT)
        return "SIGSTOP"

    def end(self) -> None:
        """Kill every process."""
        for process in (self._api, *self.workers):
            process.kill()
            process.wait()


def settings_file(folder: Path, bucket: S3Bucket, proxies: list[RunningProxy]) -> Path:
    """Write the settings of two job types, one of which goes through proxies."""
    options = f"""
handler = "{HANDLERS}:Counting"
[job_types.{{name}}.options]
file = "{folder / "ends"}"
max_parallel_downloads = 16
retry_backoff_ms = 100
idle_timeout_seconds = 2.0
max_body_bytes = 4000000
"""
    text = f"""
[storage]
provider = "s3"
bucket = "{bucket.name}"
region = "{bucket.region}"
endpoint = "{bucket.endpoint}"
access_key = "{bucket.access_key}"
secret_key = "{bucket.secret_key}"
[job_types.plain]{options.format(name="plain")}
[job_types.proxied]{options.format(name="proxied")}
[job_types.proxied.proxy]
primary = "mixed"
[proxy.pools.mixed]
primary = {json.dumps([one.uri for one in proxies])}
max_retries = 2
"""
    path = folder / "fetchbox.toml"
    path.write_text(text)
    return path


class Door:
    """A client of the API; requests to a busy or unreachable API are repeated."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def ask(self, method: str, path: str, **how: Any) -> Any:
        """Return the answer to a request."""
        deadline = time.monotonic() + 120
        while True:
            with suppress(httpx.TransportError):
                answer = self._client.request(method, path, **how)
                if answer.status_code < 500:
                    assert answer.is_success, answer.text
                    return answer.json()
            assert time.monotonic() < deadline
            time.sleep(0.3)

    def post(self, number: int, urls: dict[str, str], kind: str) -> str:
        """Post a manifest and return its id."""
        resources = [resource(resource_id, url) for resource_id, url in urls.items()]
        body = {"manifest_version": "v1", "metadata": {"number": number}, "resources": resources}
        headers = {"X-Fetchbox-Job-Type": kind, "X-Fetchbox-Idempotency-Key": f"storm {number}"}
        return str(self.ask("POST", "/jobs", json=body, headers=headers)["job_id"])

    def ended(self, jobs: dict[str, str]) -> bool:
        """Return whether all jobs have ended."""
        return all(self.ask("GET", f"/operators/jobs/{one}")["status"] in ("completed", "failed") for one in jobs)

    def letters(self, job_id: str) -> list[dict[str, Any]]:
        """Return the dead letters of a job that were not replayed."""
        params = {"job_id": job_id, "replayed": "false", "limit": 1000}
        found: list[dict[str, Any]] = self.ask("GET", "/operators/dlq", params=params)["records"]
        return found


def judge(door: Door, store: S3Store, jobs: dict[str, str], count: int, verdict: Verdict) -> None:
    """Compare snapshots, objects and dead letters with the origin's treatment of each file."""
    for job_id, kind in jobs.items():
        letters = {one["task"]["resource_id"]: one["failure_code"] for one in door.letters(job_id)}
        job = door.ask("GET", f"/operators/jobs/{job_id}")
        if (job["resource_completed"], job["resource_failed"]) != (count - len(letters), len(letters)):
            verdict.faults.append(f"{job_id}: {job} has {len(letters)} dead letters")
        keys = {one["path"] for batch in store.list(f"resources/{kind}/{job_id}/") for one in batch}
        if len(keys) + len(letters) != count:
            verdict.faults.append(f"{job_id}: {len(keys)} objects and {len(letters)} dead letters")
        for key in keys:
            found, resource_id = store.get(key), key.rpartition("/")[2]
            digest = hash_of(bytes(found.bytes()))
            if not digest == hash_of(content(name_of(resource_id))) == found.attributes.get("sha256"):
                verdict.faults.append(f"{key}: the object differs from what was served, or from its digest")
        verdict.stored += len(keys)
        verdict.dead.update(letters.values())


def judge_codes(door: Door, jobs: dict[str, str], verdict: Verdict) -> None:
    """Compare the codes of dead letters with the ways in which the origin treats files."""
    for job_id, kind in jobs.items():
        for letter in door.letters(job_id):
            resource_id, code = letter["task"]["resource_id"], letter["failure_code"]
            wanted = expected_code(resource_id)
            if code != wanted and not (kind == "proxied" and (wanted, code) in BEHIND_PROXIES):
                said = letter["failure_message"]
                verdict.faults.append(f"{resource_id}: {code} instead of {wanted}, {said}")


def judge_ends(file: Path, jobs: dict[str, str], times: dict[str, int], verdict: Verdict) -> None:
    """Count the calls of the handler at the end of each job."""
    found = Counter(line.split()[0] for line in file.read_text().splitlines())
    for job_id in jobs:
        if found[job_id] != times[job_id]:
            verdict.faults.append(f"{job_id}: finalized {found[job_id]} times instead of {times[job_id]}")


def weather(crew: Crew, s3: RestartableS3, proxies: list[RunningProxy], every: float, verdict: Verdict) -> bool:
    """Make the next trouble; return False after the last one."""
    number = verdict.troubles.total()
    if number >= 14:
        return False
    time.sleep(every)
    if number == 5:
        s3.restart()
        verdict.troubles["S3 restarted"] += 1
    elif number in (3, 8):
        proxies[0 if number == 3 else 1].die()
        verdict.troubles["proxy died"] += 1
    else:
        verdict.troubles[crew.trouble(number)] += 1
    return True


def storm(folder: Path, manifests: int, count: int, every: float, origin: EndlessOrigin, urls: list[str]) -> Verdict:
    """Let a storm pass; the origin runs elsewhere."""
    verdict = Verdict()
    with ExitStack() as stack:
        (folder / "s3").mkdir()
        s3 = RestartableS3(folder / "s3")
        stack.callback(s3.stop)
        bucket = s3.server.create_bucket()
        proxies = [stack.enter_context(running_proxy()) for _ in range(3)]
        port = free_ports(1)[0]
        more = {"LONGLINE_PORT": str(port), "LONGLINE_LEASE": f"{LEASE_SECONDS}s", "LONGLINE_LOG_LEVEL": "warning"}
        env = environment(folder, settings_file(folder, bucket, proxies), **more)
        assert Program(["migrate"], env=env, stdout=subprocess.DEVNULL).wait(60) == 0
        crew = Crew(folder, env)
        stack.callback(crew.end)
        client = stack.enter_context(httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60))
        door, store, jobs = Door(client), store_of(bucket), dict[str, str]()
        stack.enter_context(watching(store, verdict))
        for number in range(manifests):
            kind = "plain" if number % 2 else "proxied"
            ids = [f"{number}-{n}" for n in range(count)]
            jobs[door.post(number, {one: f"{urls[0]}/{name_of(one)}" for one in ids}, kind)] = kind
        _wait(door, jobs, lambda: weather(crew, s3, proxies, every, verdict))
        judge(door, store, jobs, count, verdict)
        judge_codes(door, jobs, verdict)
        judge_ends(folder / "ends", jobs, dict.fromkeys(jobs, 1), verdict)
        heal(door, store, jobs, count, origin, verdict)
        judge_ends(folder / "ends", jobs, dict.fromkeys(jobs, 2), verdict)
    return verdict


def heal(door: Door, store: S3Store, jobs: dict[str, str], count: int, origin: EndlessOrigin, verdict: Verdict) -> None:
    """Replay all dead letters with a healed origin: all but missing files are stored."""
    origin.healed = True
    door.ask("POST", "/operators/dlq/replay", json={})
    _wait(door, jobs, lambda: False)
    healed = Verdict()
    judge(door, store, jobs, count, healed)
    if set(healed.dead) - {"HTTP_404"}:
        verdict.faults.append(f"dead after the replay: {healed.dead}")
    verdict.faults += healed.faults


def _wait(door: Door, jobs: dict[str, str], trouble: Any) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not door.ended(jobs):
        assert time.monotonic() < deadline
        if not trouble():
            time.sleep(0.5)
    time.sleep(3)  # the ends of jobs have effects


async def run(folder: Path, manifests: int, count: int, every: float) -> Verdict:
    """Serve the origin, and let the storm pass in a thread."""
    origin = EndlessOrigin()
    async with serving(origin.answer) as server, serving(origin.answer) as cdn:
        origin.cdn, origin.cdn_host = cdn, "127.0.0.1"
        urls = [f"http://127.0.0.1:{server.port}"]
        return await asyncio.to_thread(storm, folder, manifests, count, every, origin, urls)


def main() -> None:
    """Run a storm and print its verdict."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.manifest_storm", description=__doc__)
    parser.add_argument("--manifests", type=int, default=10)
    parser.add_argument("--resources", type=int, default=1000)
    parser.add_argument("--every", type=float, default=3.0, help="seconds between two troubles")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        begun = time.monotonic()
        verdict = asyncio.run(run(Path(place), asked.manifests, asked.resources, asked.every))
        print(f"{time.monotonic() - begun:.0f} s, stored {verdict.stored}, dead {dict(verdict.dead)}")
        print(f"troubles {dict(verdict.troubles)}, objects read by the watcher {verdict.looks}")
        print(f"faults {verdict.faults[:20] or 'none'}", flush=True)
        sys.exit(bool(verdict.faults))


if __name__ == "__main__":
    main()
