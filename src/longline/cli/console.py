"""The console of every command: a reader of standard output that has gone, as `head` goes, ends the command quietly."""

from rich.console import Console


class OutputConsole(Console):
    """A console that raises `BrokenPipeError` where rich would end the process with exit code 1."""

    def on_broken_pipe(self) -> None:
        # Called while the error is handled.
        raise BrokenPipeError
