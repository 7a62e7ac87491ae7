"""Side rows of recrawls after each kind of move, and their phases."""

from longline.model.recrawls.recrawl_lists import RecrawlQuery, phase_of

NOW = 1_000_000


def test_a_pending_recrawl_waits_or_is_ready():
    def phase(due_at: int = NOW, *, waits: bool = False, is_held: bool = False) -> str:
        return phase_of("pending", due_at=due_at, waits=waits, is_held=is_held, now_ms=NOW)

    assert phase() == "ready"
    assert phase(NOW + 1) == phase(waits=True) == phase(is_held=True) == "waiting"


def test_totals_are_kept_for_a_source_and_for_all():
    assert RecrawlQuery().is_counted
    assert RecrawlQuery(source_id=5, sort="priority").is_counted
    assert not RecrawlQuery(created_by="api").is_counted
