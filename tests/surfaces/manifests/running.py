"""The manifest door of a real program, with workers; only this module of the folder imports longline's start-up."""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from obstore.store import S3Store

from tests.servers.program import Program
from tests.servers.s3 import S3Bucket
from tests.surfaces.manifests.origin import Origin

Json = dict[str, Any]
PATIENCE = 60.0
HANDLERS = "tests.surfaces.manifests.handlers"


@dataclass
class Box:
    """A running service, its client, its origin and its objects."""

    client: httpx.Client
    origin: Origin
    folder: Path
    bucket: S3Bucket | None = None

    def post(self, body: Any, kind: str = "gallery", **headers: str) -> httpx.Response:
        sent = {"Content-Type": "application/json", "X-Fetchbox-Job-Type": kind} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.client.post("/jobs", content=data, headers=sent)

    def submit(self, *paths: str, kind: str = "gallery", **more: Any) -> str:
        """Submit a job with a file for each path of the origin, and return its id."""
        answer = self.post(self.manifest(*paths, **more), kind)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["job_id"])

    def manifest(self, *paths: str, **more: Any) -> Json:
        resources = [
            {"id": f"r{n}", "url": path if "://" in path else f"{self.origin.url}{path}"}
            for n, path in enumerate(paths)
        ]
        return {"manifest_version": "v1", "metadata": {}, "resources": resources} | more

    def job(self, job_id: str) -> Json:
        answer = self.client.get(f"/operators/jobs/{job_id}")
        assert answer.status_code == 200, answer.text
        found: Json = answer.json()
        return found

    def ended(self, job_id: str) -> Json:
        """Wait until a job has ended, and return its snapshot."""
        return self.until(job_id, lambda job: job["status"] in ("completed", "failed"))

    def until(self, job_id: str, wanted: Callable[[Json], bool]) -> Json:
        deadline = time.monotonic() + PATIENCE
        while not wanted(found := self.job(job_id)):
            assert time.monotonic() < deadline, found
            time.sleep(0.05)
        return found

    def letters(self, job_id: str) -> list[Json]:
        answer = self.client.get("/operators/dlq", params={"job_id": job_id})
        assert answer.status_code == 200, answer.text
        found: list[Json] = answer.json()["records"]
        return found

    def log(self, job_id: str, **params: Any) -> list[Json]:
        headers = {"Accept": "application/x-ndjson"}
        answer = self.client.get(f"/operators/jobs/{job_id}/logs", params=params, headers=headers)
        assert answer.status_code == 200, answer.text
        return [json.loads(line) for line in answer.text.splitlines() if line]

    def read(self, key: str) -> bytes:
        """Return an object from the folder or the bucket."""
        if self.bucket is None:
            return (self.folder / "objects" / key).read_bytes()
        return bytes(self._store().get(key).bytes())

    def keys(self, prefix: str) -> list[str]:
        """Return the keys of all objects below a prefix."""
        if self.bucket is None:
            root = self.folder / "objects"
            return sorted(str(one.relative_to(root)) for one in (root / prefix).rglob("*") if one.is_file())
        return sorted(one["path"] for batch in self._store().list(prefix) for one in batch)

    def attributes(self, key: str) -> Json:
        """Return the attributes of an object of a bucket."""
        return dict(self._store().get(key).attributes)

    def _store(self) -> S3Store:
        found = self.bucket
        assert found is not None
        return S3Store(
            found.name,
            endpoint=found.endpoint,
            access_key_id=found.access_key,
            secret_access_key=found.secret_key,
            region=found.region,
            client_options={"allow_http": True},
        )


def config(folder: Path, bucket: S3Bucket | None = None, more: str = "") -> Path:
    """Write a settings file of the contract."""
    store = ""
    if bucket is not None:
        store = f"""
[storage]
provider = "s3"
bucket = "{bucket.name}"
region = "{bucket.region}"
endpoint = "{bucket.endpoint}"
access_key = "{bucket.access_key}"
secret_key = "{bucket.secret_key}"
"""
    text = f"""
[job_types.gallery]
default_headers = {{ "User-Agent" = "FetchBox/1.0", "X-Type" = "gallery", "X-Both" = "type" }}
[job_types.gallery.options]
max_parallel_downloads = 8
retry_backoff_ms = 10
[job_types.other.options]
retry_backoff_ms = 10
[job_types.counted]
handler = "{HANDLERS}:Counting"
[job_types.counted.options]
file = "{folder / "ends"}"
retry_backoff_ms = 10
[job_types.choosy]
handler = "{HANDLERS}:Choosy"
[job_types.choosy.options]
file = "{folder / "ends"}"
[job_types.idle]
handler = "{HANDLERS}:Idle"
[job_types.idle.options]
file = "{folder / "ends"}"
[job_types.picky]
handler = "{HANDLERS}:Picky"
[job_types.placing]
handler = "{HANDLERS}:Placing"
[job_types."bilder ü"]
[job_types.prefixed.storage]
key_prefix = "mine/"
{store}
{more}
"""
    path = folder / "fetchbox.toml"
    path.write_text(text)
    return path


def environment(folder: Path, file: Path, **more: str) -> dict[str, str]:
    ours = {
        "FETCHBOX_CONFIG": str(file),
        "LONGLINE_DATA": str(folder),
        "LONGLINE_PORT": "0",
        "LONGLINE_EGRESS_ALLOW": "127.0.0.0/8",
        "LONGLINE_LOG_LEVEL": "info",
        "LONGLINE_PARSE_PROCESSES": "0",
    }
    return {**os.environ, **ours, **more}


@contextmanager
def serving(words: list[str], environ: dict[str, str], log: Path) -> Iterator[tuple[str, "subprocess.Popen[Any]"]]:
    """Run the program until the context ends, and yield its address."""
    with log.open("ab") as errors:
        program = Program(words, env=environ, stdout=subprocess.PIPE, stderr=errors)
    assert program.stdout is not None
    try:
        line = program.stdout.readline().decode()
        found = re.search(r"listens on (\S+)", line)
        assert found, line + log.read_text()[-4000:]
        yield found[1], program
    finally:
        program.send_signal(signal.SIGTERM)
        try:
            program.wait(30)
        finally:
            program.kill()
            program.stdout.close()
            program.wait()


@contextmanager
def running_box(
    folder: Path, origin: Origin, bucket: S3Bucket | None = None, more: str = "", **environ: str
) -> Iterator[Box]:
    """Yield the whole service on a folder of its own."""
    env = environment(folder, config(folder, bucket, more), **environ)
    with serving(["up"], env, folder / "log") as (address, _), httpx.Client(base_url=address, timeout=60) as client:
        yield Box(client, origin, folder, bucket)
