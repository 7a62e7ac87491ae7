"""Exports: pages, items and URLs of a run as files for other programs."""

import re
from pathlib import PurePath
from typing import NamedTuple

from longline.model.errors import BadInput

FORMATS = ("warc", "jsonl", "parquet", "csv", "markdown")

WARC_NAME = "pages.warc.gz"
"""The file of an export that holds the records of the archive."""

STREAM = "-"
"""Name of standard output among the files for items."""

KIND_MARK = "{kind}"
"""Part of a file name that stands for the kind of the items in the file."""

BUILT_IN_KINDS = ("page", "sitemap")
"""Kinds of the items of parsers that read pages without being asked to: the default parser, and that of sitemaps."""

_SUFFIXES = {".csv": "csv", ".jsonl": "jsonl", ".jl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
_UNSAFE = re.compile(r"[^\w.-]+")


class ExportedFile(NamedTuple):
    """A file of an export; `rows` is set for tables of items."""

    path: str
    bytes: int
    rows: int | None = None


class TableFile(NamedTuple):
    """A file that a person named for a table, and its format."""

    path: str
    format: str

    def for_kind(self, kind: str, *, alone: bool) -> str:
        """Return the path of the file for one kind of items: the path itself for items of a kind that is `alone`."""
        safe = _UNSAFE.sub("_", kind) or "_"
        if KIND_MARK in self.path:
            return self.path.replace(KIND_MARK, safe)
        path = PurePath(self.path)
        return self.path if alone else str(path.with_name(f"{path.stem}.{safe}{path.suffix}"))


def table_file(name: str) -> TableFile:
    """Return the file of a name; its suffix decides the format."""
    form = _SUFFIXES.get(PurePath(name).suffix.lower())
    if form is None:
        raise BadInput(f"cannot tell the format of {name}; name a file that ends in .csv, .jsonl or .parquet")
    return TableFile(name, form)
