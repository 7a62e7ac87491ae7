"""The plot of prices: large prices are written in full."""

import pytest

from longline.console.drawing.price_plot import price_plot, price_tip

DAY_MS = 86_400_000


@pytest.mark.parametrize(
    ("price", "told"),
    [
        (22.5, "22.50"),
        (1_234_567.89, "1,234,567.89"),
        (0.05, "0.05"),
        (1.234, "1.234"),
        (1_500.25, "1,500.25"),
        (0.1 + 0.2, "0.30"),
        (9_999_999, "9,999,999.00"),
    ],
)
def test_a_price_is_written_in_full(price: float, told: str):
    assert price_tip(0, price).startswith(f"{told} since 1970-01-01 00:00")
    drawn = price_plot([(0, price / 2), (DAY_MS, price)], 2 * DAY_MS)
    assert f"now {told}" in drawn
    assert "e+" not in drawn, "an axis has no exponents"


def test_a_price_has_its_currency():
    assert price_tip(0, 22.5, "EUR").startswith("22.50 EUR since")
    assert "now 22.50 EUR" in price_plot([(0, 22.5)], DAY_MS, "EUR")


def test_the_lines_of_the_axis_are_round():
    drawn = price_plot([(0, 18_000.0)], DAY_MS)
    assert all(f">{line}</text>" in drawn for line in ("0", "5,000", "10,000", "15,000", "20,000"))
