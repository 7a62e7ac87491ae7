import shutil
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from bench import web
from bench.fetches import FetchLog
from bench.lap import Course
from bench.packages import CACHE, NoPackage
from bench.site import ADDRESSES
from bench.usage import resident_bytes

PROGRAMS = {
    "nginx": shutil.which("nginx", path="/usr/sbin:/usr/bin") or str(CACHE / "packages/nginx/usr/sbin/nginx"),
    "caddy": str(web.RIVALS / "caddy"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_server_serves_and_counts(name: str, small_course: Course, monkeypatch: pytest.MonkeyPatch):
    if not Path(PROGRAMS[name]).exists():
        pytest.skip(f"{name} comes with `make bench`")
    monkeypatch.setattr(web, "_program", lambda: (name, PROGRAMS[name]))
    with web.served(small_course.site) as server:
        log = FetchLog(server.log)
        with urlopen(f"http://{ADDRESSES[5]}:{server.port}/page-1.html") as answer:
            assert answer.headers["content-type"].startswith("text/html")
            assert answer.read() == (Path(small_course.site.folder) / ADDRESSES[5] / "page-1.html").read_bytes()
        with pytest.raises(HTTPError) as missing:
            urlopen(f"http://{ADDRESSES[0]}:{server.port}/none.html")
        missing.value.close()
        assert log.fetches() == {(ADDRESSES[5], 200, "/page-1.html"): 1, (ADDRESSES[0], 404, "/none.html"): 1}
        assert resident_bytes(server.pid) > 0


def test_without_any_server_the_error_names_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def none(package: str) -> Path:
        raise NoPackage("no apt-get")

    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    monkeypatch.setattr(web, "unpacked", none)
    monkeypatch.setattr(web, "RIVALS", tmp_path)
    with pytest.raises(web.NoServer, match="make bench"):
        web._program()
