"""The manual about jobs on a schedule works as printed."""

import json
import re
from pathlib import Path
from typing import Any

from tests.cli.conftest import surroundings
from tests.journeys.place import Place, wait_until
from tests.journeys.test_intervals import Client, quick
from tests.journeys.test_serve import Up
from tests.journeys.test_start import EXAMPLE, newspaper
from tests.servers.shell import type_command

MANUAL = Path(__file__).parents[2] / "docs/how-to/schedules.md"


class Reader:
    """A user who types the commands of the manual in order; port, site, waits and ids are replaced by the test's."""

    def __init__(self, it: Up, place: Place, home: Path, site: str, manual: Path = MANUAL) -> None:
        port = it.where.rpartition(":")[2]
        (home / ".curlrc").write_text(f'silent\nfail-with-body\nconnect-to = "localhost:8060:127.0.0.1:{port}"\n')
        self._given = {"CURL_HOME": str(home), "LONGLINE_DATA": str(place.data)}
        if database := place.engines.get("database"):
            self._given["LONGLINE_DATABASE"] = database
        self.called = {EXAMPLE: site, '"2s"': '"1ms"'}  # a site of the test needs no patience
        blocks = re.findall(r"```sh\n(.*?)```", manual.read_text(encoding="utf-8"), re.DOTALL)
        self.commands = re.split(r"^(?=curl |longline |export )", "".join(blocks), flags=re.MULTILINE)[1:]

    def type(self) -> str:
        """Return the output of the next command, which must succeed."""
        command = self.commands.pop(0)
        for word, ours in self.called.items():
            command = command.replace(word, ours)
        # Each command is typed into a shell of its own, which must have the variables that an earlier one has set.
        shown = command.replace("export JWT=", "printf %s ")
        done = type_command(shown, surroundings(self._given))
        assert done.returncode == 0, (command, done)
        if shown != command:
            self._given["JWT"] = done.stdout
        return done.stdout

    def ask(self) -> Any:
        """Return the output of the next command, read as JSON."""
        return json.loads(self.type())


def _ended(client: Client, job: str, runs: int) -> bool:
    done = [run["status"] for run in client.runs(job)] == ["completed"] * runs
    return done and client.get(f"/api/v1/jobs/{job}")["status"] in ("completed", "scheduled")


def test_jobs_by_the_manual(place: Place, tmp_path: Path) -> None:
    with newspaper() as (site, asked), quick(place) as (it, client):
        reader = Reader(it, place, tmp_path, site)
        assert reader.commands.pop(0) == "longline up\n"
        reader.type()
        assert reader.ask()["status"] == "healthy"
        reader.called["{source}"] = reader.ask()["id"]
        reader.called["{job}"] = once = reader.ask()["id"]
        wait_until(lambda: _ended(client, once, 1), "the end of the job that runs once")
        reader.called["{recurring}"] = again = reader.ask()["id"]
        [run] = reader.ask()["executions"]
        assert (run["status"], run["items_crawled"], run["items_indexed"]) == ("completed", 2, 1)
        wait_until(lambda: client.get(f"/api/v1/jobs/{once}/logs")["executions"][0]["log_available"], "its log")
        assert reader.ask()["lines"][-1]["message"] == "run completed"
        wait_until(lambda: _ended(client, again, 1), "the first run of the other")
        assert "Late again" in reader.type()
        assert {line.split("\t")[9] for line in reader.type().splitlines()} == {once, again}
        assert reader.ask()["job_id"] == again
        wait_until(lambda: _ended(client, again, 2), "a run that was asked for")
        assert [reader.ask()["status"] for _ in range(3)] == ["paused", "scheduled", "cancelled"]
        assert reader.ask()["queued"]
        assert [row["url"] for row in reader.ask()["urls"]] == [f"{site}story/a-ferry-that-was-late"]
        wait_until(lambda: "/story/a-ferry-that-was-late" in asked, "the single page")
        assert reader.ask()["config"]["page_types"] == ["article", "event"]
        assert reader.ask()["config"] == {"never_follow": False, "page_types": False}
        assert reader.commands == []
        it.stop()
