"""Exit codes of the commands. A wrong command line ends with 2, any other expected failure with 1."""

FAILED = 1
"""Exit code of a crawl without a completed page, and of a parsing with failures."""

NOTHING_FOUND, DIFFERENT, DAMAGED = 1, 1, 1
"""Exit codes of a search without hits, a comparison with differences, and an export that left damaged pages out."""

INTERRUPTED = 130
"""Exit code after Ctrl-C: the shell's code for SIGINT."""

PIPE_CLOSED = 141
"""Exit code after the reader of standard output has gone, as `head` goes: the shell's code for SIGPIPE."""
