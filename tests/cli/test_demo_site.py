"""The demo's website is whole: every link on it leads to one of its pages, or to a known gap."""

import re
import urllib.request

from longline.cli.demo_site import BOATS, DAYS, LogBook, running_site


def test_every_page_can_be_reached_and_every_link_is_known():
    pages = LogBook().pages
    links = {path: set(re.findall(r'href="([^"]+)"', text)) for path, text in pages.items()}
    reached, edge = {"/"}, ["/"]
    while edge:
        for link in links.get(edge.pop(), set()) - reached:
            reached.add(link)
            edge.append(link)
    assert reached - pages.keys() == {"/old", "/lost", "/office/keys"}
    assert pages.keys() <= reached
    assert len(pages) == 1 + len(BOATS) + len(BOATS) * DAYS


def test_the_demo_site_answers_over_http():
    with running_site() as site:
        with urllib.request.urlopen(site.url, timeout=10) as answer:
            assert b"<h1>The harbour</h1>" in answer.read()
        with urllib.request.urlopen(f"{site.url}old", timeout=10) as answer:
            assert answer.url == site.url
    assert site.pages == 121
