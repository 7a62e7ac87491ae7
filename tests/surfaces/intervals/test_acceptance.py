"""The tests that show each point of the contract's acceptance list.

They show it over HTTP, or with processes that are really killed; some also at the lower floors.
"""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]

SHOWN = """
1   surfaces/intervals/jobs/test_executions.py test_two_schedulers_run_each_due_job_once
1   chaos/test_scheduler.py                 test_every_tick_runs_once_or_is_superseded_and_nothing_is_stuck
2   surfaces/intervals/jobs/test_executions.py test_killed_in_mid_run_it_goes_on_as_the_same_execution
2   journeys/test_intervals.py            test_killed_in_mid_run_it_goes_on_at_once_as_the_same_execution
2   journeys/test_intervals.py            test_a_daily_job_of_a_dead_machine_goes_on_at_another_within_the_lease
2   chaos/test_adoption.py                test_jobs_go_on_and_lose_nothing_after_any_kill
3   surfaces/intervals/jobs/test_executions.py test_a_healthy_long_run_is_left_alone
4   surfaces/intervals/jobs/test_executions.py test_cancelled_in_mid_run_it_stays_cancelled
4   journeys/test_intervals.py            test_cancelled_after_a_stop_in_mid_run_it_fetches_nothing_more
5   surfaces/intervals/jobs/test_executions.py test_failures_are_tried_again_ever_later
6   surfaces/intervals/jobs/test_executions.py test_a_one_off_job_that_fails_once_is_completed_in_the_end
7   surfaces/intervals/test_door.py       test_every_action_in_every_state
7   surfaces/intervals/test_door.py       test_a_change_cannot_smuggle_a_state
8   surfaces/intervals/jobs/test_executions.py test_an_interval_counts_its_units
8   surfaces/intervals/sources/test_sources.py test_an_hourly_job_made_for_a_source_runs_hourly
9   surfaces/intervals/jobs/test_executions.py test_phase_is_kept_through_late_runs_and_an_outage
4   engine/frontier/test_withdrawn_tasks.py test_no_further_task_is_begun_for_a_run_that_has_ended
10  surfaces/intervals/jobs/test_scheduler.py  test_a_slot_is_not_empty_after_its_jobs_have_run
10  surfaces/intervals/jobs/test_scheduler.py test_daily_jobs_made_at_once_get_a_slot_each_and_resume_takes_the_emptiest
11  surfaces/intervals/jobs/test_executions.py test_forced_it_runs_now_and_again_at_its_time
12  surfaces/intervals/jobs/test_scheduler.py  test_a_rebalance_makes_the_moves_of_its_preview
13  surfaces/intervals/jobs/test_scheduler.py  test_an_uneven_distribution_has_the_score_worked_out_by_hand
13  surfaces/intervals/jobs/test_scheduler.py  test_an_even_distribution_scores_one
13  surfaces/intervals/jobs/test_scheduler.py  test_an_empty_schedule_is_even
14  surfaces/intervals/jobs/test_executions.py test_an_unchanging_start_page_is_looked_at_less_often
14  surfaces/intervals/jobs/test_executions.py test_long_and_fixed_intervals_are_not_adapted
14  surfaces/intervals/jobs/test_executions.py test_14_intervals_stay_unchanged_while_redis_is_away
14  engine/schedules/test_scheduler.py    test_an_interval_stays_unchanged_without_the_store_of_page_changes
15  surfaces/intervals/jobs/test_executions.py test_only_the_newest_hundred_runs_of_thirty_days_are_remembered
16  surfaces/intervals/test_frontier.py   test_equivalent_urls_are_one_row_that_goes_sooner
16  surfaces/intervals/test_frontier.py   test_16_urls_are_told_apart_by_their_one_form
17  chaos/test_politeness.py              test_hosts_are_left_alone_as_they_asked_and_nothing_is_lost
17  surfaces/intervals/test_frontier.py   test_17_two_requests_to_a_host_keep_their_distance_between_all_workers
18  engine/fetch/test_fetcher.py          test_the_number_of_redirects_is_bounded
18  surfaces/intervals/test_frontier.py   test_18_a_chain_of_five_redirects_rewrites_the_row_and_six_are_too_many
18  surfaces/intervals/test_frontier.py   test_18_a_redirect_onto_a_row_keeps_both
18  surfaces/intervals/test_frontier.py   test_18_a_redirect_to_another_host_is_the_same_row_and_so_is_its_end
19  engine/frontier/test_lapsed_leases.py test_lapsed_leases_are_released_once
19  surfaces/intervals/test_frontier.py   test_19_a_dead_workers_url_is_pending_again_and_not_counted
20  journeys/test_raw_content.py          test_20_equal_pages_are_two_documents_and_a_single_fetch_replaces_none
21  engine/feeds/test_feed_poller.py      test_not_modified_is_a_success
21  engine/feeds/test_feed_poller.py      test_the_third_missing_poll_disables_and_a_later_success_enables
21  engine/feeds/test_feed_poller.py      test_the_pause_after_429_doubles_up_to_its_bound
21  engine/feeds/test_feed_poller.py      test_hundreds_of_feeds_are_polled
21  surfaces/intervals/sources/test_sources.py test_21_a_feed_that_throttles_is_left_alone_for_longer_each_time
21  surfaces/intervals/sources/test_sources.py test_21_each_kind_of_failure_has_its_patience_and_its_cooldown
21  surfaces/intervals/sources/test_sources.py test_21_entries_of_a_feed_become_urls_of_the_frontier
21  surfaces/intervals/sources/test_sources.py test_21_the_third_404_disables_and_a_success_after_the_cooldown_enables
21  surfaces/intervals/sources/test_sources.py test_21_two_hundred_and_fifty_sources_are_all_polled
22  engine/feeds/test_feed_finder.py      test_the_link_of_the_page_names_its_feed
22  engine/feeds/test_feed_finder.py      test_a_declared_url_without_a_feed_is_skipped
22  engine/feeds/test_feed_finder.py      test_the_usual_urls_are_tried_in_order
22  surfaces/intervals/sources/test_sources.py test_22_a_source_without_a_feed_is_searched_once_in_a_week
22  surfaces/intervals/sources/test_sources.py test_22_discovery_prefers_the_link_of_the_page
22  surfaces/intervals/sources/test_sources.py test_22_discovery_rejects_html_and_tries_the_usual_paths
23  parsers/article/test_jsonld.py        test_a_publisher_in_any_form_is_a_text
23  journeys/test_raw_content.py          test_23_a_publisher_in_any_form_is_indexed_in_one
24  surfaces/intervals/test_logs.py       test_fifty_clients_that_come_and_go_lose_nothing
24  surfaces/intervals/test_logs.py       test_v2_replays_then_follows_and_tells_of_the_archive
24  surfaces/intervals/test_logs.py       test_an_archive_is_downloaded_and_viewed
25  journeys/test_source_events.py        test_schedules_follow_each_event_once
25  journeys/test_source_events.py        test_25_a_listener_that_dies_after_an_effect_has_had_it_once
25  services/sources/test_source_event_handlers.py test_an_effect_and_its_record_are_one_transaction
25  surfaces/intervals/sources/test_sources.py test_a_disabled_source_is_not_crawled_until_it_is_enabled
26  surfaces/intervals/sources/test_sources.py test_three_hundred_sources_get_their_jobs
27  journeys/test_intervals.py            test_stopped_in_mid_run_it_goes_on_at_once_as_the_same_execution
27  journeys/test_logs.py                 test_a_stop_in_the_middle_writes_the_last_words
28  surfaces/intervals/test_door.py       test_every_route_asks_for_a_token
28  surfaces/intervals/test_event_streams.py test_every_stream_begins_the_same_and_asks_for_a_token
28  surfaces/intervals/test_logs.py       test_requests_without_access_and_for_unknown_ids_are_refused
29  journeys/test_intervals.py            test_29_with_redis_search_and_the_html_archive_away_a_job_is_done_all_the_same
29  journeys/test_serve.py                test_a_platform_without_signals_works_on
29  services/test_health.py               test_the_status_of_the_whole_follows_from_its_parts
30  surfaces/intervals/jobs/test_executions.py test_a_start_page_is_visited_again_at_the_next_run
30  journeys/test_intervals.py            test_a_job_crawls_its_source_and_can_be_forced_to_again
"""

ROWS = [line.split() for line in SHOWN.split("\n") if line]


def test_every_point_has_a_test():
    assert {int(number) for number, *_ in ROWS} == set(range(1, 31))


@pytest.mark.parametrize(("file", "name"), sorted({(file, name) for _, file, name in ROWS}))
def test_every_test_that_is_named_is_there(file: str, name: str):
    assert re.search(rf"^(async )?def {name}\(", (TESTS / file).read_text(), re.MULTILINE)
