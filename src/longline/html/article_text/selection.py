"""Selection of the container with the article, and of the lines inside that belong to the article."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from longline.html.article_text.attribute_hints import DECLARED_BODY, NAMED_BODY
from longline.html.article_text.boilerplate_phrases import is_boilerplate
from longline.html.article_text.lines import PageLines
from longline.html.article_text.tags import (
    BLOCK,
    HEADING,
    ITEM,
    KINDS,
    LIST_TAGS,
    NEVER_ARTICLES,
    PARAGRAPH,
    TEXT_TAGS,
)
from longline.html.article_text.weights import ContainerWeights, container_weights, kept_containers, weight_of

MIN_DESCENT_SHARE, MIN_DESCENT_SHARE_OF_BODY = 0.7, 0.85
"""Share of a container's weight from which the search goes on inside a child; of a container named like a body more."""

MAX_TEXT_SHARE = 0.1
"""Share of a container's weight in paragraphs, lists and tables straight inside, above which the search ends."""

MIN_PART_SHARE = 0.1
"""Share of a container's weight from which parts named like a body, beside another such part, are one article."""

BONUS_OF_TITLE, BONUS_AFTER_TITLE, BONUS_OF_NAME, BONUS_OF_ARTICLE = 2.5, 1.5, 1.6, 1.4
"""Factors of a child's weight: with the title inside, first after the title, named like a body, an `article`."""

MIN_WEIGHT_AFTER_TITLE = 200
"""Weight of a child from which it may be the first after the title."""

MIN_DECLARED_SHARE, MIN_DECLARED_CHARS = 0.15, 200
"""Share of the page's weight, and characters, from which a declared body is accepted as the article."""

MAX_LINKED_IN_BLOCK, MAX_LINKED_IN_TEXT, MAX_LINKED_IN_LIST = 0.45, 0.7, 0.9
"""Share of link text above which a container inside the article is left out, by its element."""

MAX_LINKED_IN_LINE = 0.8
MIN_STANDFIRST_WEIGHT = 80
MAX_STANDFIRST_LINES = 3
"""Most lines between the title and the article that are taken for its standfirst; more are another text."""

MIN_LONG_CHARS = 60
"""Characters above which a line is not repeated by chance."""

MAX_REPEATED_SHARE = 0.45
"""Share of repeated long lines above which each is written once: such pages send a text once per screen width."""

MIN_TITLE_CHARS = 12
"""Letters above which a heading and the page's title are compared."""

MAX_TITLE_CHARS = 1000
_NOT_LETTERS = re.compile(r"[\W_]+")


class Selection(NamedTuple):
    """The article's container, the numbers of its lines, and the number of the line with its title (-1 without)."""

    container: int
    lines: list[int]
    title: int = -1

    def text(self, page: PageLines) -> str:
        """Return the text of the article, a line for each block."""
        return "\n".join([page.lines[number].text for number in self.lines])


def select_article(page: PageLines, title: str, *, by_name: bool = True) -> Selection:
    """Return the selection of a page with this title; without `by_name`, names of classes drop no container."""
    return _Selector(page, _letters_of(title[:MAX_TITLE_CHARS]), by_name=by_name).selection()


def _letters_of(text: str) -> str:
    return _NOT_LETTERS.sub("", text.lower())


class _Selector:
    """The steps of a selection, with their intermediate results."""

    def __init__(self, page: PageLines, title: str, *, by_name: bool) -> None:
        self._page, self._title = page, title
        self._line_weights = [weight_of(line) for line in page.lines]
        self._kept = kept_containers(page, self._line_weights, by_name=by_name)
        self._sums: ContainerWeights = container_weights(page, self._line_weights, self._kept)
        self._children = self._children_with_weight()

    def selection(self) -> Selection:
        title = self._title_line()
        container = self._container(title)
        written = self._written_containers(container)
        standfirst = self._standfirst(title, written)
        lines = [
            number
            for number in self._candidates(written, standfirst, title)
            if not is_boilerplate(self._page.lines[number].text)
        ]
        lines = self._without_repetitions(lines)
        while lines and self._page.lines[lines[-1]].kind == HEADING:  # a heading without text below
            lines.pop()
        return Selection(container, lines, title)

    def _children_with_weight(self) -> list[list[int]]:
        children: list[list[int]] = [[] for _ in self._page.parents]
        weights = self._sums.weights
        for container in range(1, len(children)):
            if weights[container] and self._kept[container]:
                children[self._page.parents[container]].append(container)
        return children

    def _title_line(self) -> int:
        """Return the first heading that contains the page's title or is contained in it, else the first h1."""
        first = -1
        for number, line in enumerate(self._page.lines):
            if line.kind == HEADING and self._kept[line.container]:
                if self._is_title(line.text):
                    return number
                if first < 0 and self._page.tags[line.container] == "h1":
                    first = number
        return first

    def _is_title(self, text: str) -> bool:
        heading, title = _letters_of(text), self._title
        if len(heading) <= MIN_TITLE_CHARS:
            return False
        return heading in title or (len(title) > MIN_TITLE_CHARS and title in heading)

    # -- container --------------------------------------------------------------------------------------------------

    def _container(self, title: int) -> int:
        """Return the container of the article: down from the start as long as one child has most of the weight."""
        above_title = set(self._ancestors(title))
        title_container = self._page.lines[title].container if title >= 0 else -1
        here = self._start()
        while self._children[here]:
            best, share = self._best_child(here, title_container, above_title)
            named = self._page.hints[here] >= NAMED_BODY
            if share < (MIN_DESCENT_SHARE_OF_BODY if named else MIN_DESCENT_SHARE) or self._ends_at(here, best):
                break
            here = best
        return here

    def _ancestors(self, line: int) -> Iterator[int]:
        container = self._page.lines[line].container if line >= 0 else -1
        while container >= 0:
            yield container
            container = self._page.parents[container]

    def _start(self) -> int:
        """Return the container that the page declares as the article's body, else the body of the page."""
        sums, chars = self._sums.weights, self._sums.chars
        declared = [
            container
            for container, hint in enumerate(self._page.hints)
            if hint == DECLARED_BODY
            and self._kept[container]
            and chars[container] >= MIN_DECLARED_CHARS
            and sums[container] >= MIN_DECLARED_SHARE * sums[0]
        ]
        half = max((sums[container] for container in declared), default=0.0) / 2
        return next((container for container in declared if sums[container] >= half), 0)

    def _best_child(self, parent: int, title_container: int, above_title: set[int]) -> tuple[int, float]:
        """Return the child with most weight after the bonuses, and its share."""
        total, best, most, after_title = self._sums.own[parent], -1, 0.0, False
        for child in self._children[parent]:
            weight = self._sums.weights[child] * self._bonus_of_markup(child)
            if child in above_title:
                weight *= BONUS_OF_TITLE
            elif not after_title and 0 <= title_container < child:
                after_title = self._sums.weights[child] > MIN_WEIGHT_AFTER_TITLE
                weight *= BONUS_AFTER_TITLE if after_title else 1.0
            total += weight
            if weight > most:
                best, most = child, weight
        return best, most / total

    def _bonus_of_markup(self, container: int) -> float:
        bonus = BONUS_OF_ARTICLE if self._page.tags[container] == "article" else 1.0
        return bonus * BONUS_OF_NAME if self._page.hints[container] >= NAMED_BODY else bonus

    def _ends_at(self, container: int, best: int) -> bool:
        """Return whether the search ends here, because parts of the article stand straight in the container."""
        tags, weights = self._page.tags, self._sums.weights
        if tags[best] in NEVER_ARTICLES or self._has_further_bodies(container, best):
            return True
        texts = sum(weights[child] for child in self._children[container] if tags[child] in NEVER_ARTICLES)
        return texts > MAX_TEXT_SHARE * weights[container]

    def _has_further_bodies(self, container: int, best: int) -> bool:
        """Return whether the article goes on beside its best part, in elements that are named like a body as well."""
        tags, hints, weights = self._page.tags, self._page.hints, self._sums.weights
        if hints[best] < NAMED_BODY:
            return False
        others = (child for child in self._children[container] if child != best and tags[child] == tags[best])
        further = sum(weights[child] for child in others if hints[child] >= NAMED_BODY)
        return further >= MIN_PART_SHARE * weights[container]

    # -- lines ------------------------------------------------------------------------------------------------------

    def _written_containers(self, container: int) -> list[bool]:
        """Return whether each container is in the article: below the article's container, and no list of links."""
        parents, kept = self._page.parents, self._kept
        written = [False] * len(parents)
        written[container] = True
        for inside in range(container + 1, len(parents)):
            if kept[inside] and written[parents[inside]]:
                written[inside] = not self._is_links(inside)
        return written

    def _is_links(self, container: int) -> bool:
        linked, chars = self._sums.linked[container], self._sums.chars[container]
        if linked <= MAX_LINKED_IN_BLOCK * chars:
            return False
        tag = self._page.tags[container]
        if KINDS.get(tag) == HEADING:
            return False
        most = (
            MAX_LINKED_IN_TEXT if tag in TEXT_TAGS else MAX_LINKED_IN_LIST if tag in LIST_TAGS else MAX_LINKED_IN_BLOCK
        )
        return linked > most * chars

    def _standfirst(self, title: int, written: Sequence[bool]) -> set[int]:
        """Return the lines between the title and the article that introduce it."""
        if title < 0:
            return set()
        lines, weights = self._page.lines, self._line_weights
        begin = next((n for n, line in enumerate(lines) if weights[n] and written[line.container]), -1)
        found = {
            number
            for number in range(title + 1, begin)
            if weights[number] >= MIN_STANDFIRST_WEIGHT
            and lines[number].kind in (PARAGRAPH, BLOCK)
            and self._kept[lines[number].container]
            and not written[lines[number].container]
        }
        return found if len(found) <= MAX_STANDFIRST_LINES else set()

    def _candidates(self, written: Sequence[bool], standfirst: set[int], title: int) -> Iterator[int]:
        """Yield the lines of the article, without its title and without lines that are links."""
        tags = self._page.tags
        for number, (text, linked, container, kind) in enumerate(self._page.lines):
            if not written[container] and number not in standfirst:
                continue
            if number == title or tags[container] == "h1":
                continue
            if linked <= MAX_LINKED_IN_LINE * len(text) or kind in (HEADING, ITEM):
                yield number

    def _without_repetitions(self, numbers: list[int]) -> list[int]:
        """Return the lines; if most long lines are repeated, each long line only once."""
        lines = self._page.lines
        once: dict[str, int] = {}
        long = repeated = 0
        for number in numbers:
            text = lines[number].text
            if len(text) > MIN_LONG_CHARS:
                long += len(text)
                repeated += len(text) if once.setdefault(text, number) != number else 0
        if repeated <= MAX_REPEATED_SHARE * long:
            return numbers
        return [n for n in numbers if len(lines[n].text) <= MIN_LONG_CHARS or once[lines[n].text] == n]
