"""Slots of a day as shades and bars."""

from longline.console.drawing.slot_bars import shade, slot_bars


def test_a_fuller_slot_is_deeper():
    shades = [shade(load, 40) for load in (0, 1, 8, 16, 24, 32, 40)]
    assert shades == sorted(shades)
    assert (shades[0], shades[-1]) == ("h0", "h6")


def test_there_is_a_bar_for_each_slot_with_schedules():
    drawn = slot_bars([0, 3, 0, 5], 5, 0)
    assert drawn.count("<rect") == 2
    assert "00:15 UTC: 3" in drawn
    assert "the fullest has 5" in drawn
