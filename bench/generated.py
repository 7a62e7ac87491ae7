"""Pages for machines without a package archive: as large as real ones, and linked as much."""

import random
from functools import lru_cache

PARAGRAPHS, WORDS_EACH, LINKS = 60, 70, 68
_SYLLABLES = ("ka", "lo", "mi", "ren", "tas", "vo", "shu", "per", "dan", "el", "or", "qui", "bra", "ist", "un", "gy")


def page(site: int, number: int, count: int) -> str:
    """Return page `number` of `count`: the same text every time; every page can be reached from the first."""
    chance = random.Random(f"{site}/{number}")
    links = [2 * number + 1, 2 * number + 2, *(chance.randrange(count) for _ in range(LINKS - 2))]
    anchors = [f'<a href="page-{to}.html">{_words(chance, 2)}</a>' for to in links if to < count]
    text = [f"<p>{_words(chance, WORDS_EACH)}</p>" for _ in range(PARAGRAPHS)]
    title = _words(chance, 4)
    items = "".join(f"<li>{anchor}</li>" for anchor in anchors)
    return (
        f"<!DOCTYPE html><html><head><meta charset='utf-8'><title>{title}</title></head><body><h1>{title}</h1>"
        f"<ul class='menu'>{items}</ul><main>{''.join(text)}</main></body></html>"
    )


def _words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(_vocabulary(), k=count))


@lru_cache
def _vocabulary() -> tuple[str, ...]:
    chance = random.Random("words")
    return tuple("".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(5000))
