"""Documents are true: their files and commands exist, generated pages are fresh, and no path of a machine is named."""

import ast
import importlib
import re
import subprocess
import tomllib
from itertools import chain
from pathlib import Path

import pytest

from longline import __version__
from tests.house.tree import ROOT, SRC, Module, modules, project_files, read

SPOKEN = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/README.md", "docs/start.md", "docs/glossary.md"]
FILE_ENDINGS = (".py", ".sql", ".md", ".toml", ".yaml", ".txt")

PROVED_ELSEWHERE = {
    # A driver is proved by the suite of its port, which runs on every engine.
    "drivers/records/": "drivers/records",
    # The table of moves is compared with the contract, the schema and the documents.
    "model/states.py": "house",
    # Structs with one property each; every test of the code that fills them reads it.
    "ports/http.py": "drivers/http",
    "ports/sinks.py": "drivers/sinks",
    "ports/records/frontier/frontier.py": "drivers/records",
    # A door is proved over HTTP, and the services that stand behind one door only are proved with it.
    "surfaces/bots/": "surfaces/bots",
    "surfaces/products/": "surfaces/products",
    "surfaces/catalogue/": "surfaces/catalogue",
    "services/series/": "surfaces/catalogue",
    "engine/series/series_plans.py": "surfaces/catalogue",
    "services/callers/door_settings.py": "surfaces/catalogue",
    "services/bots/access.py": "surfaces/bots",
    "services/search/item_history.py": "surfaces/products",
    "services/proxies/source_alerts.py": "surfaces/products",
    "services/metrics/stored_totals.py": "surfaces/products",
    "services/recrawls/webhooks.py": "surfaces/products",
    "engine/recrawls/webhook_sender.py": "surfaces/products",
    "services/proxies/proxy_figures.py": "surfaces/products",
    "services/sources/recrawled_sources.py": "surfaces/products",
    "services/bots/pulls.py": "surfaces/bots",
    "services/bots/submits.py": "surfaces/bots",
    "services/bots/bots.py": "surfaces/bots",
    "services/bots/policies.py": "surfaces/bots",
    "services/bots/tasks.py": "surfaces/bots",
    "engine/bots/bot_task_upkeep.py": "surfaces/bots",
    "engine/lifecycle/bot_tasks.py": "surfaces/bots",
    # The console is proved over HTTP too, with the services that stand behind its pages alone.
    "console/": "console",
    "services/callers/console_sessions.py": "console",
    "services/runs/run_actions.py": "console",
    "services/logs/live_logs.py": "console",
    "services/overview.py": "console",
    "services/search/global_search.py": "console",
    "model/metrics/throughput.py": "services/metrics",
    "model/callers/console_session.py": "console",
    "model/runs/run_view.py": "console",
    "wiring/doors/console.py": "console",
    # Manifests are proved by a whole program, with their workers and streams.
    "surfaces/manifests/": "surfaces/manifests",
    "services/manifests/": "surfaces/manifests",
    "drivers/manifests/": "surfaces/manifests",
    "engine/lifecycle/manifests.py": "surfaces/manifests",
    "model/manifests/manifest.py": "surfaces/manifests",
    "engine/archive/non_html_objects.py": "surfaces/catalogue",
    "model/recrawls/recrawl.py": "drivers/records/recrawls",
    "wiring/child_worker.py": "wiring/loops",
    "wiring/doors/manifests.py": "surfaces/manifests",
    "wiring/subjects/manifests.py": "surfaces/manifests",
    "wiring/subjects/manifest_streams.py": "surfaces/manifests",
    "cli/commands/fetchbox.py": "cli/commands",
    # Creations and moves of schedules are proved with the services that call them.
    "engine/lifecycle/creation.py": "services/schedules",
    "engine/lifecycle/schedules.py": "services/schedules",
    # The loop of a crawl is proved by whole crawls.
    "services/crawls/crawl_loop.py": "wiring",
    "wiring/subjects/schedules.py": "wiring",
    # Tools of language models are proved by the official client.
    "surfaces/mcp/": "journeys",
    "engine/worker/finished_task.py": "engine/worker",
    "wiring/loops/loop_row.py": "wiring/loops",
    "wiring/loops/server.py": "wiring/loops",
    "plugins/parser_reload.py": "engine/parse",
    "wiring/mcp.py": "journeys",
    # The commands of a process are proved by processes.
    "wiring/doors/bots.py": "surfaces/bots",
    "wiring/doors/products.py": "surfaces/products",
    "wiring/doors/catalogue.py": "surfaces/catalogue",
}
"""Modules, or whole folders of them, without a test file of their own, and the folder below tests/ that proves them."""

USERS_OWN = {"longline.toml"}
"""Files that documents name and users make."""

# Written in pieces, so that this file does not find itself.
REGISTRIES = re.compile("|".join(["py" + "pi", "python" + "hosted", "debian" + r"\.org", "npm" + "js"]), re.I)
MACHINE_PATHS = re.compile(r"(?<![\w.~-])/(?:" + "|".join(["wo" + "rk", "ro" + "ot", "t" + "mp"]) + r")/")
TEMPORARY = re.compile(r"(?<![\w.~-])/" + "t" + "mp/")


# Names in documents


def named_files(text: str) -> list[str]:
    """Return the texts in backticks that look like a file or folder of the project."""
    quoted = re.findall(r"`([\w.][\w./-]*)`", text)
    return sorted({name for name in quoted if name.endswith(FILE_ENDINGS) or _starts_in_a_folder(name)})


def _starts_in_a_folder(name: str) -> bool:
    first, slash, _ = name.partition("/")
    return bool(slash) and any((top / first).is_dir() for top in (ROOT, SRC))


def found(name: str) -> bool:
    """Return true if a name is a path from the top or in the package; a bare file may be anywhere in the latter."""
    anywhere = name in USERS_OWN or ("/" not in name and any(SRC.rglob(name)))
    return anywhere or any((top / name).exists() for top in (ROOT, SRC))


def section(text: str, heading: str) -> str:
    """Return the section with this heading."""
    match = re.search(rf"^#+ [^\n]*{heading}[^\n]*\n(.*?)(?=^#|\Z)", text, re.S | re.M | re.I)
    assert match, f"there is no heading with {heading!r}"
    return match[1]


def steps(text: str) -> list[str]:
    """Return the items of a numbered list, which counts from one without a gap."""
    items: list[str] = []
    for line in text.splitlines():
        if number := re.match(r"(\d+)\. ", line):
            items.append(line)
            assert int(number[1]) == len(items)
        elif items and line.startswith("  "):
            items[-1] += line
    return items


@pytest.mark.parametrize("document", SPOKEN)
def test_files_that_a_document_names_exist(document: str):
    assert not [name for name in named_files(read(document)) if not found(name)]


def test_a_name_that_leads_nowhere_is_seen():
    text = "`engine/nowhere.py`, `model/states.py`, `nothing.sql`, `/health`, `a/b`, `make up`, `states.py`"
    assert [name for name in named_files(text) if not found(name)] == ["engine/nowhere.py", "nothing.sql"]


def test_links_lead_somewhere():
    dead = []
    for name in project_files():
        for link in re.findall(r"\]\(([^)#\s]+)", read(name)) if name.endswith(".md") else []:
            if "://" not in link and not (ROOT / name).parent.joinpath(link).exists():
                dead.append(f"{name}: {link}")
    assert not dead


def test_the_map_of_the_documents_leads_to_every_one_of_them():
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    linked = set(re.findall(r"\]\(([^)#\s]+)", read("docs/README.md")))
    assert not {page for page in pages if not page.startswith("decisions/")} - linked - {"README.md"}


@pytest.mark.parametrize("walk", ["request's walk", "URL's walk", "schedule's walk", "feed's walk", "bot's walk"])
def test_each_walk_is_told_in_steps_that_name_about_ten_files(walk: str):
    told = steps(section(read("ARCHITECTURE.md"), walk))
    assert len(told) >= 4
    assert not [step for step in told if not named_files(step)]
    assert 7 <= len({name for step in told for name in named_files(step)}) <= 16


# Generated documents


def test_the_reference_equals_the_output_of_the_present_code():
    written = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs/reference").glob("*.md")}
    rendered: dict[str, str] = importlib.import_module("longline.cli.generated_files.reference").render()
    stale = sorted(name for name in {*written, *rendered} if written.get(name) != rendered.get(name))
    assert not stale, f"run `make docs`: {stale}"


def test_every_setting_is_documented():
    keys = importlib.import_module("longline.settings").KEYS
    manual = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs/reference").glob("*.md"))
    assert not [name for name in keys if f"`{name}`" not in manual]


# Commands


def make_targets() -> set[str]:
    return set(re.findall(r"^\.PHONY: (.*)$", read("Makefile"), re.M)[0].split())


def test_make_help_lists_every_target():
    said = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert set(re.findall(r"^  make ([\w-]+)", said, re.M)) == make_targets()


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_commands_in_documents_exist(document: str):
    text = read(document)
    spoken = set(re.findall(r"(?:`|^\s*\$?\s*)make ([\w-]+)", text, re.M))
    assert spoken
    assert not spoken - make_targets()


def test_every_make_target_is_told_of():
    told = set(re.findall(r"\bmake ([\w-]+)", read("README.md") + read("CONTRIBUTING.md")))
    assert not make_targets() - told


def untested(pages: dict[str, str], tests: str) -> list[str]:
    """Return pages with commands for a shell that no test reads."""
    return sorted(name for name, text in pages.items() if "```sh\n" in text and f'{name}"' not in tests)


def test_a_test_types_the_commands_of_every_page():
    pages = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("**/*.md")}
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    assert not untested(pages, tests)


def test_a_page_that_no_test_types_is_seen():
    assert untested({"a.md": "```sh\nls\n```", "b.md": "none", "c.md": "```sh\nls\n```"}, 'read("c.md")') == ["a.md"]


def test_the_readme_begins_with_the_two_commands():
    first = "\n".join(read("README.md").splitlines()[:30])
    assert "make up" in first
    assert "make test" in first


# Changelog and decisions


def test_the_changelog_agrees_with_the_version():
    heads = re.findall(r"^## \[(.+?)\](?: - (\d{4}-\d\d-\d\d))?$", read("CHANGELOG.md"), re.M)
    name, date = heads[0]
    if name == "Unreleased":
        assert f"To be released as {__version__}." in section(read("CHANGELOG.md"), r"\[Unreleased\]")
    else:
        assert name == __version__
        assert date
    assert __version__ not in [older for older, _ in heads[1:]]


def test_the_changelog_keeps_its_form():
    kinds = set(re.findall(r"^### (.*)$", read("CHANGELOG.md"), re.M))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_decisions_are_numbered_and_half_a_page():
    pages = sorted((ROOT / "docs/decisions").glob("*.md"))
    numbers = [int(path.name[:4]) for path in pages]
    assert len(set(numbers)) == len(numbers), "a number may be reserved for a decision that has not landed yet"
    for path in pages:
        text = path.read_text(encoding="utf-8")
        parts = re.findall(r"^## (.*)$", text, re.M)
        assert parts == ["Status", "Context", "Decision", "Price"], path.name
        assert len(text.splitlines()) <= 60, f"{path.name} is more than half a page"


def test_every_dependency_was_decided_on():
    project = tomllib.loads(read("pyproject.toml"))["project"]
    apart = {"bench", "replay", "client"}  # these have environments of their own
    extras = (names for extra, names in project["optional-dependencies"].items() if extra not in apart)
    wanted = [*project["dependencies"], *chain.from_iterable(extras)]
    names = {re.split(r"[<>=!~\[; ]", name)[0] for name in wanted}
    pages = [read(f"docs/decisions/{page}.md") for page in ("0001-dependencies", "0018-development-tools")]
    decided = set(re.findall(r"^\| `([\w-]+)` \|", "\n".join(pages), re.M))
    assert decided == names


# Folders and tests


def folders() -> list[Path]:
    return sorted(path.parent for path in SRC.glob("*/__init__.py"))


def below(floor: str) -> set[str]:
    """Return the floors below this one."""
    contracts = tomllib.loads(read("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    layers = next(c["layers"] for c in contracts if c["id"] == "floors")
    names = [re.findall(r"\w+", layer) for layer in layers]
    mine = next(i for i, layer in enumerate(names) if floor in layer)
    return {name for layer in names[mine + 1 :] for name in layer}


def imported_by(folder: Path) -> set[str]:
    """Return the other parts of the package that a folder imports."""
    found: set[str] = set()
    for module in modules(folder):
        for node in module.walk():
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            found |= {name.split(".")[1] for name in names if name.startswith("longline.")}
    return found - {folder.name}


def test_every_folder_has_a_readme_with_its_purpose_and_imports():
    for folder in folders():
        lines = (folder / "README.md").read_text(encoding="utf-8").splitlines()
        assert len(lines) == 4, folder.name
        assert lines[0].startswith(f"# {folder.name}"), folder.name
        assert re.findall(r"^- \*\*(.+?)\*\*", "\n".join(lines), re.M) == ["Is", "May import", "Must never"], (
            folder.name
        )
        may = set(re.findall(r"`(\w+)`", lines[2]))
        assert may <= below(folder.name), folder.name
        assert imported_by(folder) <= may, f"{folder.name} imports more than its README allows"


def does_something(module: Module) -> bool:
    """Return true if a module has a function with a body; structs and Protocols are proved where they are used."""
    defs = (node for node in module.walk() if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return any(not isinstance(part, ast.Expr) for node in defs for part in node.body)


def mirror(path: str) -> Path:
    """Return the place of the tests of a module; those of a package's own code are named after the package."""
    parts = path.removesuffix(".py").split("/")
    folder, name = (parts[:-2], parts[-2]) if parts[-1] == "__init__" else (parts[:-1], parts[-1])
    return ROOT.joinpath("tests", *folder, f"test_{name.strip('_')}.py")


def excused(path: str) -> set[str]:
    """Return entries of the list that excuse this module, if there are tests where they point."""
    entries = {e for e in PROVED_ELSEWHERE if path == e or (e.endswith("/") and path.startswith(e))}
    return {e for e in entries if any((ROOT / "tests" / PROVED_ELSEWHERE[e]).glob("test_*.py"))}


def test_tests_mirror_the_source():
    needing = [module.path for module in modules() if does_something(module)]
    missing = [path for path in needing if not mirror(path).is_file()]
    assert not [path for path in missing if not excused(path)]
    used = {entry for path in missing for entry in excused(path)}
    assert set(PROVED_ELSEWHERE) == used, "an entry that no module needs"


# Hosts and machines


def indiscretions(name: str, text: str) -> list[str]:
    """Return lines that name a package registry or a path of one machine."""
    own = text.splitlines()
    said = [line for line in own if REGISTRIES.search(line) or MACHINE_PATHS.search(line)]
    if name.startswith("tests/"):
        said = [line for line in said if REGISTRIES.search(line) or MACHINE_PATHS.search(TEMPORARY.sub("", line))]
    return [f"{name}: {line.strip()[:120]}" for line in said]


def test_no_file_names_a_registry_or_a_machine():
    assert not [line for name in project_files() for line in indiscretions(name, read(name))]


@pytest.mark.parametrize(
    ("name", "line", "seen"),
    [
        ("requirements/dev.txt", "--index-url https://" + "py" + "pi.org/simple", True),
        ("README.md", "see /" + "wo" + "rk/main", True),
        ("docs/start.md", "ls /" + "t" + "mp/x", True),
        ("tests/test_x.py", "ls /" + "t" + "mp/x", False),
        ("tests/test_x.py", "ls /" + "ro" + "ot/x", True),
        ("README.md", "docs/" + "wo" + "rk/x and ~/" + "t" + "mp/", False),
    ],
)
def test_an_indiscretion_is_seen(name: str, line: str, seen: bool):
    assert bool(indiscretions(name, line)) is seen
