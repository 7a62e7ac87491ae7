"""The web server that serves the site: nginx where there is one or one can be unpacked, else caddy.

It writes a line for each request: fetches are counted at the server and not by the contestants.
"""

import json
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.packages import NoPackage, unpacked
from bench.site import ADDRESSES, Site
from tests.servers.process import Launch, free_ports, running

RIVALS = Path(__file__).parents[1] / ".venv-bench" / "bin"


class NoServer(Exception):
    """An error on a machine without a web server for the site."""


@dataclass(frozen=True)
class Served:
    """A site that can be fetched. `pid` is the server's process, for its share of the machine."""

    name: str
    port: int
    log: Path
    pid: int


@contextmanager
def served(site: Site) -> Iterator[Served]:
    """Serve the site on every address, on one port, for as long as the context lasts."""
    name, program = _program()
    prepare = {"nginx": _nginx, "caddy": _caddy}[name]

    def launch(folder: Path) -> Launch[Served]:
        log, port = folder / "access.log", free_ports(1)[0]
        log.touch()
        command = prepare(program, folder, site, port)
        return Launch(command, lambda: _answer(Served(name, port, log, 0), program))

    with running(launch) as server:
        yield server


def _program() -> tuple[str, str]:
    if found := shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin"):
        return "nginx", found
    try:
        return "nginx", str(unpacked("nginx") / "usr" / "sbin" / "nginx")
    except NoPackage as lacking:
        if (caddy := RIVALS / "caddy").exists():
            return "caddy", str(caddy)
        raise NoServer(f"neither nginx ({lacking}) nor caddy: run `make bench`, or install nginx") from None


def _answer(server: Served, program: str) -> Served | None:
    """Return the server with its process, once it listens on every address."""
    for address in ADDRESSES:
        socket.create_connection((address, server.port), timeout=1).close()
    pid = _process_of(program, str(server.log.parent))
    return Served(server.name, server.port, server.log, pid) if pid else None


def _process_of(program: str, folder: str) -> int | None:
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:  # ended meanwhile
            continue
        if words[0] == program and any(folder in word for word in words):
            return int(entry.name)
    return None


def _nginx(program: str, folder: Path, site: Site, port: int) -> list[str]:
    places = "".join(
        f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    listen = "".join(f"listen {address}:{port} backlog=1024;\n" for address in ADDRESSES)
    (folder / "nginx.conf").write_text(
        f"""daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;
        events {{ worker_connections 4096; }}
        http {{
            {places}
            types {{ text/html html htm; text/plain txt; }}
            log_format fetched '$server_addr $status $request_uri';
            access_log {folder}/access.log fetched;
            sendfile on; tcp_nopush on; keepalive_requests 1000000; open_file_cache max=100000;
            server {{ {listen} root {site.folder}/$server_addr; }}
        }}"""
    )
    return [program, "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")]


def _caddy(program: str, folder: Path, site: Site, port: int) -> list[str]:
    served_by = [
        {"handler": "vars", "root": site.folder + "/{http.request.local.host}"},
        {"handler": "file_server"},
    ]
    server = {
        "listen": [f"{address}:{port}" for address in ADDRESSES],
        "routes": [{"handle": served_by}],
        "automatic_https": {"disable": True},
        "protocols": ["h1"],
        "logs": {"default_logger_name": "fetched"},
    }
    log = {
        "writer": {"output": "file", "filename": str(folder / "access.log"), "roll": False},
        "encoder": {"format": "json"},
        "include": ["http.log.access.fetched"],
    }
    config = {
        "admin": {"disabled": True},
        "logging": {"logs": {"default": {"level": "ERROR"}, "fetched": log}},
        "apps": {"http": {"servers": {"site": server}}},
    }
    (folder / "caddy.json").write_text(json.dumps(config))
    return [program, "run", "--config", str(folder / "caddy.json")]
