"""Pages of a run as files of Markdown."""

from pathlib import Path

import pytest

from longline.drivers.exports import FolderExport
from longline.engine.archive.page_reader import PageReader
from longline.engine.parse.page_parser import PageParser
from longline.parsers import markdown
from longline.plugins.registry import Registry
from longline.ports.blobs import Blobs
from longline.ports.records import Records
from longline.services.archive.parsed_pages import ParsedPages
from longline.services.exports.markdown_files import MarkdownFiles, file_name
from tests.services.kept import keep

STORY = "".join(f"<p>Day {day}: the line is set at dusk and hauled at dawn.</p>" for day in range(9))
BODIES = {"/news/A-story.html": f'<title>A "fine" day</title>{STORY}'.encode(), "/empty": b"", "/": STORY.encode()}


async def test_each_page_with_text_has_a_file(records: Records, archive_blobs: Blobs, tmp_path: Path):
    run = await keep(records, archive_blobs, "warc/1.warc.gz", BODIES)
    reader = PageReader(records.pages, archive_blobs)
    pages = ParsedPages(records.pages, reader, PageParser(Registry(markdown)), at_once=2)
    (tmp_path / "markdown").mkdir()
    (tmp_path / "markdown/old.md").write_text("from before")
    told: list[tuple[int, int]] = []

    with FolderExport(tmp_path, ["markdown"]) as export:
        await MarkdownFiles(pages).write(run.id, export, lambda *progress: told.append(progress))
        assert visible(tmp_path) == ["old.md"]
        (folder,) = await export.finish()

    assert told[-1] == (3, 3)
    files = sorted((tmp_path / "markdown/a.example").iterdir())
    assert [path.name[:-16] for path in files] == ["", "news-a-story"]
    assert (folder.path, folder.bytes) == (str(tmp_path / "markdown"), sum(path.stat().st_size for path in files))
    front, _, text = files[1].read_text().removeprefix("---\n").partition("---\n\n")
    url, title, fetched = front.splitlines()
    assert url == 'url: "https://a.example/news/A-story.html"'
    assert title == 'title: "A \\"fine\\" day"'
    assert fetched.startswith('fetched: "2023-11-14T22:13:20')
    assert text.startswith('# A "fine" day\n\nDay 0: the line')
    assert (tmp_path / "markdown/old.md").exists()


def visible(folder: Path) -> list[str]:
    return [path.name for path in (folder / "markdown").rglob("*.md")]


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://a.example/", "a.example/"),
        ("https://a.example:8080/b/C_d?e=f", "a.example-8080/b-c-d-e-f-"),
        ("https://[::1]/../..%2f..%2fetc/passwd", "1/2f-2fetc-passwd-"),
        ("https://a.example/" + "x" * 3000, f"a.example/{'x' * 79}-"),
        ("https://a.example/%00%0a", "a.example/00-0a-"),
    ],
)
def test_names_of_files_are_safe_and_unique(url, name):
    made = file_name(url)
    assert made.startswith(f"markdown/{name}")
    assert len(made.removeprefix(f"markdown/{name}")) == 15
    assert file_name(url + "1") != made
