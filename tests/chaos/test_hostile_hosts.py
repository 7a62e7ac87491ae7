"""Hostile hosts beside good ones, in a size for every day; the large form is a program of its own."""

from tests.chaos.hostile_hosts import SMALL, Figures, read_metrics, storm


async def test_good_hosts_get_their_pages_beside_hostile_ones():
    figures = await storm(SMALL)
    # The machine may be busy with other tests: the bound separates starving from sharing; the large form gives figures.
    assert figures.share > 0.5
    assert figures.hostile_pages >= SMALL.hostile
    assert figures.health_failed == 0
    assert figures.health_asked > 20
    assert figures.loop_looks > 0
    assert figures.stopped_with == 0


def test_the_figures_are_read_from_the_platforms_metrics():
    figures = Figures([100, 100], [70, 90])
    read_metrics(
        'longline_loop_lag_seconds_bucket{le="0.05"} 7.0\nlongline_loop_lag_seconds_count 9.0\n'
        'longline_loop_block_seconds_bucket{le="0.05"} 8.0\nlongline_loop_block_seconds_count 9.0\n'
        "longline_loop_longest_block_seconds 0.25\nlongline_loop_longest_lag_seconds 0.5\n"
        "longline_loop_run_delay_seconds_total 3.0\n",
        figures,
    )
    assert (figures.share, figures.longest_block_ms, figures.blocks_over_50_ms) == (0.8, 250.0, 1)
    assert (figures.longest_lag_ms, figures.lags_over_50_ms, figures.run_delay_seconds) == (500.0, 2, 3.0)
