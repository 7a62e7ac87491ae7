"""Table of the built-in parsers: the modules that every process loads."""

BUILT_IN = tuple(
    f"longline.parsers.{name}"
    for name in (
        "page",
        "feeds.feed",
        "feeds.sitemap",
        "article.article",
        "product.product",
        "selectors",
        "markdown",
        "previews",
        "series",
    )
)
"""Modules of parsers that are always there."""
