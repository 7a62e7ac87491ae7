"""The style sheet has no rule for a class that no page has, and the script is short."""

import re
from pathlib import Path

import longline.console

FOLDER = Path(longline.console.__file__).parent
MAX_SCRIPT_LINES = 400
COMPUTED = {f"h{shade}" for shade in range(7)}
"""Classes that drawings compute: the shades of slots."""


def test_every_class_of_the_sheet_is_on_a_page():
    sheet = re.sub(r"/\*.*?\*/", "", (FOLDER / "static" / "console.css").read_text(encoding="utf-8"), flags=re.DOTALL)
    classes = set(re.findall(r"\.([a-zA-Z][\w-]*)", re.sub(r"\{[^{}]*\}", "{}", sheet)))
    sources = [file for file in FOLDER.rglob("*") if file.suffix in (".html", ".py", ".js")]
    text = "\n".join(file.read_text(encoding="utf-8") for file in sources)
    words = set(re.findall(r"[\w-]+", text))
    assert len(classes) > 100
    assert classes - words - COMPUTED == set()


def test_the_script_is_short():
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in FOLDER.glob("static/*.js"))
    assert lines <= MAX_SCRIPT_LINES
