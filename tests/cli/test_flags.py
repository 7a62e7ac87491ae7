from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from longline.cli.flags import takes
from longline.settings import KEYS, Loaded


def invoke(*words: str):
    """Call a command that has two settings and a flag of its own with these words."""
    app = typer.Typer(rich_markup_mode=None)

    @app.command()
    @takes("port", "user_agent")
    def show(loaded: Loaded, name: str, twice: Annotated[bool, typer.Option(help="Say it twice.")] = False) -> None:
        """Show something."""
        settings = loaded.settings
        typer.echo(f"{name} {settings.port} {settings.user_agent} {loaded.origins['port']}" * (1 + twice))

    return CliRunner().invoke(app, list(words))


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("PORT", "USER_AGENT"):
        monkeypatch.delenv(f"LONGLINE_{name}", raising=False)


def test_flags_become_settings():
    assert invoke("ann", "--port", "7", "--user-agent", "bot").stdout == "ann 7 bot --port\n"
    assert invoke("ann", "--twice", "--port", "7").stdout.count("ann 7") == 2


def test_without_flags_the_other_layers_apply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LONGLINE_PORT", "8")
    (tmp_path / "own.toml").write_text('user_agent = "file"')
    assert invoke("ann", "--config", "own.toml").stdout == "ann 8 file LONGLINE_PORT\n"


def test_help_is_the_settings_own_sentence():
    said = " ".join(invoke("--help").stdout.split())
    assert "Show something." in said
    assert f"--port NUMBER {KEYS['port'].doc}" in said
    assert f"--user-agent TEXT {KEYS['user_agent'].doc}" in said
    assert "Say it twice." in said
