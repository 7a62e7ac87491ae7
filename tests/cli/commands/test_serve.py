import json
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from longline.cli.commands import serve
from longline.model.errors import BadInput
from longline.settings import Settings, load
from tests.cli.conftest import Command, assert_one_line, running


def greeting(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Return the address that a starting server prints, and its hint for a token; it also prints the console's link."""
    assert process.stdout
    head, hint, link = (process.stdout.readline() for _ in range(3))
    assert " listens on http://127.0.0.1:" in head, head
    assert link.startswith("the console, logged in once: http://127.0.0.1:"), link
    return head.split(" listens on ")[1].split()[0], hint


def ends(process: subprocess.Popen[str], how: int) -> str:
    """Stop a command and return its log."""
    process.send_signal(how)
    said, logged = process.communicate(timeout=60)
    assert (process.returncode, said) == (0, ""), logged
    return logged


@pytest.mark.parametrize(("command", "how"), [("up", signal.SIGTERM), ("up", signal.SIGINT), ("api", signal.SIGTERM)])
def test_a_server_prints_its_address_answers_and_stops(tmp_path: Path, command: str, how: int):
    with running(tmp_path, command, "--port", "0", "--data", "d") as process:
        where, hint = greeting(process)
        answer = httpx.get(f"{where}/health", headers={"X-Request-ID": "me"}, timeout=60)
        assert (answer.status_code, answer.json()["status"]) == (200, "healthy")
        assert httpx.get(f"{where}/metrics", timeout=60).status_code == 200
        logged = ends(process, how)
    made = subprocess.run(hint.removeprefix("a token for it: "), shell=True, cwd="/", capture_output=True, text=True)
    assert (made.returncode, made.stderr) == (0, "")
    lines = [json.loads(line) for line in logged.splitlines()]
    assert {line["service"] for line in lines} == {"crawler"}
    assert [line["path"] for line in lines if line.get("request_id") == "me"] == ["/health"]
    assert lines[-1]["message"] == "stopped", "the end is logged"


def test_a_leashed_worker_ends_with_its_parent(tmp_path: Path):
    words = ("worker", "--roles", "fetch,upkeep", "--leashed", "--log-format", "json")
    with running(tmp_path, *words, CRAWLER_VALIDATE_URLS="1") as process:
        said, logged = process.communicate(timeout=60)  # closes its standard input
    assert (process.returncode, said) == (0, ""), logged
    first = json.loads(logged.splitlines()[0])
    assert (first["level"], first["message"]) == (
        "warning",
        "CRAWLER_VALIDATE_URLS has no effect: every URL is validated",
    )


def test_a_taken_port_is_one_line(longline: Command):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        assert_one_line(longline("up", "--port", port), 1, f"port {port} on 127.0.0.1 is in use")


def test_a_role_that_is_none_is_one_line(longline: Command):
    assert_one_line(longline("worker", "--roles", "fetch,pasre"), 2, 'no role "pasre"; there are ')


def test_processes_for_a_role_that_has_none_are_refused(longline: Command):
    said = "--workers needs the role fetch; parse_processes sets the processes of a worker that parses"
    assert_one_line(longline("worker", "--roles", "parse", "--workers", "2"), 2, said)


def test_roles_are_a_list():
    assert serve.parse_roles("fetch, parse,") == {"fetch", "parse"}
    with pytest.raises(BadInput, match="name at least one of fetch, parse, upkeep"):
        serve.parse_roles(" , ")


@pytest.mark.parametrize(
    ("command", "api", "roles"),
    [(serve.up, True, {"fetch", "parse", "upkeep"}), (serve.api, True, set()), (serve.worker, False, {"parse"})],
)
def test_commands_are_the_same_parts_together_and_apart(
    monkeypatch: pytest.MonkeyPatch, command: Any, api: bool, roles: set[str]
):
    asked: list[Any] = []

    async def note(settings: Settings, **given: Any) -> None:
        asked.append((settings.workers, given["api"], given["roles"]))

    monkeypatch.setattr(serve, "serve", note)
    monkeypatch.setattr("longline.cli.log_setup.set_up", lambda *_: None)
    loaded = load(environ={"LONGLINE_WORKERS": "3"})
    command.__wrapped__(loaded, **({"roles": "parse"} if command is serve.worker else {}))
    assert asked == [(3, api, roles)]
