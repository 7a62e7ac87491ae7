"""A browser for tests: an installed Chromium, or Debian's headless shell, which root installs once."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
INSTALL = ("apt-get", "install", "-y", "--no-install-recommends", "chromium-headless-shell")
INSTALL_SECONDS = 300


class NoBrowser(Exception):
    """An error without a browser; the text has the command that installs one."""


def chromium_path() -> Path:
    """Return the browser of `CHROMIUM`, the first installed one, or the one that root installs now."""
    if find_spec("playwright") is None:
        raise NoBrowser("Playwright is missing: make setup")
    if found := _installed():
        return found
    command = " ".join(INSTALL)
    if os.geteuid() != 0 or shutil.which(INSTALL[0]) is None:
        raise NoBrowser(f"no Chromium is installed: sudo {command}")
    # One of the processes that run tests installs it, and the others wait.
    with (Path(tempfile.gettempdir()) / "longline-chromium.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _installed() and not (_apt(*INSTALL) or (_apt(INSTALL[0], "update") and _apt(*INSTALL))):
            raise NoBrowser(f"no Chromium is installed, and this fails: {command}")
    if found := _installed():
        return found
    raise NoBrowser(f"no Chromium is installed, and this installs none: {command}")


def _installed() -> Path | None:
    named = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    return Path(named) if named else None


def _apt(*words: str) -> bool:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(words, capture_output=True, env=environment, timeout=INSTALL_SECONDS, check=False)
    return done.returncode == 0
