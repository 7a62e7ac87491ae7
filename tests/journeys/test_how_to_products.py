"""The commands of the manual about products work as printed, typed into a shell."""

import json
import os
import re
import time
from pathlib import Path
from typing import Any

import httpx

from tests.chaos.products import product_page
from tests.journeys.place import PATIENCE, Place
from tests.journeys.test_serve import up
from tests.servers.shell import type_command
from tests.web import running_site

MANUAL = Path(__file__).parents[2] / "docs/how-to" / "products.md"
SERVER, SHOP = "http://127.0.0.1:8060", "https://shop.example"


def commands() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", MANUAL.read_text(encoding="utf-8"), re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def wait_for_products(where: str, count: int) -> list[dict[str, Any]]:
    until = time.monotonic() + PATIENCE
    while True:
        found: list[dict[str, Any]] = httpx.get(f"{where}/api/products").json()["data"]
        if len(found) == count:
            return found
        assert time.monotonic() < until, found
        time.sleep(0.1)


def test_every_command_of_the_page(tmp_path: Path):
    with running_site(pages=0) as site, up(Place(tmp_path / "data")) as platform:
        site.site.extra |= {f"/p/{n}": product_page(n, n + 0.5) for n in range(1, 5)}
        told, printed = list[Any](), list[str]()
        env = dict(os.environ) | {"LONGLINE_DATA": str(tmp_path / "data")}
        for line in commands():
            typed = line.replace(SERVER, platform.where).replace(SHOP, site.url.rstrip("/"))
            done = type_command(typed.replace('"shop.example"', '"127.0.0.1"'), env, tmp_path)
            assert done.returncode == 0, (line, done.stdout + done.stderr)
            if line.startswith("curl"):
                told.append(json.loads(done.stdout))
            else:
                printed.append(done.stdout)
            if line.endswith("/p/2\"]}'"):
                assert {row["price"] for row in wait_for_products(platform.where, 2)} == {1.5, 2.5}
    assert all(answer["success"] for answer in told)
    assert told[0]["data"]["id"] == 100_000
    assert (printed[0], printed[4]) == ("1 submitted, 0 known or repeated, 0 invalid\n", "1 autumn\n")
    assert printed[-2] == "100000 127.0.0.1: enabled\n"
    assert printed[-1].startswith("llk_")
    assert (told[2]["data"]["total_submitted"], told[2]["data"]["total_duplicates"]) == (1, 1)
    sizing = next(answer["data"] for answer in told if "recommended_proxies" in answer["data"])
    assert sizing["recommended_proxies"] == 6
