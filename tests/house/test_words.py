"""One word for one thing: the glossary is spoken by the code, and every door has a word for every state."""

import ast
import importlib
import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from longline.model.states import STATES, Noun, RunState, ScheduleState, TaskState
from tests.house.tree import SRC, Module, modules, read

GLOSSARY = read("docs/glossary.md")

LATER = {"audit", "target"}
"""Words of the glossary whose part is not built yet. A word that names a module or a class must leave this list."""

PLAIN = {"cached_property", "cookies", "duration", "error", "id", "patterns", "robots", "timestamps", "url", "warc"} | {
    *("archive", "content_encoding", "discovery", "document", "fetch", "search", "tokenize"),
    *("engine_clock", "feed_poll", "outcomes", "rate_limit", "remote_source", "standing_frontier"),
}
"""Words of the field that need no line in the glossary; a module or folder of the model may be called so."""

BEHIND_DOORS = {"job", "execution", "comic", "comicsource", "crawltask", "locktoken", "lockedby", "auditlog"}
"""The contracts' words for things that have a word of ours; nothing below the doors may be called so."""

CORE = ("model/", "ports/", "plugins/", "engine/", "services/")

TABLES: Mapping[str, Noun] = {"SCHEDULE_WORDS": "schedule", "RUN_WORDS": "run", "TASK_WORDS": "task"}
"""What `surfaces/<name>/words.py` may define: dictionaries from our states to the contract's words."""


def glossary_words() -> list[str]:
    """The words in bold in the first column."""
    cells = re.findall(r"^\| \*\*(.+?)\*\* \|", GLOSSARY, re.M)
    return [word.strip() for cell in cells for word in cell.split(",")]


def pieces(name: str) -> list[str]:
    """`lease_until` and `HostLease` in their words, in the singular."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    return [singular(word.lower()) for word in words]


def singular(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def defined(module: Module) -> Iterable[str]:
    """Every name that this module gives to something of its own."""
    yield from module.path.removesuffix(".py").split("/")
    for node in module.walk():
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


def words_used(tree: Iterable[Module]) -> set[str]:
    return {piece for module in tree for name in defined(module) for piece in pieces(name)}


def words_in_sql() -> set[str]:
    texts = (re.sub(r"--.*", "", path.read_text(encoding="utf-8")) for path in SRC.rglob("*.sql"))
    return {piece for text in texts for name in re.findall(r"\w+", text) for piece in pieces(name)}


def words_built(tree: Iterable[Module]) -> set[str]:
    """Words that a module or a class is named after."""
    classes = (node.name for module in tree for node in module.walk() if isinstance(node, ast.ClassDef))
    stems = (Path(module.path).stem for module in tree)
    return {piece for name in (*classes, *stems) for piece in pieces(name)}


def foreign(module: Module) -> list[str]:
    """Names below the doors that speak a contract's language."""
    found = []
    for name in defined(module):
        said = pieces(name)
        both = {"".join(pair) for pair in pairwise(said)}
        if (set(said) | both) & BEHIND_DOORS:
            found.append(f"{module.path}: {name}")
    return found


def gaps(words: object) -> list[str]:
    """What a door's `words` lacks: tables at all, states without a word, words for states that do not exist."""
    tables = {name: noun for name, noun in TABLES.items() if hasattr(words, name)}
    if not tables:
        return [f"defines none of {', '.join(TABLES)}"]
    faults = []
    for name, noun in tables.items():
        has, needs = set(getattr(words, name)), set(STATES[noun])
        faults += [f"{name} has no word for {state}" for state in sorted(needs - has)]
        faults += [f"{name} has a word for {state}, which is no state" for state in sorted(has - needs)]
    return faults


def doors() -> list[Path]:
    return sorted(path.parent for path in (SRC / "surfaces").glob("*/__init__.py"))


def test_the_words_are_read_from_the_glossary():
    words = glossary_words()
    assert {"source", "target", "proxy", "pool", "audit", "line", "token", "role"} <= set(words)
    assert len(words) == len(set(words)), "one word for one thing"


def test_every_word_of_the_glossary_is_used():
    tree = modules()
    used = words_used(tree) | words_in_sql()
    assert not [word for word in glossary_words() if word not in used | LATER]
    assert not sorted(LATER & words_built(tree)), "these are built now: take them off the list"
    assert set(glossary_words()) >= LATER


def test_the_model_is_made_of_words_of_the_glossary():
    known = set(glossary_words()) | PLAIN
    paths = (module.path.removesuffix(".py").removeprefix("model/") for module in modules(SRC / "model"))
    names = {word for path in paths for word in path.split("/")} - {"__init__"}
    assert not sorted(name for name in names if singular(name) not in known and name not in known)


def test_contracts_words_stay_behind_their_doors():
    assert not [fault for module in modules() if module.path.startswith(CORE) for fault in foreign(module)]


def test_every_door_has_its_words():
    assert not [door.name for door in doors() if not (door / "words.py").is_file()]


def test_every_door_has_a_word_for_every_state():
    faults = {door.name: gaps(importlib.import_module(f"longline.surfaces.{door.name}.words")) for door in doors()}
    assert not {name: found for name, found in faults.items() if found}


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (SimpleNamespace(), "defines none"),
        (SimpleNamespace(RUN_WORDS={s: s.value for s in RunState if s != RunState.FAILED}), "no word for failed"),
        (SimpleNamespace(TASK_WORDS={**{s: s.value for s in TaskState}, "gone": "gone"}), "gone, which is no state"),
    ],
)
def test_a_gap_is_seen(words: object, fault: str):
    assert [found for found in gaps(words) if fault in found]


def test_a_total_table_has_no_gap():
    assert gaps(SimpleNamespace(SCHEDULE_WORDS={state: state.value for state in ScheduleState})) == []


def test_a_foreign_word_is_seen():
    planted = Module("engine/planted.py", "class JobQueue: ...\ndef f(lock_token): ...\nmy_jobs = 1\nrun = 2\n")
    assert foreign(planted) == [
        "engine/planted.py: JobQueue",
        "engine/planted.py: my_jobs",
        "engine/planted.py: lock_token",
    ]
