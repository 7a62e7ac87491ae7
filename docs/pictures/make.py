"""Makes the pictures of the manual anew, from what the program really prints: `python docs/pictures/make.py`."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tests.web import running_site

HERE = Path(__file__).parent
WIDTH = 76


def crawl() -> str:
    """A crawl of the test site of five hundred pages, as a terminal shows it."""
    with running_site(pages=500) as site, tempfile.TemporaryDirectory() as folder:
        command = ["longline", "crawl", site.url, "--depth", "10", "--out", "example"]
        done = subprocess.run(
            [sys.executable, "-m", "longline.cli", *command[1:]],
            cwd=folder,
            env=os.environ | {"FORCE_COLOR": "1", "COLUMNS": str(WIDTH), "TERM": "xterm-256color"},
            capture_output=True,
            text=True,
            check=True,
        )
        return f"$ {' '.join(command)}\n{done.stdout.replace(folder + os.sep, '')}"


def picture(text: str, title: str) -> str:
    """Terminal output as SVG, without the web fonts that rich would have it load."""
    # What moves the cursor belongs to the live bar: its last state is enough.
    shown = re.sub(r"\x1b\[[0-9;?]*[A-LN-Za-ln-z]", "", text)
    lines = [line.rpartition("\r")[2] for line in shown.splitlines()]
    bars = [n for n, line in enumerate(lines) if "pages/s" in line]
    shown = "\n".join(line for n, line in enumerate(lines) if n not in bars[:-1])
    console = Console(record=True, width=WIDTH, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - lives as long as the program
    console.print(Text.from_ansi(shown.strip("\n")))
    svg = console.export_svg(title=title)
    return re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)


if __name__ == "__main__":
    (HERE / "crawl.svg").write_text(picture(crawl(), "longline crawl"), encoding="utf-8")
