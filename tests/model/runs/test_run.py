"""Kinds of runs."""

from longline.model.runs.run import STANDING_KINDS, RunKind


def test_standing_runs_name_the_origin_of_their_urls():
    assert {origin: kind.value for origin, kind in STANDING_KINDS.items()} == {
        origin: f"frontier.{origin}" for origin in ("feed", "sitemap", "spider", "manual", "discovered")
    }
    assert RunKind.CRAWL.origin is None


def test_runs_of_single_urls_stand():
    standing = {kind for kind in RunKind if kind.standing}
    assert standing == {*STANDING_KINDS.values(), RunKind.BOTS, RunKind.PRODUCTS, RunKind.IMAGES}
