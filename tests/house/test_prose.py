"""Prose is plain: few vague pronouns, few texts that begin with a question word, in every kind of text."""

import importlib
import re
from pathlib import Path

import pytest

from tests.house.prose import Text, docstrings, faults, log_messages, paragraphs
from tests.house.tree import ROOT, Module, modules, read

DOCUMENTS = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", *(f"docs/{name}.md" for name in ("README", "start"))]
NAMES = re.compile(r"^ *(?:async )?def (test_\w+)", re.MULTILINE)
VAGUE_NAME = re.compile(r"_(?:what|who|whoever|whatever|whose|somebody|nobody|everybody)(?:_|$)")
HOW_TOS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs/how-to").glob("*.md"))


def command_help() -> list[Text]:
    """Return the sentences of the command reference."""
    lines = read("docs/reference/cli.md").splitlines()
    said = (re.sub(r"^\* `.*?`:?\s*", "", line) for line in lines if line and not line.startswith(("#", "`", "$", "<")))
    return [Text("docs/reference/cli.md", line.strip("* ")) for line in said]


def test_docstrings_are_plain():
    assert not faults(text for module in modules() for text in docstrings(module))


@pytest.mark.parametrize("floor", sorted(path.parent.name for path in (ROOT / "src/longline").glob("*/__init__.py")))
def test_docstrings_of_every_floor_are_plain(floor: str):
    texts = [text for module in modules(ROOT / "src/longline" / floor) for text in docstrings(module)]
    assert not faults(texts)


@pytest.mark.parametrize("folder", ["bench", "tests"])
def test_docstrings_of_tests_and_benchmarks_are_plain(folder: str):
    assert not faults(text for module in modules(ROOT / folder) for text in docstrings(module))


def test_names_of_tests_name_their_subject():
    names = {name for module in modules(ROOT / "tests") for name in NAMES.findall(module.text)}
    assert len(names) > 4000
    assert not sorted(name for name in names if VAGUE_NAME.search(name))


def test_help_of_settings_is_plain():
    keys = importlib.import_module("longline.settings").KEYS
    ignored = importlib.import_module("longline.settings.aliases").IGNORED_VARIABLES
    texts = [Text(name, key.doc) for name, key in keys.items()]
    assert not faults([*texts, *(Text(name, variable.reason) for name, variable in ignored.items())])


def test_help_of_commands_is_plain():
    assert len(command_help()) > 100
    assert not faults(command_help())


def test_log_messages_are_plain():
    texts = [text for module in modules() for text in log_messages(module)]
    assert len(texts) > 80
    assert not faults(texts)


def test_documents_are_plain():
    assert not faults(text for name in [*DOCUMENTS, *HOW_TOS] for text in paragraphs(name, read(name)))


def test_readmes_of_folders_are_plain():
    pages = sorted(Path(ROOT / "src/longline").glob("*/README.md"))
    assert not faults(text for page in pages for text in paragraphs(page.parent.name, page.read_text(encoding="utf-8")))


PLANTED = Module(
    "engine/planted.py",
    '"""What whoever asks is told."""\n'
    'AWAY = "nobody can be called"\n'
    "def f():\n"
    '    """Return a value."""\n'
    "    log.warning(AWAY)\n"
    '    log.log(level, "not a sitemap", extra={"what": 1})\n',
)


def test_a_vague_docstring_is_seen():
    texts = list(docstrings(PLANTED))
    assert [text.words for text in texts] == ["What whoever asks is told.", "Return a value."]
    assert faults(texts) == ["engine/planted.py: module: What whoever asks is told."] * 2


def test_a_vague_log_message_is_seen():
    texts = list(log_messages(PLANTED))
    assert [text.words for text in texts] == ["nobody can be called", "not a sitemap"]
    assert faults(texts) == ["engine/planted.py:5: nobody can be called"]


def test_a_question_word_at_the_beginning_is_seen():
    plain = [Text("", "Interval at which leases are reclaimed.")] * 40
    assert faults([*plain, Text("reap", "How often leases are looked for.")]) == [
        "reap: How often leases are looked for."
    ]
    assert faults([*plain * 2, Text("reap", "How often leases are looked for.")]) == []


def test_code_in_a_document_is_no_prose():
    assert [t.words for t in paragraphs("a.md", "# Title\n\n```\nwho\n```\n\nRun `what`.\n\n| who | may |\n")] == [
        "Title",
        "Run .",
    ]
