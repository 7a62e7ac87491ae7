"""Parents of recrawls: a child waits until its parent has completed."""

from longline.model.errors import BadInput

MAX_DEPTH = 3
"""Largest number of parents above a recrawl."""


def check_parent(parent_id: int, depth: int, rest: str) -> None:
    """Check that a recrawl may have a child; `depth` is its number of parents, `rest` that of its side row."""
    if depth >= MAX_DEPTH:
        raise BadInput(f"task {parent_id} has {MAX_DEPTH} parents above it, the largest number")
    if rest == "cancelled":
        raise BadInput(f"task {parent_id} is cancelled: no task can wait for it")
