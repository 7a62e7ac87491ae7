import msgspec
import pytest

from longline.engine.fetch.conditional_requests import conditional_headers
from longline.model.frontier.task import KnownPage
from tests.engine.fakes import claimed
from tests.plans import crawl_plan

DATE = "Sat, 14 Nov 2026 10:00:00 GMT"
ETAG, SINCE = ("if-none-match", '"v1"'), ("if-modified-since", DATE)


@pytest.mark.parametrize(
    ("known", "headers"),
    [
        (None, ()),
        (KnownPage(7, "sha256:00", 5), ()),
        (KnownPage(7, "sha256:00", 5, '"v1"'), (ETAG,)),
        (KnownPage(7, "sha256:00", 5, None, DATE), (SINCE,)),
        (KnownPage(7, "sha256:00", 5, '"v1"', DATE), (ETAG, SINCE)),
    ],
)
def test_a_known_page_is_requested_with_its_validators(known: KnownPage | None, headers: tuple[tuple[str, str], ...]):
    task = msgspec.structs.replace(claimed(), known=known)
    assert conditional_headers(task, crawl_plan(())) == headers
    assert conditional_headers(task, crawl_plan((), conditional=False)) == ()
