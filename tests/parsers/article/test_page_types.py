"""Types of pages by their content."""

import pytest

from longline.parsers.article.page_types import PageTypeFeatures, article_score, page_type


def figures(**changed: object) -> PageTypeFeatures:
    given = {"title": "", "words": 100, "markup": "", "links": 0, "schema_type": "", "og_type": "", "detected": None}
    return PageTypeFeatures(**(given | changed))  # type: ignore[arg-type]  # a table of any of them


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ({"schema_type": "NewsArticle"}, "article"),
        ({"schema_type": "Report"}, "other"),
        ({"og_type": "article"}, "other"),
        ({"og_type": "article", "markup": "<time datetime=x>"}, "article"),
        ({"detected": "article", "markup": "<article>"}, "article"),
        ({"detected": "event", "markup": "<article>"}, "other"),
        ({"title": "x", "words": 200}, "article"),
        ({"title": "x", "words": 199}, "other"),
        ({"words": 500}, "other"),
        ({"links": 20, "words": 199}, "listing"),
        ({"links": 20, "words": 200}, "other"),
        ({"links": 19, "words": 10}, "other"),
        ({"title": "x", "words": 49}, "stub"),
        ({"title": "x", "words": 50}, "other"),
        ({"words": 49}, "other"),
        # a login page, and an article that mentions a login
        ({"schema_type": "Article", "markup": "<b>Sign in</b>", "words": 199}, "other"),
        ({"schema_type": "Article", "markup": "<b>Log in to comment</b>", "words": 200}, "article"),
    ],
)
def test_page_types(changed, kind):
    assert page_type(figures(**changed)) == kind


def test_the_score_is_a_sum():
    everything = figures(
        title="x", words=200, markup="<ARTICLE><time datetime=x>", schema_type="Article", og_type="article"
    )
    assert article_score(everything) == 5 + 3 + 2 + 1 + 4
    assert article_score(figures(detected="article")) == 3
