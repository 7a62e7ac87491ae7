"""Slots: the least loaded one, the evenness of a day, and the schedules that may be moved."""

from hypothesis import given
from hypothesis import strategies as st

from longline.model.duration import HOUR_MS
from longline.model.schedules.slots import (
    PROTECTED_MS,
    SLOT_MS,
    Places,
    Shift,
    Waiting,
    hourly,
    move_refusal,
    possible_shifts,
    rebalance,
    score,
    slot_of,
)

NOW = 1_700_000_000_000
DAY_MS = 24 * HOUR_MS


def waiting(number: int, due: int, interval: int | None = DAY_MS, **more: object) -> Waiting:
    facts = {"state": "scheduled", "placed_at": None, "retries": 0} | more
    return Waiting(number, f"u{number}", next_due=due, interval_ms=interval, **facts)  # type: ignore[arg-type]


def test_the_present_slot_means_now():
    assert Places({}, NOW).take(DAY_MS) == NOW


def test_the_least_loaded_slot_is_taken_and_of_several_the_earliest():
    here = slot_of(NOW)
    loads = {here + n: 1 for n in range(100)} | {here + 7: 0, here + 9: 0}
    assert Places(loads, NOW).take(DAY_MS) == (here + 7) * SLOT_MS


def test_a_short_interval_does_not_wait_for_a_day():
    loads = {slot_of(NOW): 5}
    assert NOW <= Places(loads, NOW).take(5 * 60_000) < NOW + SLOT_MS


def test_a_chosen_shift_is_possible_from_an_unchanged_due_time_to_a_coming_slot_of_the_interval():
    old, slot = NOW + 5 * HOUR_MS, (slot_of(NOW) + 3) * SLOT_MS
    fits = Shift(1, "u1", old, slot)
    assert possible_shifts([waiting(1, old), waiting(2, old)], [fits], NOW) == [fits]
    assert possible_shifts([waiting(1, old)], [fits._replace(uid="")], NOW) == [fits]
    for wrong in (
        fits._replace(id=3),
        fits._replace(old=old + 1),
        fits._replace(new=slot + 1),
        fits._replace(new=slot - 4 * SLOT_MS),
        fits._replace(new=(slot_of(NOW + DAY_MS) + 1) * SLOT_MS),
    ):
        assert possible_shifts([waiting(1, old)], [wrong], NOW) == [], wrong
    assert possible_shifts([waiting(1, old, retries=1)], [fits], NOW) == []
    assert possible_shifts([waiting(1, old, interval=None)], [fits], NOW) == []


def test_hours_begin_now_and_an_overdue_schedule_counts_in_the_first():
    assert hourly([NOW, NOW + HOUR_MS - 1, NOW + HOUR_MS, NOW + DAY_MS, NOW - 1], NOW)[:3] == [3, 1, 0]


def test_scores_worked_out_by_hand():
    assert score([0] * 24) == 1
    assert score([5] * 24) == 1
    assert score([24] + [0] * 23) == 0
    # Mean 1.5, deviation 0.5.
    assert abs(score([1, 2] * 12) - (1 - 0.5 / 1.5)) < 1e-12


def test_a_schedule_that_may_not_be_moved_is_refused_with_a_reason():
    later = NOW + 2 * HOUR_MS
    assert move_refusal(waiting(1, later), NOW) is None
    assert move_refusal(waiting(1, later, state="running"), NOW) == "running"
    assert move_refusal(waiting(1, NOW + PROTECTED_MS), NOW) == "protected"
    assert move_refusal(waiting(1, NOW + PROTECTED_MS + 1), NOW) is None
    assert move_refusal(waiting(1, later, placed_at=NOW - HOUR_MS + 1), NOW) == "cooldown"
    assert move_refusal(waiting(1, later, placed_at=NOW - HOUR_MS), NOW) is None
    assert move_refusal(waiting(1, later, retries=1), NOW) == "retrying"
    assert move_refusal(waiting(1, later, None), NOW) == "protected", "a schedule without an interval is not placed"


def test_long_intervals_are_placed_first():
    crowd = [waiting(n, NOW + 3 * HOUR_MS, HOUR_MS * (n + 4)) for n in range(4)]
    moved = {shift.id for shift in rebalance(crowd, NOW).shifts}
    assert moved == {0, 1, 2}, "the longest interval keeps its place"


@given(
    st.lists(
        st.tuples(
            st.integers(-HOUR_MS, 3 * DAY_MS),
            st.sampled_from([None, 300_000, HOUR_MS, DAY_MS, 7 * DAY_MS]),
            st.sampled_from(["pending", "scheduled", "running"]),
            st.sampled_from([None, NOW, NOW - 2 * HOUR_MS]),
            st.integers(0, 1),
        ),
        max_size=60,
    )
)
def test_rebalance_moves_only_movable_schedules_and_settles(found: list[tuple[int, int | None, str, int | None, int]]):
    everybody = [
        waiting(n, NOW + due, interval, state=state, placed_at=placed, retries=retries)
        for n, (due, interval, state, placed, retries) in enumerate(found)
    ]
    balance = rebalance(everybody, NOW)
    assert balance == rebalance(everybody, NOW)
    assert len(balance.skipped) == sum(move_refusal(one, NOW) is not None for one in everybody)
    by_id = {one.id: one for one in everybody}
    for shift in balance.shifts:
        one = by_id[shift.id]
        assert move_refusal(one, NOW) is None
        assert shift.old == one.next_due != shift.new
        assert NOW < shift.new <= NOW + (one.interval_ms or 0)
    placed = {shift.id: shift.new for shift in balance.shifts}
    after = [one._replace(next_due=placed.get(one.id, one.next_due)) for one in everybody]
    settled = [one._replace(placed_at=NOW) if one.id in placed else one for one in after]
    assert not {shift.id for shift in rebalance(settled, NOW).shifts} & placed.keys()


def test_a_place_in_a_hundred_years_is_found_at_once():
    century = 36_525 * 86_400_000
    assert Places({}, 0).take(century) == 0
    assert Places({0: 1, 1: 2, 2: 1}, 0).take(century) == 3 * SLOT_MS
    assert Places({0: 2, 1: 1}, 0).take(2 * SLOT_MS) == SLOT_MS


def test_every_taken_place_counts_for_the_next():
    """Places that are taken together are those that would be taken one by one, for all windows and earlier loads."""
    here = slot_of(NOW)
    loads = {here + 3: 5, here + 4: 1, here + 200: 2}
    windows = [DAY_MS, 30 * 60_000, 3 * DAY_MS, 5 * 60_000] * 100
    together = Places(loads, NOW, len(windows))
    alone, one_by_one = dict(loads), []
    for window in windows:
        slots = range(here, slot_of(NOW + window - 1) + 1)
        best = min(slots, key=lambda slot: (alone.get(slot, 0), slot))
        alone[best] = alone.get(best, 0) + 1
        one_by_one.append(max(NOW, best * SLOT_MS))
    assert [together.take(window) for window in windows] == one_by_one


def test_the_cost_of_a_place_does_not_grow_with_the_slots():
    def steps(slots: int) -> int:
        looked = 0

        class Loads(dict[int, int]):
            def get(self, key: int, default: int = 0) -> int:  # type: ignore[override]  # counts the lookups
                nonlocal looked
                looked += 1
                return super().get(key, default)

        places = Places({slot: 1 for slot in range(slots)}, 0, 100)
        places.take(slots * SLOT_MS)
        places._loads = Loads(places._loads)
        for _ in range(99):
            places.take(slots * SLOT_MS)
        return looked

    assert steps(10_000) == steps(100)
