"""Slots of a day as shades and bars."""

from longline.console.drawing.slot_bars import shade, slot_bars, slot_map
from longline.model.schedules.slots import SLOT_MS, SLOTS_PER_DAY


def test_a_fuller_slot_is_deeper():
    shades = [shade(load, 40) for load in (0, 1, 8, 16, 24, 32, 40)]
    assert shades == sorted(shades)
    assert (shades[0], shades[-1]) == ("h0", "h6")


def test_there_is_a_bar_for_each_slot_with_schedules():
    drawn = slot_bars([0, 3, 0, 5], 5, 0)
    assert drawn.count("<rect") == 2
    assert "00:15 UTC: 3" in drawn
    assert "the fullest has 5" in drawn


def test_the_map_of_a_day_has_a_row_for_each_quarter_of_an_hour():
    rows = slot_map(range(SLOTS_PER_DAY), 0, 5 * SLOT_MS)
    assert [row.minute for row in rows] == [0, 15, 30, 45]
    assert [slot.load for slot in rows[1].slots[:3]] == [1, 5, 9]
    assert [(slot.start, slot.load) for row in rows for slot in row.slots if slot.is_now] == [(5 * SLOT_MS, 5)]
