"""Kinds of elements, by the part that an element plays in running text."""

from collections.abc import Mapping

from selectolax.lexbor import LexborHTMLParser

SKIPPED, INLINE, LINK, BREAK, RULE, BLOCK, PARAGRAPH, HEADING, ITEM, CELL, ROW, PREFORMATTED, QUOTE = range(13)
MARK, IMAGE = 13, 14
"""Kinds of elements; the last two are kinds for Markdown only.

They are plain numbers because the walk over a page compares them for every element.
"""

_TAGS = {
    SKIPPED: "script style noscript template svg math iframe object embed canvas video audio source track picture map "
    "area button input select textarea option optgroup datalist label legend progress meter dialog nav menu link "
    "meta title head base param rp rt img frame frameset noframes -comment !doctype",
    INLINE: "span b i em strong u s small big sub sup font mark abbr acronym cite q code kbd samp var tt time ins del "
    "strike bdi bdo dfn data ruby rb wbr nobr output",
    LINK: "a",
    BREAK: "br",
    RULE: "hr",
    BLOCK: "div section article main header footer aside form fieldset figure figcaption ul ol dl table tbody thead "
    "tfoot caption address details summary hgroup center body html",
    PARAGRAPH: "p",
    HEADING: "h1 h2 h3 h4 h5 h6",
    ITEM: "li dt dd",
    CELL: "td th",
    ROW: "tr",
    PREFORMATTED: "pre",
    QUOTE: "blockquote",
}


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


KINDS = {tag: kind for kind, tags in _TAGS.items() for tag in tags.split()}
"""Kind of each known element. An unknown element is part of a sentence inside a paragraph, and else a block."""

_PARSER = LexborHTMLParser("text<!-- comment -->")
_NODES = [] if _PARSER.body is None else list(_PARSER.body.iter(include_text=True))
TAGS = {node.tag_id: node.tag or "" for node in (*_NODES, *map(_PARSER.create_node, filter(str.isalnum, KINDS)))}
"""Known elements, text and comments by the numbers of the HTML parser; a number is read in a sixth of a name's time."""

TEXT_ID = next(number for number, tag in TAGS.items() if tag == "-text")


def kinds_by_id(kinds: Mapping[str, int]) -> dict[int, int]:
    """Return kinds of elements by the number of each element."""
    return {number: kinds[tag] for number, tag in TAGS.items() if tag in kinds}


TEXT_KINDS = frozenset((PARAGRAPH, PREFORMATTED, QUOTE))
"""Kinds of elements that hold prose."""

TEXT_TAGS = word_set("p blockquote pre td tr dd")
"""Elements that may consist of links for the most part, and are text nevertheless."""

LIST_TAGS = word_set("ul ol li dl table tbody")
"""Elements that may consist of links nearly as a whole, and are text nevertheless."""

NEVER_ARTICLES = word_set("p li dt dd td th tr pre blockquote h1 h2 h3 h4 h5 h6 ul ol dl table tbody thead figure")
"""Elements that are part of an article, and never its container."""
