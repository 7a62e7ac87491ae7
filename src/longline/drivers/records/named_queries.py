"""The loader of named SQL, written once for both engines.

A file holds queries under `-- name: …` lines. Four marks are opened here:

* `/*part chosen */` stands for the text under `-- part: chosen` of the same file, which several queries share; with
  `/*part sorted: id DESC */` it has `id DESC` in the place of every `/*given */`;
* `/*pg … */` is kept for PostgreSQL, `/*lite … */` for SQLite;
* `/*rows FROM r(id bigint, state text) */` is a batch: PostgreSQL runs the statement once over arrays (`FROM
  unnest(…) AS r(id, state)`), SQLite runs it once for each row, with `r.id` and `r.state` as parameters. On SQLite, an
  INSERT or UPDATE from rows takes `MAX_ROWS` rows per statement (see `spread`): a thread has to wait for Python's
  global lock with every statement. `/*all rows …` takes up to `MAX_ALL_ROWS` rows, in a SELECT too.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Literal

MAX_ROWS, MAX_ALL_ROWS = 50, 4000
"""Largest numbers of rows in one statement on SQLite, which limits the number of values in a statement."""

Engine = Literal["pg", "lite"]

_NAME = re.compile(r"^-- (name|part): (\w+)(?: only (pg|lite))?$", re.MULTILINE)
_PART = re.compile(r"/\*part (\w+)(?:: (.*?))? \*/")
_GIVEN = "/*given */"
_SWITCH = re.compile(r"/\*(pg|lite) (.*?)\*/", re.DOTALL)
_ROWS = re.compile(r"/\*(all )?rows (\S+) (\w+)\((.*?)\) \*/", re.DOTALL)
_VALUES = "/*values*/"
_PARAM = re.compile(r"(?<![:\w]):([a-z_]\w*)")
_LATER = re.compile(r"\?(\d+)")
"""A parameter of a statement for several rows, whose number is counted from the end of their values."""


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """One statement ready for one engine: its text, its parameters in order, then the columns of its batch.

    `many` is the form for several rows, or empty; `max_rows` is the largest number of rows in a statement.
    """

    name: str
    sql: str
    params: tuple[str, ...]
    columns: tuple[str, ...] = ()
    many: str = ""
    max_rows: int = 1


@lru_cache(maxsize=2000)
def spread(query: NamedQuery, rows: int) -> str:
    """Return the statement for this number of rows.

    The values of several rows come before its parameters, those of one row after them.
    """
    if rows == 1:
        return query.sql
    line = f"({', '.join('?' * len(query.columns))})"
    # Without numbers: SQLite keeps a numbered parameter as a name, and searches all names for each of thousands.
    values, count = ", ".join([line] * rows), rows * len(query.columns)
    return _LATER.sub(lambda m: f"?{count + int(m[1])}", query.many).replace(_VALUES, f"VALUES {values}")


class CompiledQueries(dict[str, NamedQuery]):
    """Queries of one engine by name, each compiled at its first use: a process uses few of its hundreds of queries."""

    def __init__(self, texts: Mapping[str, str], engine: Engine) -> None:
        super().__init__()
        self._texts, self._engine = texts, engine

    def __missing__(self, name: str) -> NamedQuery:
        query = self[name] = compile_query(name, self._texts[name], self._engine)
        return query


def load(engine: Engine) -> dict[str, NamedQuery]:
    """Return all named queries below the folder `sql`, for one engine."""
    return {name: compile_query(name, text, engine) for name, text in _texts(engine).items()}


def loaded(engine: Engine) -> CompiledQueries:
    """Return the queries of `load`, read from the files once in a process."""
    return CompiledQueries(_cached_texts(engine), engine)


@lru_cache(maxsize=2)
def _cached_texts(engine: Engine) -> Mapping[str, str]:
    return MappingProxyType(_texts(engine))


def _texts(engine: Engine) -> dict[str, str]:
    texts: dict[str, str] = {}
    for file in _query_files(resources.files("longline.drivers.records") / "sql"):
        for name, text in _split(file.read_text(encoding="utf-8"), engine):
            if name in texts:
                raise ValueError(f"two queries are called {name}")
            texts[name] = text
    return texts


def _query_files(folder: Traversable) -> Iterator[Traversable]:
    """Yield the files of queries below a folder; the schema and its migrations hold no queries."""
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        if entry.is_dir() and entry.name != "migrations":
            yield from _query_files(entry)
        elif entry.name.endswith(".sql") and entry.name != "schema.sql":
            yield entry


def _split(text: str, engine: Engine) -> Iterator[tuple[str, str]]:
    marks = list(_NAME.finditer(text))
    parts: dict[str, str] = {}
    for mark, after in zip(marks, [*marks[1:], None], strict=True):
        if mark[3] not in (None, engine):
            continue
        body = text[mark.end() : after.start() if after else len(text)]
        if mark[1] == "part":
            parts[mark[2]] = body.strip().rstrip(";")
        else:
            yield mark[2], _opened(body, parts)


def _opened(text: str, parts: Mapping[str, str]) -> str:
    """Return the text with its parts filled in; a part may have parts."""
    return _PART.sub(lambda m: _opened(parts[m[1]].replace(_GIVEN, m[2] or ""), parts), text)


def switch(text: str, engine: Engine) -> str:
    """Return the text with the marks of one engine opened and the marks of the other removed."""
    return _SWITCH.sub(lambda m: m[2] if m[1] == engine else "", text)


@lru_cache(maxsize=4000)
def compile_query(name: str, text: str, engine: Engine) -> NamedQuery:
    """Open the marks and number the parameters."""
    # The batch mark is a comment of another form, so opening the switches leaves it in place.
    sql = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--"))
    sql = switch(sql, engine).strip().rstrip(";")
    whole, rows = sql, _ROWS.search(sql)
    columns: list[tuple[str, str]] = []
    if rows:
        columns = [(c.split()[0], c.split(maxsplit=1)[1]) for c in (part.strip() for part in rows[4].split(","))]
        sql = _open_rows(sql, rows, columns, engine)
    params: list[str] = []
    sign = "$" if engine == "pg" else "?"

    def number(m: re.Match[str]) -> str:
        if m[1] not in params:
            params.append(m[1])
        return f"{sign}{params.index(m[1]) + 1}"

    # Batch columns come last, so that one tuple of parameters can be followed by each row.
    batch = {f"row_{c}" for c, _ in columns}
    for m in _PARAM.finditer(sql):
        if m[1] not in batch and m[1] not in params:
            params.append(m[1])
    plain = tuple(params)
    params.extend(f"row_{c}" for c, _ in columns)
    many = _open_many(whole, rows, columns) if rows and engine == "lite" else ""
    max_rows = 1 if not rows or not many else MAX_ALL_ROWS if rows[1] else MAX_ROWS
    names = tuple(c for c, _ in columns)
    return NamedQuery(name, _PARAM.sub(number, sql), plain, names, _PARAM.sub(number, many), max_rows)


def _open_rows(sql: str, rows: re.Match[str], columns: list[tuple[str, str]], engine: Engine) -> str:
    before, alias = rows[2], rows[3]
    if engine == "pg":
        arrays = ", ".join(f":row_{c}::{t}[]" for c, t in columns)
        names = ", ".join(c for c, _ in columns)
        return sql.replace(rows[0], f"{before} unnest({arrays}) AS {alias}({names})")
    if rows[1] and sql.startswith("SELECT"):
        row = ", ".join(f":row_{c}" for c, _ in columns)
        return _open_many(sql, rows, columns).replace(_VALUES, f"VALUES ({row})")
    bare = sql.replace(rows[0], "")
    return re.sub(rf"\b{alias}\.(\w+)", r":row_\1", bare)


def _open_many(sql: str, rows: re.Match[str], columns: list[tuple[str, str]]) -> str:
    """Return the statement for many rows without their values; an empty text if it must run row by row."""
    before, alias = rows[2], rows[3]
    begins = ("INSERT", "UPDATE", "SELECT") if rows[1] else ("INSERT", "UPDATE")
    if before not in ("FROM", ",") or not sql.startswith(begins):
        return ""
    names = ", ".join(c for c, _ in columns)
    return f"WITH {alias}({names}) AS ({_VALUES}) {sql.replace(rows[0], f'{before} {alias}')}"
