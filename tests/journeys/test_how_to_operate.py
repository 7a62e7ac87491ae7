"""What the manual says about operation and language models is typed into a shell as it stands there."""

import os
from pathlib import Path

import pytest

from longline.settings.layers import load
from tests.journeys.place import Place
from tests.journeys.test_how_to_limit import blocks, commands, type_in
from tests.servers.shell import type_command
from tests.web import running_site


@pytest.mark.servers
def test_several_machines(large_without_tables: Place, tmp_path: Path) -> None:
    (tmp_path / "longline.toml").write_text(
        "".join(f'{name} = "{value}"\n' for name, value in large_without_tables.engines.items())
    )
    told = {}
    for line in commands("operate.md")[1:]:
        done = type_command(line, {**os.environ}, tmp_path)
        assert done.returncode == 0, (line, done.stdout + done.stderr)
        told[line] = done.stdout
    assert "applied" in told["longline migrate"]
    assert "fail" not in told["longline doctor"]


def test_the_file_of_several_machines_is_valid(tmp_path: Path) -> None:
    (block,) = blocks("operate.md", "toml")
    file = tmp_path / "longline.toml"
    file.write_text(block)
    settings = load(environ={}, config=file).settings
    assert settings.database.startswith("postgresql://")
    assert settings.vault_key


def test_language_models(tmp_path: Path) -> None:
    with running_site(pages=3) as site:
        lines = [line.strip() for line in commands("language-models.md") if line.strip()]
        crawled, page = (type_in(line, site, tmp_path) for line in lines)
    assert "completed" in crawled
    assert page.startswith("# ")
