"""The pauses after which a failed service is requested again."""

from longline.engine.circuit_breaker import CircuitBreaker


def test_five_failures_open_the_breaker_and_two_successes_after_a_pause_close_it() -> None:
    breaker = CircuitBreaker()
    for _ in range(4):
        breaker.note(0, ok=False)
    assert breaker.allows(0)
    breaker.note(0, ok=False)
    assert not breaker.allows(29)
    assert breaker.allows(30)
    breaker.note(30, ok=False)
    assert not breaker.allows(59), "one failure is enough to open it again"
    assert breaker.allows(60)
    breaker.note(60, ok=True)
    breaker.note(61, ok=True)
    for _ in range(4):
        breaker.note(62, ok=False)
    assert breaker.allows(62)
