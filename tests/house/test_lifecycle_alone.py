"""Only `engine/lifecycle/` moves a schedule, a run or a task, and only by guarded statements."""

import ast
import re

import pytest

from tests.house.tree import SRC, Module, modules

WRITING_PORTS = {"frontier", "hands", "moves", "task_moves", "ticks", "bot_tasks", "download_runs"}
WRITING_STORES = {
    "FrontierStore",
    "TaskLeaseStore",
    "MoveStore",
    "TaskMoveStore",
    "TickStore",
    "BotTaskStore",
    "DownloadAdmissionStore",
}
MAY_TOUCH_THEM = ("engine/lifecycle/", "wiring/", "drivers/", "ports/records/")

STATEMENTS = {
    "frontier/worker_report.sql": {"rest_tasks"},
    "runs/run_counters.sql": {"end_run"},
    "frontier/lifecycle_moves.sql": {"move_schedule", "move_run", "cancel_tasks"},
    "frontier/task_moves.sql": {"move_tasks"},
    "schedules/ticks.sql": {"start_schedules", "launch_runs", "end_runs", "turn_schedules"},
}
"""Every statement that may change a state, by file."""

_CHANGES_STATE = re.compile(
    r"\bUPDATE\s+(?:schedules|runs|tasks)\b.*?\bSET\b(?:(?!\bWHERE\b).)*?\bstate\s*=", re.S | re.I
)
_GUARD = re.compile(r"\bWHERE\b.*\bstate\s*=\s*(?::was|r\.was)\b", re.S | re.I)


CREATING = {
    "runs": {"add", "ensure"},
    "schedules": {"add", "add_all"},
    "bot_schedules": {"add"},
}
"""Calls that create a run or a schedule, by the name of their store."""


def creations(module: Module) -> list[str]:
    """Return the places at which a module creates a run or a schedule past the lifecycle."""
    if module.path.startswith(("engine/lifecycle/", "drivers/")):
        return []
    found = []
    for node in module.walk():
        match node:
            case ast.Call(func=ast.Attribute(attr=attr, value=ast.Attribute(attr=store) | ast.Name(id=store))):
                if attr in CREATING.get(store.lstrip("_"), ()):
                    found.append(f"{module.path}:{node.lineno} {store}.{attr}")
    return found


def touches(module: Module) -> list[str]:
    """Return the places at which a module uses a port that it may not use."""
    if module.path.startswith(MAY_TOUCH_THEM):
        return []
    found = []
    for node in module.walk():
        match node:
            case ast.Attribute(attr=attr, value=value) if attr.lstrip("_") in WRITING_PORTS:
                # An event has a field `moves`, which is a text.
                if not (isinstance(value, ast.Name) and value.id == "event"):
                    found.append(f"{module.path}:{node.lineno} .{attr}")
            case ast.ImportFrom(module=str(source)) if source.startswith("longline.ports.records"):
                names = {alias.name for alias in node.names} & WRITING_STORES
                found += [f"{module.path}:{node.lineno} {name}" for name in sorted(names)]
    return found


def sql_in_python(module: Module) -> list[str]:
    """Return texts in Python that would change a state; a gap of an f-string may be any table."""
    found = []
    for node in module.walk():
        match node:
            case ast.Constant(value=str(text)):
                pass
            case ast.JoinedStr(values=parts):
                text = "".join(str(part.value) if isinstance(part, ast.Constant) else "tasks" for part in parts)
            case _:
                continue
        if _CHANGES_STATE.search(text):
            found.append(f"{module.path}:{node.lineno}")
    return found


def statements(text: str) -> dict[str, str]:
    """Return named queries of a file, without comments to the end of the line."""
    parts = re.split(r"^-- name: (\w+).*$", text, flags=re.M)[1:]
    return {name: re.sub(r"--.*", "", body) for name, body in zip(parts[::2], parts[1::2], strict=True)}


def state_changing() -> dict[str, dict[str, str]]:
    """Return statements that change a state: file -> name -> text. Migrations change tables, not states."""
    found, folder = {}, SRC / "drivers/records/sql"
    for path in sorted(path for path in folder.rglob("*.sql") if path.parent.name != "migrations"):
        named = statements(path.read_text(encoding="utf-8"))
        found[path.relative_to(folder).as_posix()] = {
            name: body for name, body in named.items() if _CHANGES_STATE.search(body)
        }
    return {name: named for name, named in found.items() if named}


def test_no_other_module_touches_the_ports_that_write_states():
    assert not [found for module in modules() for found in touches(module)]


def test_no_other_module_creates_a_run_or_a_schedule():
    allowed = {"engine/parse/process_pool.py"}  # a set of running parsers
    assert not [found for module in modules() if module.path not in allowed for found in creations(module)]


@pytest.mark.parametrize("call", ["records.runs.add(new)", "self._runs.ensure(new)", "self._schedules.add_all([new])"])
def test_a_creation_past_the_lifecycle_is_seen(call: str):
    text = f"async def f(self, records, new): await {call}"
    assert creations(Module("services/planted.py", text))
    assert not creations(Module("engine/lifecycle/moves.py", text))


def test_there_is_a_lifecycle_and_it_does():
    lifecycle = Module("engine/elsewhere.py", (SRC / "engine/lifecycle/moves.py").read_text(encoding="utf-8"))
    assert touches(lifecycle)


def test_states_are_changed_by_these_statements_only():
    assert {name: set(named) for name, named in state_changing().items()} == STATEMENTS


def test_every_such_statement_is_guarded_by_the_state_that_was():
    unguarded = [name for named in state_changing().values() for name, body in named.items() if not _GUARD.search(body)]
    assert not unguarded


def test_no_python_text_changes_a_state():
    assert not [found for module in modules() for found in sql_in_python(module)]


@pytest.mark.parametrize(
    "text",
    [
        "async def f(records): await records.frontier.claim(1, 2, 3, 4)",
        "async def f(self): await self._hands.reap(1)",
        "async def f(self): return self.records.moves",
        "from longline.ports.records.frontier.frontier import MoveStore",
        "from longline.ports.records.bots import BotTaskStore",
    ],
)
def test_a_trespass_is_seen(text: str):
    assert touches(Module("services/planted.py", text))
    assert not touches(Module("engine/lifecycle/moves.py", text))


def test_reading_an_events_list_is_no_trespass():
    assert not touches(Module("services/planted.py", "def f(event): return event.moves"))


@pytest.mark.parametrize(
    "text",
    [
        "UPDATE tasks SET state = 'failed' WHERE id = 1",
        "update runs\nset token = token + 1, state=:became",
        "UPDATE schedules SET due = 1,\n state = :x WHERE state = :was",
    ],
)
def test_a_statement_that_changes_a_state_is_seen(text: str):
    assert sql_in_python(Module("services/planted.py", f"sql = {text!r}"))


def test_a_table_filled_in_later_hides_nothing():
    assert sql_in_python(Module("services/planted.py", "sql = f'UPDATE {table} SET state = 1'"))


def test_a_condition_on_the_state_is_no_change():
    assert not sql_in_python(Module("x.py", "sql = 'UPDATE runs SET owner = NULL WHERE state = :was'"))
