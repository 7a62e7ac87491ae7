"""An export is what a run brought, as files for other programs."""

from typing import NamedTuple

FORMATS = ("warc", "jsonl", "parquet", "csv")


class Written(NamedTuple):
    """A file of an export."""

    path: str
    bytes: int
