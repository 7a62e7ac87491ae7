"""Runs of downloads: one task and one row for each resource, for any URL."""

from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.lifecycle.politeness_key import PolitenessKey
from longline.model.downloads.dead_letter import DeadLetterFilter
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ClaimRequest
from tests.drivers.records.downloads.files import PLAN, begin, file, given_up, stored
from tests.drivers.records.world import ME, TTL, admit, claim, claim_one, get_run, host_report, release, report, url


async def test_a_run_begins_with_a_task_and_a_row_for_each_resource(records: Records):
    labels = {"source": "x"}
    run = await begin(records, [file("b"), file("a", checksum="sha256:AB", bucket="other", headers="l", labels=labels)])
    assert (run.state, run.admitted, run.open) == ("running", 2, 2)
    rows = await records.downloads.find(run.id)
    assert {(row.resource_id, row.state, row.given_url) for row in rows} == {
        ("a", "pending", "https://a.example/a"),
        ("b", "pending", "https://a.example/b"),
    }
    lease = await claim_one(records)
    orders = {task.download.resource_id: task.download for task in lease.tasks if task.download}
    found = orders["a"]
    assert (found.key, found.bucket, found.headers, found.sha256) == ("resources/a", "other", "l", "ab")
    assert found.labels == '{"source":"x"}'
    assert orders["b"].sha256 is None


async def test_two_resources_with_one_url_are_two_tasks(records: Records):
    same = "https://a.example/same"
    run = await begin(records, [file("1", same), file("2", same)])
    assert run.admitted == 2
    assert len((await claim_one(records)).tasks) == 2


async def test_a_url_that_cannot_be_requested_becomes_a_task_under_no_host(records: Records):
    run = await begin(records, [file("f", "ftp://a.example/x"), file("n", "not\0a url"), file("g")])
    assert run.admitted == 3
    leases = await claim(records)
    assert {task.url for task in leases[""].tasks} == {"ftp://a.example/x", "nota url"}
    by_domain = Lifecycle(records, PolitenessKey("domain"))
    placed = await by_domain.downloads.place([file("f", "ftp://a.example/x"), file("g", "https://b.a.example/")], PLAN)
    assert [one.task.host for one in placed] == ["", "a.example"]


async def test_further_files_are_admitted_once_even_with_another_url(records: Records):
    run, lifecycle = await begin(records, [file("a")]), Lifecycle(records)
    assert await lifecycle.downloads.admit(run.id, [file("a", "https://b.example/"), file("c")], PLAN) == 1
    assert (await get_run(records, run.id)).admitted == 2


async def test_a_worker_without_the_download_stage_skips_hosts_with_downloads(records: Records):
    await begin(records, [file("a")])
    pages = await admit(records, url((await begin(records, [])).id, "b.example"))
    assert pages.new == 1
    without = await records.frontier.claim(ClaimRequest(ME, 10, 10, TTL, downloads=False))
    assert [lease.host for lease in without] == ["b.example"]
    assert [lease.host for lease in await records.frontier.claim(ClaimRequest(ME, 10, 10, TTL))] == ["a.example"]


async def test_a_held_host_gets_no_downloads_for_a_worker_without_the_stage(records: Records):
    run = await begin(records, [])
    await admit(records, url(run.id, "a.example"))
    lease = await claim_one(records)
    await begin(records, [file("a")])
    held = [(lease.host_id, lease.token)]
    assert await records.frontier.claim(ClaimRequest(ME, 1, 9, TTL, held, downloads=False)) == []
    [more] = await records.frontier.claim(ClaimRequest(ME, 1, 9, TTL, held))
    assert [task.download is not None for task in more.tasks] == [True]


async def test_a_host_is_for_every_worker_again_after_its_downloads(records: Records):
    await begin(records, [file("a")])
    lease = await claim_one(records)
    await release(records, lease)
    assert not await records.frontier.claim(ClaimRequest(ME, 1, 9, TTL, downloads=False))
    lease = await claim_one(records)
    await report(records, host_report(lease, [stored(lease, lease.tasks[0])]))
    await admit(records, url((await begin(records, [])).id, "a.example"))
    [pages] = await records.frontier.claim(ClaimRequest(ME, 1, 9, TTL, downloads=False))
    assert pages.host == "a.example"


async def test_a_report_stores_the_result_with_the_download(records: Records):
    run = await begin(records, [file("a")])
    lease = await claim_one(records)
    await report(records, host_report(lease, [stored(lease, lease.tasks[0])]))
    [row] = await records.downloads.of_resources(run.id, ["a", "nothing"])
    assert (row.state, row.bytes, row.sha256, row.content_type) == ("completed", 3, "00" * 32, "image/png")
    assert (row.proxy, row.ms, row.attempts, row.reason) == ("http://p.example:1", 12, 1, "ok")
    assert (await get_run(records, run.id)).state == "completed"
    assert await records.dead_letters.count(DeadLetterFilter()) == 0
    assert row == await records.downloads.get(row.task_id)


async def test_a_download_that_is_given_up_leaves_a_dead_letter(records: Records):
    run = await begin(records, [file("a"), file("b")])
    lease = await claim_one(records)
    first, second = lease.tasks
    await report(records, host_report(lease, [given_up(lease, first), stored(lease, second)]))
    [letter] = await records.dead_letters.find(DeadLetterFilter(run_id=run.id))
    assert first.download is not None
    assert (letter.task_id, letter.resource_id, letter.run_uid) == (first.id, first.download.resource_id, run.uid)
    assert (letter.kind, letter.tenant, letter.reason, letter.status) == ("images", "acme", "http_4xx", 404)
    assert (letter.attempts, letter.host, letter.replayed_at) == (1, "a.example", None)
    assert (await get_run(records, run.id)).state == "failed"
    assert await records.dead_letters.get(letter.number) == letter
