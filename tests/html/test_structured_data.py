"""Structured data of pages, also with mistakes."""

from longline.html.structured_data import text_value, types_of, url_values
from longline.plugins import Page


def page(markup: str) -> Page:
    return Page("https://example.com/", markup.encode(), content_type="text/html; charset=utf-8")


def test_lists_and_graphs_are_taken_apart():
    markup = """<script type="application/ld+json">[{"@type": "A"}, [{"@type": "B"}]]</script>
    <script type="APPLICATION/LD+JSON; charset=utf-8">{"@context": "x", "@graph": [{"@type": "C"}, "d"]}</script>
    <script type="application/ld+json">nonsense</script><script>{"@type": "E"}</script>"""
    assert [thing["@type"] for thing in page(markup).data.json_ld] == ["A", "B", "C"]


def test_types_and_texts_and_addresses():
    assert types_of({"@type": ["http://schema.org/Article", "schema:Thing", "X"]}) == {"Article", "Thing", "X"}
    assert types_of({}) == frozenset()
    assert text_value([{"name": " A  B "}, "C", {"@value": 5}, {"name": ["D"]}, None, True, "C"]) == "A B, C, 5, D"
    assert url_values([{"url": "/a"}, " /b ", {"contentUrl": ["/c"]}, {"@id": "/d"}, 5, "", None, {}]) == [
        *("/a", "/b", "/c", "/d")
    ]


def test_names_may_have_the_prefix_of_their_vocabulary():
    markup = """<script type="application/ld+json">{"@context": {"schema": "http://schema.org/"},
    "@type": "schema:Product", "schema:name": "Hook", "http://schema.org/sku" : {"schema:name": "schema:x"}}</script>"""
    (thing,) = page(markup).data.json_ld
    assert types_of(thing) == {"Product"}
    assert (thing["name"], thing["sku"]) == ("Hook", {"name": "schema:x"})


def test_html_references_and_lists_of_json_ld_are_read():
    assert text_value("Tom &amp; Jerry&#39;s &nbsp; &unknown;") == "Tom & Jerry's &unknown;"
    assert text_value({"@list": ["A", "B"]}) == "A, B"
    assert url_values({"@set": ["/a", {"@id": "/b"}]}) == ["/a", "/b"]


def test_metas_go_by_name_and_property():
    got = page(
        "<meta property=og:title content=' A '><meta name=OG:Title content=B><meta name=x content=''><meta charset=y>"
    )
    assert got.data.metas == {"og:title": ["A", "B"]}
    assert (got.data.meta("nothing", "og:title"), got.data.meta("x")) == ("A", "")


def test_microdata_nests():
    markup = """<div itemscope itemtype="https://schema.org/Product"><h1 itemprop="name alternateName">Hook</h1>
    <a itemprop=url href=/h>x</a><time itemprop=date datetime=2024-01-01>then</time>
    <data itemprop=sku value=9>nine</data>
    <div itemprop=offers itemscope><i itemprop=price>5</i></div>
    <div itemprop=offers itemscope><i itemprop=price>6</i></div>
    <div itemscope itemtype=other><i itemprop=name>alone</i></div></div><i itemprop=lost>x</i>"""
    product, other = page(markup).data.microdata
    assert product == {
        "@type": ["https://schema.org/Product"],
        "name": "Hook",
        "alternateName": "Hook",
        "url": "/h",
        "date": "2024-01-01",
        "sku": "9",
        "offers": [{"@type": [], "price": "5"}, {"@type": [], "price": "6"}],
    }
    assert other == {"@type": ["other"], "name": "alone"}


def test_an_item_has_the_properties_of_referenced_elements_without_cycles():
    markup = """<div itemscope itemtype=Product itemref="more price nowhere"><i itemprop=name>Hook</i></div>
    <p id=more><b itemprop=brand>Line</b></p><div id=price itemprop=offers itemscope><i itemprop=price>5</i></div>
    <div id=round itemprop=outer itemscope itemtype=Outer><i itemprop=inner itemscope itemref=round></i></div>"""
    product, outer = page(markup).data.microdata
    assert product == {"@type": ["Product"], "name": "Hook", "brand": "Line", "offers": {"@type": [], "price": "5"}}
    assert outer == {"@type": ["Outer"], "inner": {"@type": []}}


def test_referenced_things_are_put_in_once():
    markup = """<script type="application/ld+json">{"@graph": [
    {"@type": "Article", "@id": "#a", "author": {"@id": "#p"}, "publisher": [{"@id": "#gone"}, {"@id": 5}]},
    {"@type": "Person", "@id": "#p", "name": "A. Mate", "mainEntity": {"@id": "#a"}}]}</script>"""
    article, person = page(markup).data.json_ld
    assert text_value(article["author"]) == "A. Mate"
    assert article["publisher"] == [{"@id": "#gone"}, {"@id": 5}]
    assert person["mainEntity"]["author"] == {"@id": "#p"}


def test_rdfa_reads_like_microdata():
    markup = """<meta property=og:title content=lost><div vocab=https://schema.org/ typeof=schema:Product>
    <h1 property=schema:name>Hook</h1><p property=offers typeof=Offer><i property=price content=5>five</i></p></div>"""
    assert page(markup).data.rdfa == [
        {"@type": ["schema:Product"], "name": "Hook", "offers": {"@type": ["Offer"], "price": "5"}}
    ]


def test_a_referenced_element_belongs_to_all_items_that_name_it_and_to_the_item_around_it():
    markup = """<div itemscope itemtype=A itemref="shared other"></div><div itemscope itemtype=B itemref=shared></div>
    <p id=shared><i itemprop=name>both</i></p>
    <div itemscope itemtype=C><p id=other><i itemprop=sku>9<style>i { color: red }</style></i></p></div>"""
    assert page(markup).data.microdata == [
        {"@type": ["A"], "name": "both", "sku": "9"},
        {"@type": ["B"], "name": "both"},
        {"@type": ["C"], "sku": "9"},
    ]
