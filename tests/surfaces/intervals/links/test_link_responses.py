"""Rows of domains in the format of the contract."""

from longline.model.discovery.link import FIRST_DEPTH, DomainRow
from longline.surfaces.intervals.links.link_responses import domain_body

ROW = DomainRow("a.example", "active", 3, 1, 0.3333, 0, 1000, 1.0, 0.5, None, ("news",))


def test_a_domain_is_shown():
    shown = domain_body(ROW, 2000)
    assert (shown.domain, shown.link_count, shown.referring_sources) == ("a.example", 3, ["news"])
    assert shown.avg_depth == round(FIRST_DEPTH + 0.3333, 2)
    assert (shown.first_seen, shown.last_seen) == ("1970-01-01T00:00:00.000Z", "1970-01-01T00:00:01.000Z")
