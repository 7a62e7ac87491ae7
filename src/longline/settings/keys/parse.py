"""Keys of parsing: parsers, their processes and limits."""

from typing import Annotated

from longline.settings.keys.fetch import FetchKeys
from longline.settings.values import FILES, JSON_OBJECT, POSITIVE_DURATION, SIZE, SWITCH, TEXT, Key, integer


class ParseKeys(FetchKeys, frozen=True, kw_only=True):
    """The parsers, their processes and limits."""

    parsers: Annotated[
        tuple[str, ...],
        Key(FILES, "Python files, or modules by name, of custom parsers; the closest match parses a page."),
    ] = ()
    parser: Annotated[
        str, Key(TEXT, "Name of the parser for every page of a crawl; if not set, the closest match.")
    ] = ""
    parser_config: Annotated[
        str, Key(JSON_OBJECT, "Config of the parser that `parser` names, a JSON object; the parser checks the keys.")
    ] = ""
    parse_processes: Annotated[
        int, Key(integer(0, 256), "Processes for slow parsers, started on demand; 0 parses in the worker itself.")
    ] = 2
    parse_timeout: Annotated[float, Key(POSITIVE_DURATION, "Time limit for parsing one page in a parser process.")] = (
        30.0
    )
    parse_memory: Annotated[
        int, Key(SIZE, "Memory limit of a parser process, in bytes; a page that needs more fails. 0 is no limit.")
    ] = 1024 * 1024 * 1024
    max_links: Annotated[
        int, Key(integer(1, 1_000_000), "Links followed from one page; further links are counted as `too_many_links`.")
    ] = 10_000
    readability: Annotated[
        bool, Key(SWITCH, "Extract the main text of a page where the selectors of its source find little.")
    ] = False
