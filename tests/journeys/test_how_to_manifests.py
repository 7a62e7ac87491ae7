"""The manual about manifests works as printed: settings, a manifest, commands and a handler."""

import json
import os
from pathlib import Path

import httpx

from tests.journeys.test_how_to_limit import blocks, commands
from tests.servers.shell import type_command
from tests.surfaces.manifests.origin import content, running_origin
from tests.surfaces.manifests.running import Box, environment, serving

PAGE = "manifests.md"
HANDLED = '\n[job_types.handled]\nhandler = "shop.handlers:Gallery"\n'


def test_the_page_of_manifests(tmp_path: Path):
    [toml], [body], [handler] = blocks(PAGE, "toml"), blocks(PAGE, "json"), blocks(PAGE, "python")
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").touch()
    (tmp_path / "shop" / "handlers.py").write_text(handler)
    file = tmp_path / "fetchbox.toml"
    file.write_text(toml + HANDLED)
    env = environment(tmp_path, file, PYTHONPATH=f"{tmp_path}:{Path.cwd()}")
    with (
        running_origin() as origin,
        serving(["up"], env, tmp_path / "log") as (address, _),
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        box = Box(client, origin, tmp_path)
        manifest = json.loads(body.replace("https://cdn.example.com", origin.url))
        job_id = box.post(manifest).json()["job_id"]
        assert box.ended(job_id)["status"] == "completed"
        assert box.read(f"gallery/{job_id}/cover") == content("/cover.jpg")
        handled = box.post(manifest, "handled").json()["job_id"]
        assert box.ended(handled)["status"] == "completed"
        assert box.read("pictures/cover") == content("/cover.jpg")
        assert box.post(manifest | {"metadata": {}}, "handled").status_code == 400
        for line in commands(PAGE):
            done = type_command(line, {**os.environ, **env}, tmp_path)
            assert done.returncode == 0, (line, done.stdout + done.stderr)
        assert job_id in (tmp_path / "snapshots.jsonl").read_text()
