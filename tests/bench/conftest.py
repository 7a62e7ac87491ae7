from collections.abc import Iterator
from pathlib import Path

import pytest

from bench import packages, site
from bench.lap import Course
from bench.packages import NoPackage
from tests.bench.small_web import small_web

PAGES = 40


@pytest.fixture(scope="session")
def small_course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Course]:
    """A generated site of a few pages, served."""
    folder = tmp_path_factory.mktemp("bench")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site, "CACHE", folder)
        patch.setattr(site, "unpacked", no_package)
        made = site.prepared(PAGES)
    with small_web(made, folder / "access.log") as served:
        yield Course(made, served, 8, folder, patience=60)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of this test's own."""
    for module in (packages, site):
        monkeypatch.setattr(module, "CACHE", tmp_path)
    return tmp_path


def no_package(package: str) -> Path:
    raise NoPackage(f"{package}: none here")
