"""Weights of lines and containers: the number of characters that are probably prose."""

from collections.abc import Sequence
from typing import NamedTuple

from longline.html.article_text.attribute_hints import SELDOM_TEXT, TAG_HINTS
from longline.html.article_text.lines import Line, PageLines
from longline.html.article_text.tags import BLOCK, HEADING, ROW, TEXT_KINDS

MIN_PROSE_CHARS = 40
"""Characters outside links from which a line counts as prose."""

MIN_ROW_CHARS = 20
"""Characters outside links from which a row of a table counts as prose."""

FIRST_WIDE = "\u2e80"
"""First character of the East Asian scripts, whose characters stand for a syllable or a word."""

LETTERS_OF_A_WIDE = 3
"""Letters for which a character of these scripts counts where a line is measured."""

MAX_LINKED_SHARE = 0.4
"""Share of link text above which a line has no weight."""

WEIGHT_BLOCK, WEIGHT_ROW, WEIGHT_ITEM = 0.8, 0.3, 0.5
"""Weight of a character outside paragraphs: straight in a block, in a row of a table, in an item of a list."""

MIN_SHARE_SELDOM_TEXT, MIN_SHARE_RARELY_TEXT = 0.35, 0.85
"""Share of the page's weight from which a container with the name of boilerplate is kept: names of wrappers lie."""


def weight_of(line: Line) -> float:
    """Return the weight of a line."""
    text, linked, _, kind = line
    chars = len(text)
    plain = chars - linked
    minimum = MIN_ROW_CHARS if kind == ROW else MIN_PROSE_CHARS
    if kind == HEADING or linked > MAX_LINKED_SHARE * chars:
        return 0.0
    if plain < minimum and (plain * LETTERS_OF_A_WIDE < minimum or not _is_wide(text)):
        return 0.0
    if kind in TEXT_KINDS:
        return plain
    return plain * (WEIGHT_BLOCK if kind == BLOCK else WEIGHT_ROW if kind == ROW else WEIGHT_ITEM)


def _is_wide(text: str) -> bool:
    """Return whether more than half of a text is in an East Asian script."""
    return not text.isascii() and sum(character >= FIRST_WIDE for character in text) * 2 > len(text)


class ContainerWeights(NamedTuple):
    """Sums of each container over the kept lines below it; `own` is the weight of lines straight inside."""

    weights: list[float]
    own: list[float]
    chars: list[int]
    linked: list[int]


def kept_containers(page: PageLines, weights: Sequence[float], *, by_name: bool) -> list[bool]:
    """Return whether each container is kept; with `by_name`, containers named like boilerplate are dropped."""
    sums = _sums_by_container(page, weights)
    whole = sums[0]
    kept = [True] * len(sums)
    parents, hints, tags = page.parents, page.hints, page.tags
    for container in range(1, len(kept)):
        if not kept[parents[container]]:
            kept[container] = False
        elif hints[container] < 0 and (by_name or tags[container] in TAG_HINTS):
            share = MIN_SHARE_SELDOM_TEXT if hints[container] == SELDOM_TEXT else MIN_SHARE_RARELY_TEXT
            kept[container] = sums[container] > 0 and sums[container] >= share * whole
    return kept


def _sums_by_container(page: PageLines, weights: Sequence[float]) -> list[float]:
    sums = [0.0] * len(page.parents)
    for line, weight in zip(page.lines, weights, strict=True):
        sums[line.container] += weight
    for container in range(len(sums) - 1, 0, -1):  # children follow their parents
        sums[page.parents[container]] += sums[container]
    return sums


def container_weights(page: PageLines, weights: Sequence[float], kept: Sequence[bool]) -> ContainerWeights:
    """Return the sums of all containers over the lines in kept containers."""
    count, parents = len(kept), page.parents
    sums, chars, linked = [0.0] * count, [0] * count, [0] * count
    for (text, links, container, _), weight in zip(page.lines, weights, strict=True):
        if kept[container]:
            sums[container] += weight
            chars[container] += len(text)
            linked[container] += links
    own = sums[:]
    for container in range(count - 1, 0, -1):
        if kept[container]:
            parent = parents[container]
            sums[parent] += sums[container]
            chars[parent] += chars[container]
            linked[parent] += linked[container]
    return ContainerWeights(sums, own, chars, linked)
