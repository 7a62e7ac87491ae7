"""Packages of the distribution, downloaded and unpacked but not installed: documentation to crawl, and nginx."""

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

CACHE = Path(__file__).with_name(".cache")


class Documentation(NamedTuple):
    """A package of web pages: the folder that becomes the top of a site, and the page to start from."""

    package: str
    folder: str
    start: str


# Eight different generators of pages, in size from 11 to 50 KB a page and in links from 30 to 130.
SITES = (
    Documentation("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html", "/index.html"),
    Documentation("sqlite3-doc", "usr/share/doc/sqlite3", "/index.html"),
    Documentation("libgtk-4-doc", "usr/share/doc/libgtk-4-doc", "/gtk4/index.html"),
    Documentation("python-django-doc", "usr/share/doc/python-django-doc/html", "/index.html"),
    Documentation("cppreference-doc-en-html", "usr/share/cppreference/doc/html/en", "/index.html"),
    Documentation("octave-doc", "usr/share/doc/octave/octave.html", "/index.html"),
    Documentation("cmake-doc", "usr/share/doc/cmake-data/html", "/index.html"),
    Documentation("apache2-doc", "usr/share/doc/apache2-doc/manual", "/en/index.html"),
)


class NoPackage(Exception):
    """An error for a package that cannot be downloaded on this machine."""


def unpacked(package: str) -> Path:
    """Return the folder into which a package is unpacked; the first call downloads it."""
    folder = CACHE / "packages" / package
    if not folder.is_dir():
        if not (shutil.which("apt-get") and shutil.which("dpkg")):
            raise NoPackage(f"{package}: there is no apt-get here")
        _download(package, folder)
    return folder


def _download(package: str, folder: Path) -> None:
    loading = folder.with_name(f"{package}.loading")
    shutil.rmtree(loading, ignore_errors=True)
    loading.mkdir(parents=True)
    _run(["apt-get", "download", "--quiet", package], loading)
    for archive in loading.glob("*.deb"):
        _run(["dpkg", "-x", archive.name, "."], loading)
        archive.unlink()
    # Only a whole package gets the name by which it is found.
    loading.rename(folder)


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoPackage(f"{' '.join(command)}: {done.stderr.strip()[-300:]}")
