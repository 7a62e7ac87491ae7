"""The options `--out`, `-o` and `--kind`: a folder for all results, files and a pipe for the items of a run."""

import functools
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from longline.cli.listing import counted
from longline.model.exports.export import STREAM, table_file
from longline.services.exports.item_tables import ItemOutputs, WrittenTables

T = TypeVar("T")


_OPTIONS = {
    "output": typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="File for the items as a table, .csv, .jsonl or .parquet; - writes JSON lines to standard output. "
        "Can be given several times.",
        show_default=False,
    ),
    "kind": typer.Option(
        "--kind",
        help="Kind of the items that -o writes; if not given, all. Can be given several times.",
        show_default=False,
    ),
}


class Outputs(msgspec.Struct, frozen=True):
    """The places for the results of a run: a folder, and files and a pipe for its items."""

    folder: Path | None = None
    items: ItemOutputs = ItemOutputs()


def takes_outputs(folder_help: str) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Add `--out`, `-o` and `--kind` to a command, and pass them as its argument `outputs`."""
    folder = Annotated[Path | None, typer.Option(help=folder_help, show_default=False)]
    kinds = {"out": folder} | {name: Annotated[list[str] | None, option] for name, option in _OPTIONS.items()}

    def wrap(command: Callable[..., T]) -> Callable[..., T]:
        own = [p for p in inspect.signature(command).parameters.values() if p.name != "outputs"]

        @functools.wraps(command)
        def called(*args: Any, out: Path | None, output: list[str] | None, kind: list[str] | None, **given: Any) -> T:
            return command(*args, outputs=Outputs(out, read_outputs(output or (), kind or ())), **given)

        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for name, annotation in kinds.items()
        ]
        vars(called)["__signature__"] = inspect.Signature(
            [own[0], *(p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own[1:]), *added]
        )
        return called

    return wrap


def read_outputs(names: Sequence[str], kinds: Sequence[str]) -> ItemOutputs:
    """Return the named files, each once; raise `BadInput` for a name without a format."""
    files = tuple(table_file(name) for name in dict.fromkeys(names) if name != STREAM)
    return ItemOutputs(files, STREAM in names, tuple(kinds))


def print_tables(console: Console, written: WrittenTables) -> None:
    """Print the files of items, and the items that were left out."""
    for file in written.files:
        console.print(Text(f"{counted(file.rows or 0, 'item')} in {file.path}"), soft_wrap=True)
    for kind, count in written.left_out.items():
        items = "1 item" if count == 1 else f"{count:,} items"
        left = f"{items} of the kind {kind} {'is' if count == 1 else 'are'} left out"
        line = f"{left}, as there are others; --kind {kind} writes {'it' if count == 1 else 'them'}"
        console.print(Text(line), soft_wrap=True)
