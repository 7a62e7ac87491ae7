import os
import stat
from pathlib import Path

import pytest

from tests.servers import chromium
from tests.servers.chromium import NoBrowser, chromium_path


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of programs, with root as the user."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(chromium, "find_spec", lambda _: True)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    return tmp_path


def add(folder: Path, name: str, text: str = "") -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def installer(folder: Path, needs: str = "") -> None:
    """Write an apt-get that records its words, and installs the browser if the file it needs is there."""
    there = f'[ -e "{folder}/{needs}" ] || exit 100;' if needs else ""
    copy = f'printf "" > "{folder}/chromium-headless-shell"; /bin/chmod +x "{folder}/chromium-headless-shell"'
    update = f'[ "$1" = update ] && printf "" > "{folder}/lists" && exit 0;'
    add(folder, "apt-get", f'echo "$@" >> "{folder}/said"; {update} {there} {copy}')


def test_an_installed_browser_is_found(programs: Path, monkeypatch: pytest.MonkeyPatch):
    other = add(programs, "google-chrome")
    assert chromium_path() == other
    better = add(programs, "chromium")
    assert chromium_path() == better
    monkeypatch.setenv("CHROMIUM", "/opt/own")
    assert chromium_path() == Path("/opt/own")


def test_root_installs_the_browser_once(programs: Path):
    installer(programs)
    assert chromium_path() == chromium_path() == programs / "chromium-headless-shell"
    assert (programs / "said").read_text() == "install -y --no-install-recommends chromium-headless-shell\n"


def test_lists_of_packages_that_are_missing_are_fetched(programs: Path):
    installer(programs, needs="lists")
    assert chromium_path() == programs / "chromium-headless-shell"
    assert [line.split()[0] for line in (programs / "said").read_text().splitlines()] == [
        "install",
        "update",
        "install",
    ]


def test_without_the_right_to_install_the_error_has_the_command(programs: Path, monkeypatch: pytest.MonkeyPatch):
    add(programs, "apt-get", "exit 1")
    with pytest.raises(NoBrowser, match="and this fails: apt-get install"):
        chromium_path()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(NoBrowser, match="sudo apt-get install -y --no-install-recommends chromium-headless-shell"):
        chromium_path()
    monkeypatch.setattr(chromium, "find_spec", lambda _: None)
    with pytest.raises(NoBrowser, match="make setup"):
        chromium_path()
