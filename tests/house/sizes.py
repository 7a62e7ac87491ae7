"""Sizes of modules, classes and functions, and their bounds. `python -m tests.house.sizes` prints the table."""

import ast
import io
import math
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from statistics import median

from tests.house.tree import ROOT, Module, modules

Function = ast.FunctionDef | ast.AsyncFunctionDef

HARD = {
    "module lines": 500,
    "function lines": 60,
    "class lines": 250,
    "public methods of a class": 12,
    "methods of a port": 12,
    "parameters of a function": 7,
    "body of a service method": 25,
    "body of a route handler": 15,
}
"""The greatest size of all."""

NINE_IN_TEN = {"module lines": 400, "function lines": 25}
"""The greatest size of nine in ten."""

MODULES_PER_FOLDER = 15

SUPPRESSIONS_PER_1000 = 2
BAD_NAMES = {"util", "utils", "helper", "helpers", "common", "manager", "managers", "base", "misc"}
SHORT_NAMES = {"s3"}  # the name that the field uses
ROUTES = {"get", "post", "put", "patch", "delete", "head", "route", "websocket", "operation"}
CONTAINERS = {"list", "dict", "set", "defaultdict", "deque", "Counter", "OrderedDict", "WeakValueDictionary"}
CHANGERS = {"append", "extend", "insert", "add", "update", "setdefault", "pop", "popitem", "remove", "discard", "clear"}


@dataclass(frozen=True)
class Size:
    """One measured module, class or function."""

    measure: str
    where: str
    amount: int


def functions(module: Module) -> Iterator[Function]:
    """Yield every function with a body; the stubs of Protocols have no size."""
    for node in module.walk():
        if isinstance(node, Function) and not _is_stub(node):
            yield node


def _is_stub(node: Function) -> bool:
    return all(isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) for part in node.body)


def _lines(node: Function | ast.ClassDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _body_lines(node: Function) -> int:
    told = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
    body = node.body[1:] if told else node.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def _parameters(node: Function) -> int:
    named = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    return len(named) - (named[:1] in (["self"], ["cls"]))


def _methods(node: ast.ClassDef) -> list[Function]:
    return [part for part in node.body if isinstance(part, Function) and not part.name.startswith("_")]


def _is_protocol(node: ast.ClassDef) -> bool:
    return any(ast.unparse(b).split("[")[0].rpartition(".")[2] == "Protocol" for b in node.bases)


def _is_route(node: Function) -> bool:
    calls = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
    return any(ast.unparse(call).rpartition(".")[2] in ROUTES for call in calls)


def measure(tree: Sequence[Module]) -> list[Size]:
    """Measure all subjects that have a bound."""
    return [size for module in tree for size in _measure_module(module)]


def _measure_module(module: Module) -> Iterator[Size]:
    yield Size("module lines", module.path, module.lines)
    for function in functions(module):
        where = f"{module.path}:{function.lineno} {function.name}"
        yield Size("function lines", where, _lines(function))
        yield Size("parameters of a function", where, _parameters(function))
        if module.path.startswith("services/"):
            yield Size("body of a service method", where, _body_lines(function))
        if module.path.startswith(("surfaces/", "console/")) and _is_route(function):
            yield Size("body of a route handler", where, _body_lines(function))
    for node in module.walk():
        if isinstance(node, ast.ClassDef):
            where = f"{module.path}:{node.lineno} {node.name}"
            port = module.path.startswith("ports/") and _is_protocol(node)
            yield Size("class lines", where, _lines(node))
            yield Size("methods of a port" if port else "public methods of a class", where, len(_methods(node)))


def over(sizes: Iterable[Size]) -> list[str]:
    """Return the violations of hard bounds."""
    return [f"{s.where}: {s.measure} {s.amount} > {HARD[s.measure]}" for s in sizes if s.amount > HARD[s.measure]]


def ninth_decile(amounts: Sequence[int]) -> int:
    """Return the amount that nine of ten do not exceed."""
    return sorted(amounts)[math.ceil(0.9 * len(amounts)) - 1] if amounts else 0


def crowded(paths: Iterable[str]) -> list[tuple[str, int]]:
    """List the folders with more modules than a reader can survey; the flat list of commands is excepted."""
    folders = Counter(
        PurePosixPath(path).parent.as_posix() for path in paths if PurePosixPath(path).name != "__init__.py"
    )
    return [(name, n) for name, n in folders.items() if n > MODULES_PER_FOLDER and name != "cli/commands"]


def badly_named(paths: Iterable[str]) -> list[str]:
    """Return Python files and packages with a name that is too vague or too short."""
    return sorted({path for path in paths if any(_says_nothing(part) for part in PurePosixPath(path).parts)})


def _says_nothing(part: str) -> bool:
    name = part.removesuffix(".py").removeprefix("test_").strip("_")
    return name in BAD_NAMES or (part.endswith(".py") and 0 < len(name) <= 2 and name not in SHORT_NAMES)


def local_imports(module: Module) -> list[str]:
    """Return imports that hide inside a function; wiring may import an optional driver where it is chosen."""
    inside = {node for function in functions(module) for node in ast.walk(function)}
    hidden = [node for node in inside if isinstance(node, ast.Import | ast.ImportFrom)]
    return sorted(f"{module.path}:{node.lineno}" for node in hidden if not _picks_a_driver(module, node))


def _picks_a_driver(module: Module, node: ast.Import | ast.ImportFrom) -> bool:
    source = node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name
    return module.path.startswith("wiring") and source.startswith("longline.drivers")


def suppressions(module: Module) -> list[tuple[str, bool]]:
    """Return the place of every comment that silences a checker, and true if it gives its reason."""
    found = []
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        silenced = re.match(
            r"#\s*(?:type:\s*ignore(?:\[[^]]*\])?|noqa(?::\s*[A-Z]+[0-9]+(?:\s*,\s*[A-Z]+[0-9]+)*)?)", token.string
        )
        if token.type == tokenize.COMMENT and silenced:
            reason = re.findall(r"\w+", token.string[silenced.end() :])
            found.append((f"{module.path}:{token.start[0]}", len(reason) >= 2))
    return found


def mutable_state(module: Module) -> list[str]:
    """Return module-level containers that are no constants, constants that are changed, and `global`."""
    held = {name: node for node in module.tree.body for name in _containers(node)}
    faults = [f"{module.path}:{node.lineno} {name}" for name, node in held.items() if not _is_constant(name, node)]
    for node in module.walk():
        if isinstance(node, ast.Global):
            faults.append(f"{module.path}:{node.lineno} global")
        changed = _changed(node)
        if changed in held:
            faults.append(f"{module.path}:{getattr(node, 'lineno', 0)} changes {changed}")
    return faults


def _containers(node: ast.stmt) -> list[str]:
    """Return names that this statement binds to a container that can change."""
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return []
    value, targets = node.value, node.targets if isinstance(node, ast.Assign) else [node.target]
    literal = isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp)
    built = isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] in CONTAINERS
    return [t.id for t in targets if isinstance(t, ast.Name)] if literal or built else []


def _is_constant(name: str, node: ast.stmt) -> bool:
    final = isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation).startswith(("Final", "typing.Final"))
    return final or name == "__all__" or name.lstrip("_").isupper()


def _changed(node: ast.AST) -> str | None:
    """Return the name of the container that this node changes."""
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return node.value.id if isinstance(node.value, ast.Name) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGERS:
        return node.func.value.id if isinstance(node.func.value, ast.Name) else None
    return None


def table(tree: Sequence[Module], tests: Sequence[Module]) -> str:
    """Return the report for people."""
    sizes = measure(tree)
    rows = [f"{'measure':28}{'count':>7}{'median':>8}{'p90':>6}{'most':>6}{'bound':>7}  largest"]
    for name, bound in HARD.items():
        mine = sorted((s for s in sizes if s.measure == name), key=lambda s: s.amount)
        if mine:
            amounts = [s.amount for s in mine]
            figures = f"{len(mine):7}{median(amounts):8.0f}{ninth_decile(amounts):6}{amounts[-1]:6}{bound:7}"
            rows.append(f"{name:28}{figures}  {mine[-1].where}")
    lines, tested = sum(m.lines for m in tree), sum(m.lines for m in tests)
    silenced = sum(len(suppressions(m)) for m in tree)
    rows.append(
        f"{lines} lines of source, {tested} of tests ({tested / max(lines, 1):.2f} to 1), {silenced} suppressions"
    )
    return "\n".join(rows)


if __name__ == "__main__":
    print(table(modules(), modules(ROOT / "tests")))
