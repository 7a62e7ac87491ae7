"""The extension and the commands of the manual about catalogues work as printed, against a bundled site."""

import json
import os
import re
import time
from pathlib import Path
from typing import Any

from tests.journeys.place import PATIENCE, Place
from tests.journeys.test_serve import up
from tests.servers.shell import type_command
from tests.surfaces.catalogue.crawling import comic_pages
from tests.web import running_site

MANUAL = Path(__file__).parents[2] / "docs/how-to" / "catalogue.md"
SERVER, SITE = "http://127.0.0.1:8060", "https://comics.example"


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", MANUAL.read_text(encoding="utf-8"), re.DOTALL)


def test_the_extension_is_short():
    [code] = blocks("python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 20


def test_every_command_of_the_page(tmp_path: Path):
    extension = tmp_path / "comics.py"
    extension.write_text(blocks("python")[0])
    env = dict(os.environ) | {"LONGLINE_DATA": str(tmp_path / "data")}
    place = Place(tmp_path / "data")
    with running_site(pages=0) as site, up(place, "--parsers", str(extension)) as platform:
        pages = comic_pages()
        site.site.extra |= {path: f"<title>x</title>{text}".encode() for path, text in pages.items()}

        def typed(line: str) -> str:
            line = line.replace(SERVER, platform.where).replace(SITE, site.url.rstrip("/"))
            done = type_command(line, env, tmp_path)
            assert done.returncode == 0, (line, done.stdout + done.stderr)
            return done.stdout

        def finished(command: str) -> list[str]:
            until = time.monotonic() + PATIENCE
            while True:
                [row] = [line.split("\t") for line in typed(command).splitlines()]
                if row[3] not in ("queued", "running"):
                    return row
                assert time.monotonic() < until, row
                time.sleep(0.3)

        told: list[Any] = []
        printed: dict[str, str] = {}
        for line in [line for block in blocks("sh") for line in block.splitlines()]:
            if line == "longline series runs":
                assert finished(line)[3:6] == ["completed", "4", "0"]
            elif line.startswith("curl"):
                told.append(json.loads(typed(line)))
            else:
                printed[line] = typed(line)
        assert json.loads(printed["longline series health --source 100000"])["states"] == {"completed": 1}
        series = printed['longline series list "Comic 7"'].splitlines()
        assert [line.split("\t")[1] for line in series] == ["Comic 7"]
        assert [answer.get("error") for answer in told] == [None] * 4
        assert told[1]["data"][0]["status"] == "done"
        assert told[2]["data"]["config"] == {"ratelimit": 10}
        # A crawl of the series, by its id.
        started = typed(f"longline series start --source 100000 --series {series[0].split(chr(9))[0]}").strip()
        until = time.monotonic() + PATIENCE
        while "completed" not in (row := _row(typed("longline series runs"), started)):
            assert time.monotonic() < until, row
            time.sleep(0.3)
        assert row[4:6] == ["4", "0"]
        lines = [json.loads(line) for line in typed(f"longline series logs {started}").splitlines()]
        assert {"at", "level", "message", "fields"} == set(lines[0])


def _row(listing: str, uid: str) -> list[str]:
    [row] = [line.split("\t") for line in listing.splitlines() if line.startswith(uid)]
    return row
