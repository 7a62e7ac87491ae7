"""References between rows, read from the schema of either engine: a new table or column cannot be overlooked."""

import re
from functools import cache
from typing import NamedTuple

from longline.drivers.records.migration_runner import schema_text
from tests.drivers.records.peek import Peek

TARGETS = {
    "run_id": "runs (id)",
    "look_id": "runs (id)",
    "task_id": "tasks (id)",
    "parent_id": "tasks (id)",
    "body_of": "bodies_and_pages (task_id)",
    "segment_id": "segments (id)",
    "source_id": "sources (id)",
    "schedule_id": "schedules (id)",
    "host_id": "hosts (id)",
    "home_id": "hosts (id)",
    "bot_id": "bots (id)",
    "proxy_id": "proxies (id)",
    "pool_id": "pools (id)",
    "item_id": "items (id)",
    "sink_id": "sinks (id)",
    "batch_id": "batches (id)",
}
"""The row that a column of this name refers to, in every table."""

OTHERS = {
    ("visits", "task_id"): "bodies_and_pages (task_id)",
    ("queue", "id"): "tasks (id)",
    ("offers", "id"): "tasks (id)",
    ("standing", "id"): "tasks (id)",
    ("recrawls", "id"): "tasks (id)",
}
"""References with less specific names."""

HISTORY = {
    ("items", "run_id"),
    ("items", "task_id"),
    ("item_versions", "run_id"),
    ("item_versions", "task_id"),
    ("candidates", "run_id"),
    ("candidates", "look_id"),
    ("candidates", "source_id"),
    ("decisions", "run_id"),
    ("tasks", "parent_id"),
    ("tasks", "proxy_id"),
    ("refused_urls", "parent_id"),
    ("bodies", "task_id"),
    ("dead_letters", "run_id"),
    ("dead_letters", "task_id"),
}
"""Columns that name the origin of a row that outlives it; their readers expect no row there."""

ABSENT = {("items", "source_id"): 0}
"""Values that stand for no reference."""


class Reference(NamedTuple):
    """A column that refers to a row of another table."""

    table: str
    column: str
    target: str

    def anti_join(self) -> str:
        """Return a query of the rows with a missing target."""
        table, key = re.match(r"(\w+) \((\w+)\)", self.target).groups()  # type: ignore[union-attr]
        if table == "bodies_and_pages":
            table = "(SELECT task_id FROM pages UNION ALL SELECT task_id FROM bodies)"
        none = ABSENT.get((self.table, self.column))
        given = f"a.{self.column} IS NOT NULL" + (f" AND a.{self.column} <> {none}" if none is not None else "")
        return (
            f"SELECT '{self.table}.{self.column}', a.{self.column} FROM {self.table} a"
            f" LEFT JOIN {table} b ON b.{key} = a.{self.column} WHERE {given} AND b.{key} IS NULL"
        )


@cache
def references() -> tuple[Reference, ...]:
    """Return every reference of the schema, by its foreign keys and by the names of its columns."""
    found = []
    for table, body in re.findall(r"CREATE TABLE (\w+) \((.*?)\n\)", schema_text("lite"), re.DOTALL):
        for line in body.splitlines():
            declared = re.match(r"\s+(\w+)\s+(?:BIGINT|INTEGER)\b(.*)", line)
            if declared is None:
                continue
            column, rest = declared.groups()
            foreign = re.search(r"REFERENCES (\w+) \((\w+)\)", rest)
            target = f"{foreign[1]} ({foreign[2]})" if foreign else OTHERS.get((table, column)) or TARGETS.get(column)
            assert target or not column.endswith("_id"), (
                f"{table}.{column} refers to a table that TARGETS does not name"
            )
            if target and (table, column) not in HISTORY:
                found.append(Reference(table, column, target))
    return tuple(found)


async def dangling(peek: Peek) -> list[tuple[str, int]]:
    """Return every row that refers to a missing row; events and entries among them."""
    joins = [reference.anti_join() for reference in references()]
    joins += [
        f"SELECT 'events of a {noun}', e.subject FROM events e LEFT JOIN {noun}s n ON n.id = e.subject"
        f" WHERE e.noun = '{noun}' AND n.id IS NULL"
        for noun in ("run", "task")
    ]
    return [row for rows in await peek.rows_of_each(joins) for row in rows]
