"""The commands of the manual about operation and language models work as printed, typed into a shell."""

import json
import os
import re
import shlex
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from longline import __version__
from longline.services.callers.tokens import Tokens
from longline.settings.layers import load
from longline.surfaces.platform.metric_reference import METRIC_TABLE
from tests.cli.conftest import running, surroundings
from tests.journeys.place import LOOPBACK, PATIENCE, Place, wait_until
from tests.journeys.test_how_to_limit import MANUAL, blocks, commands, type_in
from tests.journeys.test_intervals import quick
from tests.journeys.test_schedules import Reader
from tests.servers import program
from tests.servers.process import free_ports
from tests.servers.shell import type_command
from tests.web import running_site

JWT_SECRET = "of all three machines, and long enough to sign"


def type_all(lines: list[str], folder: Path, **given: str) -> dict[str, str]:
    """Return the output of each command, which must succeed."""
    told = {}
    for line in lines:
        done = type_command(line, {**os.environ, **given}, folder)
        assert done.returncode == 0, (line, done.stdout + done.stderr)
        told[line] = done.stdout
    return told


# -- several machines -------------------------------------------------------------------------------------------


def parts() -> list[list[str]]:
    """Return the commands of the three machines, in words."""
    rows = re.findall(r"^\| \d, .* \| `longline (.*)` \|$", (MANUAL / "several-machines.md").read_text(), re.MULTILINE)
    return [shlex.split(row) for row in rows]


@contextmanager
def machines(place: Place, folder: Path) -> Iterator[str]:
    """Run three processes, each with a data folder of its own and the same settings; yield the address of the API."""
    engines = {f"LONGLINE_{name.upper()}": url for name, url in place.engines.items()}
    shared = {**LOOPBACK, **engines, "LONGLINE_JWT_SECRET": JWT_SECRET, "LONGLINE_VAULT_KEY": "v" * 32}
    [port] = free_ports(1)
    with ExitStack() as stack:
        processes = [
            stack.enter_context(running(folder, *words, **shared, **of_machine(folder / f"machine-{number}", port)))
            for number, words in enumerate(parts())
        ]
        yield f"http://127.0.0.1:{port}"
        for process in processes:
            process.send_signal(signal.SIGTERM)
        assert [process.wait(PATIENCE) for process in processes] == [0, 0, 0]


def of_machine(data: Path, port: int) -> dict[str, str]:
    """Return the settings of one machine alone."""
    return {"LONGLINE_DATA": str(data), "LONGLINE_PORT": str(port), "LONGLINE_POLL": "100ms"}


def healthy(where: str) -> bool:
    try:
        return bool(httpx.get(f"{where}/health", timeout=PATIENCE).json()["status"] == "healthy")
    except httpx.TransportError:
        return False


@pytest.mark.servers
def test_three_machines(large_without_tables: Place, tmp_path: Path) -> None:
    place = large_without_tables
    (tmp_path / "longline.toml").write_text("".join(f'{name} = "{url}"\n' for name, url in place.engines.items()))
    told = type_all(commands("several-machines.md"), tmp_path)
    (tmp_path / "longline.toml").unlink()
    assert "applied" in told["longline migrate"]
    assert "fail" not in told["longline doctor"]
    assert [words[0] for words in parts()] == ["api", "worker", "worker"]
    token = Tokens(JWT_SECRET, lambda: time.time_ns() // 1_000_000).issue("admin", "me", 3600)
    with running_site(pages=30) as site, machines(place, tmp_path) as where:
        wait_until(lambda: healthy(where), "every role")
        wait_until(lambda: place.value("SELECT COUNT(*) FROM workers") == 5, "four that fetch, and one for upkeep")
        with httpx.Client(base_url=where, headers={"authorization": f"Bearer {token}"}, timeout=PATIENCE) as client:
            source = {"name": "S", "url": site.url, "rate_limit": "1ms", "max_depth": -1, "parser": "page"}
            made = client.post("/api/v1/sources", json=source).json()["id"]
            job = client.post("/api/v1/jobs", json={"source_id": made, "url": site.url}).json()["id"]
            wait_until(lambda: client.get(f"/api/v1/jobs/{job}").json()["status"] == "completed", "the job")
        assert place.value("SELECT COUNT(*) FROM pages") == 30
    assert place.value("SELECT COUNT(*) FROM workers") == 0, "all have left in good order"


def test_the_file_of_several_machines_is_valid(tmp_path: Path) -> None:
    (block,) = blocks("several-machines.md", "toml")
    file = tmp_path / "longline.toml"
    file.write_text(block)
    settings = load(environ={}, config=file).settings
    assert settings.database.startswith("postgresql://")
    assert settings.vault_key


@pytest.mark.parametrize("unit", [0, 1])
def test_units_of_systemd_start_a_command_that_is_there(unit: int) -> None:
    (line,) = re.findall(
        r"^ExecStart=/opt/longline/bin/longline (.*)$", blocks("operate.md", "ini")[unit], re.MULTILINE
    )
    command, *flags = shlex.split(line)
    told = program.run(command, "--help", env=surroundings({"COLUMNS": "200"}))
    assert told.returncode == 0
    assert not [flag for flag in flags if flag.startswith("--") and flag not in told.stdout]


# -- monitoring and upgrades ------------------------------------------------------------------------------------


def test_monitoring(tmp_path: Path) -> None:
    place = Place(tmp_path / "data")
    with running_site(pages=3) as site, quick(place) as (it, _):
        place.give_work(site, [f"{site.url}nowhere"])
        reader = Reader(it, place, tmp_path, site.url, MANUAL / "monitor.md")
        health = reader.ask()
        [shown] = map(json.loads, blocks("monitor.md", "json"))
        assert shown["status"] == health["status"]
        assert {name: health["checks"][name] | facts for name, facts in shown["checks"].items()} == {
            name: health["checks"][name] for name in shown["checks"]
        }
        scraped = reader.type()
        token = reader.type().strip()
        allowed = httpx.get(f"{it.where}/metrics", headers={"authorization": f"Bearer {token}"}, timeout=PATIENCE)
        assert allowed.status_code == 200
        assert re.search(r"database\s+ok", reader.type())
        wait_until(lambda: place.value("SELECT state FROM runs WHERE kind = 'crawl'") == "completed", "the crawl")
        assert [json.loads(line)["reason"] for line in reader.type().splitlines()] == ["http_4xx"]
        assert reader.commands == []
        it.stop()
    used = re.findall(r"\blongline_\w+", "".join(blocks("monitor.md", "yaml")))
    table = {metric.name: metric for metrics in METRIC_TABLE.values() for metric in metrics}
    assert len(set(used)) == 7
    for name in used:
        metric = table[name.removesuffix("_total")]
        assert name.endswith("_total") == (metric.kind == "counter")
        assert f"# TYPE {metric.name}" in scraped or f"# TYPE {name}" in scraped, name


def test_upgrade(tmp_path: Path) -> None:
    version, check, migrate, doctor = (line.strip() for line in commands("upgrade.md") if line.strip())
    given = {"LONGLINE_DATA": str(tmp_path / "data")}
    before = type_command(check, surroundings(given), tmp_path)
    assert (before.returncode, before.stdout.split(":")[0]) == (1, "pending")
    told = type_all([migrate, version, check, doctor], tmp_path, **given)
    assert "applied" in told[migrate]
    shown = (MANUAL / "upgrade.md").read_text().replace("0.1.0", __version__)
    assert f"   {told[version].strip()}\n   {told[check].strip()}\n" in shown


# -- language models --------------------------------------------------------------------------------------------


def test_language_models(tmp_path: Path) -> None:
    with running_site(pages=3) as site:
        lines = [line.strip() for line in commands("language-models.md") if line.strip()]
        crawled, page = (type_in(line, site, tmp_path) for line in lines)
    assert "completed" in crawled
    assert page.startswith("# ")
