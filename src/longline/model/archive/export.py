"""Exports: pages and items of a run as files for other programs."""

from typing import NamedTuple

FORMATS = ("warc", "jsonl", "parquet", "csv")

WARC_NAME = "pages.warc.gz"
"""The file of an export that holds the records of the archive."""


class ExportedFile(NamedTuple):
    """A file of an export."""

    path: str
    bytes: int
