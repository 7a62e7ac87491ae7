"""One word for one thing: the code uses the glossary, and every door has a word for every state."""

import ast
import importlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from longline.model.states import STATES, Noun, RunState, ScheduleState, TaskState
from tests.house.tree import SRC, Module, modules, read

GLOSSARY = read("docs/glossary.md")

LATER: set[str] = set()
"""Words of the glossary for parts that are not built yet. The name of a module or a class must not be in this list."""

PLAIN = {
    "parent",
    "recrawl_list",
    "cached_property",
    "cookies",
    "duration",
    "error",
    "id",
    "object_metadata",
    "patterns",
    "referer",
    "request_headers",
    "robots",
    "timestamps",
    "url",
    "warc",
} | {
    *("archive", "content_encoding", "discovery", "document", "fetch", "search", "tokenize"),
    *(
        "back_off",
        "bot_policy",
        "console_session",
        "run_view",
        "run_pace",
        "throughput",
        "bot_task",
        "item_table",
        "user_agents",
        "bounded_dict",
        "engine_clock",
        "feed_poll",
        "reasons",
        "retries",
        "page_counts",
        "rate_limit",
        "remote_source",
        "standing_frontier",
    ),
    *(
        "crawl_bounds",
        "candidate_refusal",
        "download_plan",
        "platform_alert",
        "redirect",
        "signal_topic",
        "source_alert",
        "start_page",
    ),
    *("crawl_plan", "slug", "time_zones", "link_resolution", "normalization", "tracking_parameter", "url_credentials"),
    *(
        "handler_hooks",
        "request_limits",
        "source_schedule",
        "source_use",
        "item_column",
        "cpu_time",
        "object_key",
        "side_row",
    ),
    *("frequency", "image_size", "recrawl_settings", "sizing", "url_hash", "webhook_signature"),
    *(
        "proxy_health",
        "idempotency_key",
        "api_key",
        "cookie_file",
        "dead_letter",
        "log_month",
        "histogram",
        "credentials",
        "proxy_selection",
        "storable_text",
        "whole_number",
        "url_globs",
    ),
    *("cron", "door_setting", "download_retries", "pool_fallback", "maintenance_run", "series_run", "series_schedule"),
    *(
        "end_effect",
        "end_judgement",
        "frontier_list",
        "gone_item",
        "item_change",
        "proxy_uri",
        "run_log",
        "token_bucket",
    ),
}
"""Words of the field that need no line in the glossary; a module or folder of the model may be called so."""

BEHIND_DOORS = {"job", "execution", "comic", "comicsource", "crawltask", "locktoken", "lockedby", "auditlog"}
"""Words of contracts for things that have a word in the glossary; no name below the doors may have them."""

CORE = ("model/", "ports/", "html/", "plugins/", "engine/", "services/")

FOREIGN_TEXT = re.compile(
    r"(?<![a-z])(?:jobs?|executions?|polic(?:y|ies)|comics?|comicsource|crawl_?tasks?|lock_?token|locked_?by|auditlog"
    r"|interval_minutes|interval_type|frequency_hours|timeout_minutes|raw_html)(?![a-z])",
    re.IGNORECASE,
)
"""The contracts' words and fields, in texts below the doors."""

BELOW_THE_DOORS = (*CORE, "drivers/", "parsers/")

ALLOWED_TEXTS = {
    "model/downloads/object_metadata.py": {"job-id"},  # an attribute of stored objects
    # Fields of log entries as they are stored and archived, for programs that read the archive or Redis.
    "model/logs/run_log.py": {"job_id", "execution_id"},
    "engine/logs/run_log_keeper.py": {"job_id", "execution_id", "execution_number"},
    "drivers/logs/redis_streams.py": {"job_id", "execution_id"},
    # A hook of the classes that operators write for their manifests.
    "model/manifests/handler_hooks.py": {"finalize_job"},
    # Fields of documents in the search index.
    "model/search/document.py": {"raw_html"},
    "drivers/search/mapping.py": {"raw_html"},
    "parsers/article/article.py": {"raw_html"},
    # The error of a run, stored with it and shown by every API.
    "engine/schedules/scheduler.py": {"job missing required source_id"},
    # A field of another service's sources.
    "engine/sources/remote_source_reader.py": {"feed_poll_interval_minutes"},
    # Words of websites: paths of job adverts, the link type of a privacy policy.
    "parsers/article/content_types.py": {"job", "jobs"},
    "html/links.py": {"privacy-policy"},
    # The name that `longline policies` shows, for advice of `longline doctor`.
    "services/invalid_patterns.py": {"url_pattern of policy "},
}
"""Texts below the doors that users or other programs read as they are, by module."""

TABLES: Mapping[str, Noun] = {"SCHEDULE_WORDS": "schedule", "RUN_WORDS": "run", "TASK_WORDS": "task"}
"""The names that the module of a door's statuses may define: dictionaries from states to the contract's words."""

STATUSES: Mapping[str, str] = {
    "bots": "job_statuses",
    "catalogue": "jobs.job_statuses",
    "intervals": "jobs.job_statuses",
    "manifests": "manifest_statuses",
    "products": "field_types",
}
"""Modules of the statuses, by door."""


def glossary_words() -> list[str]:
    """Return the words in bold in the first column."""
    cells = re.findall(r"^\| \*\*(.+?)\*\* \|", GLOSSARY, re.M)
    return [word.strip() for cell in cells for word in cell.split(",")]


def pieces(name: str) -> list[str]:
    """Return the words of `lease_until` and `HostLease`, in the singular."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    return [singular(word.lower()) for word in words]


def singular(word: str) -> str:
    if word == "series":
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def defined(module: Module) -> Iterable[str]:
    """Yield every name that this module defines."""
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
    """Return words in the names of modules and classes."""
    classes = (node.name for module in tree for node in module.walk() if isinstance(node, ast.ClassDef))
    stems = (Path(module.path).stem for module in tree)
    return {piece for name in (*classes, *stems) for piece in pieces(name)}


def foreign(module: Module) -> list[str]:
    """Return names below the doors that are words of a contract."""
    found = []
    for name in defined(module):
        said = pieces(name)
        both = {"".join(pair) for pair in pairwise(said)}
        if (set(said) | both) & BEHIND_DOORS:
            found.append(f"{module.path}: {name}")
    return found


def texts(module: Module) -> set[str]:
    """Return the texts of a module, without docstrings."""
    docs = {id(node.value) for node in module.walk() if isinstance(node, ast.Expr)}
    return {
        node.value
        for node in module.walk()
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    }


def foreign_texts(module: Module) -> set[str]:
    """Return the texts with a contract's word."""
    return {text for text in texts(module) if FOREIGN_TEXT.search(text)}


def gaps(words: object) -> list[str]:
    """Return the faults of a door's `words`: missing tables, states without a word, words for unknown states."""
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
    """Return the folders of doors that speak a contract; the platform's own paths speak none."""
    found = {path.parent for path in (SRC / "surfaces").glob("*/door.py")}
    return sorted(found - {SRC / "surfaces" / "platform"})


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


def test_contracts_words_stay_behind_their_doors_in_texts_too():
    found = {module.path: foreign_texts(module) for module in modules() if module.path.startswith(BELOW_THE_DOORS)}
    assert {path: said for path, said in found.items() if said} == ALLOWED_TEXTS


def test_contracts_words_are_not_in_the_queries():
    said = (re.sub(r"--.*", "", path.read_text(encoding="utf-8")) for path in (SRC / "drivers").rglob("*.sql"))
    assert not [found for text in said for found in FOREIGN_TEXT.findall(text)]


def test_a_foreign_text_is_seen():
    planted = Module("engine/planted.py", '"""A job."""\nf("Job not found")\ng(f"{x} has job_id")\nh("a runner")\n')
    assert foreign_texts(planted) == {"Job not found", " has job_id"}


def shared_class_names(tree: Iterable[Module]) -> set[str]:
    """Return the names that two classes have; nested and private classes count too."""
    names = [node.name for module in tree for node in module.walk() if isinstance(node, ast.ClassDef)]
    return {name for name, count in Counter(names).items() if count > 1}


def test_class_names_are_used_once():
    allowed = re.search(r"they are listed here, and a test reads the list: (.*?)\.\n", read("CONTRIBUTING.md"), re.S)
    assert allowed
    assert shared_class_names(modules()) == set(re.findall(r"`(\w+)`", allowed[1]))


def test_a_class_name_that_is_used_twice_is_seen():
    planted = [Module("a.py", "class Twice: ...\nclass Once: ...\n"), Module("b.py", "class Twice: ...\n")]
    assert shared_class_names(planted) == {"Twice"}


def test_every_door_has_a_word_for_every_state():
    faults = {
        door.name: gaps(importlib.import_module(f"longline.surfaces.{door.name}.{STATUSES[door.name]}"))
        for door in doors()
    }
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
