"""A link of an outside page never leads to a request to the inside."""

import re
import subprocess
from pathlib import Path

from tests.journeys.archive import ask
from tests.servers import program
from tests.web import running_site


def crawl(url: str, out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return program.run("crawl", url, "--out", str(out), *more)


def test_a_typed_host_is_trusted_and_hosts_it_links_to_are_not(tmp_path: Path):
    with running_site(pages=3) as typed, running_site(pages=3) as other:
        # The same machine by another name: only the first one was typed.
        inside = other.url.replace("127.0.0.1", "127.0.0.2")
        typed.site.extra["/"] = f'<a href="{inside}">in</a>'.encode()
        done = crawl(typed.url, tmp_path / "out", "--offsite", "--depth", "1", "--delay", "0s")
        assert done.returncode == 0, done.stderr
        assert re.search(r"failed\W+egress\W+1\b", done.stdout), done.stdout
        assert not other.requests
        assert ask(tmp_path / "out", "SELECT url FROM tasks WHERE reason = 'egress'") == [(inside,)]
        allowed = crawl(
            typed.url, tmp_path / "in", "--offsite", "--depth", "1", "--delay", "0s", "--egress-allow", "127.0.0.2"
        )
        assert allowed.returncode == 0, allowed.stderr
        assert not re.search(r"\begress\b", allowed.stdout), allowed.stdout
