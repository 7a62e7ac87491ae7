"""Products in the markup of shops."""

import json
from typing import Any

import pytest

from longline.parsers.product import product as built_in
from longline.parsers.product.product import read
from longline.plugins import Item, Links, Page
from longline.plugins.registry import Registry

HERE = "https://shop.example/p/1"


def found(markup: str, **config: Any) -> dict[str, Any]:
    return read(Page(HERE, markup.encode(), content_type="text/html; charset=utf-8", config=config))


def ld(value: Any) -> str:
    return f'<script type="application/ld+json">{json.dumps(value)}</script>'


def thing(**fields: Any) -> dict[str, Any]:
    return {"@context": "https://schema.org", "@type": "Product", "name": "Hook"} | fields


OFFER = {"@type": "Offer", "price": "19.99", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}
SOLD = {"price": 19.99, "currency": "EUR", "availability": "in_stock"}


@pytest.mark.parametrize(
    ("markup", "fields"),
    [
        (ld(thing(offers=OFFER)), SOLD),
        (ld([thing(offers=OFFER)]), SOLD),
        (ld({"@context": "x", "@graph": [{"@type": "WebPage"}, thing(offers=OFFER)]}), SOLD),
        (ld({"@type": "WebPage", "mainEntity": thing(offers=OFFER)}), SOLD),
        (ld(thing(offers=OFFER) | {"@type": ["Thing", "http://schema.org/Product"]}), SOLD),
        (ld(thing()) + ld(thing(offers=OFFER)), SOLD),
        # several offers: the cheapest available one
        (
            ld(thing(offers=[OFFER | {"price": 5, "availability": "OutOfStock"}, OFFER | {"price": 30}, OFFER])),
            SOLD,
        ),
        (
            ld(thing(offers=[OFFER | {"price": 5, "availability": "SoldOut"}])),
            {"price": 5.0, "availability": "out_of_stock"},
        ),
        (
            ld(
                thing(offers={"@type": "AggregateOffer", "lowPrice": "9.50", "highPrice": "12", "priceCurrency": "USD"})
            ),
            {"price": 9.5, "currency": "USD"},
        ),
        (
            ld(thing(offers={"@type": "AggregateOffer", "priceCurrency": "EUR", "offers": [OFFER]})),
            SOLD,
        ),
        (
            ld(thing(offers={"@type": "Offer", "priceSpecification": [{"price": "7", "priceCurrency": "GBP"}]})),
            {"price": 7.0, "currency": "GBP"},
        ),
        (ld(thing(offers=OFFER | {"price": "1.234,56"})), {"price": 1234.56}),
        (ld(thing(offers={"price": "£ 12"})), {"price": 12.0, "currency": "GBP"}),
        (
            ld({"@type": "ProductGroup", "name": "Hook", "hasVariant": [{"sku": "v", "offers": OFFER}]}),
            SOLD | {"sku": "v"},
        ),
        # everything else
        (
            ld(
                thing(
                    description=" Sharp\n and  strong ",
                    brand={"@type": "Brand", "name": "Line"},
                    sku=42,
                    gtin13="4006381333931",
                    category="Fishing",
                    image=["/a.jpg", {"@type": "ImageObject", "url": "b.jpg"}, "/a.jpg"],
                    url="/p/one",
                    aggregateRating={"ratingValue": "4,5", "reviewCount": "1,234"},
                )
            ),
            {
                "description": "Sharp and strong",
                "brand": "Line",
                "sku": "42",
                "gtin": "4006381333931",
                "category": "Fishing",
                "images": ["https://shop.example/a.jpg", "https://shop.example/p/b.jpg"],
                "url": "https://shop.example/p/one",
                "rating": 4.5,
                "review_count": 1234,
            },
        ),
        (
            ld(thing(brand="Line", aggregateRating={"ratingValue": 87, "bestRating": 100, "ratingCount": 3})),
            {"brand": "Line", "rating": 4.35, "review_count": 3},
        ),
        (ld(thing(image={"@id": "https://cdn.example/c.jpg"})), {"images": ["https://cdn.example/c.jpg"], "url": HERE}),
        # markup with mistakes
        ('<script type="application/ld+json"><!-- {"@type": "Product", "name": "A\nB",} --></script>', {"name": "A B"}),
        (
            '<script type="application/ld+json">//<![CDATA[\n{"@type": "Product", "name": "C"};\n//]]></script>',
            {"name": "C"},
        ),
        # microdata
        (
            """<div itemscope itemtype="https://schema.org/Product"><h1 itemprop=name> Reel </h1>
            <img itemprop=image src=r.jpg><meta itemprop=sku content=r1><div itemprop=brand itemscope
            itemtype="https://schema.org/Brand"><span itemprop=name>Line</span></div>
            <div itemprop=offers itemscope itemtype="https://schema.org/Offer">
            <span itemprop=price content="1299.00">1.299</span>
            <meta itemprop=priceCurrency content=EUR><link itemprop=availability href="https://schema.org/PreOrder"></div>
            <div itemprop=aggregateRating itemscope><b itemprop=ratingValue>4.2</b>
            of <b itemprop=reviewCount>17</b></div></div>""",
            {
                "name": "Reel",
                "price": 1299.0,
                "currency": "EUR",
                "availability": "preorder",
                "brand": "Line",
                "sku": "r1",
            }
            | {"rating": 4.2, "review_count": 17, "images": ["https://shop.example/p/r.jpg"]},
        ),
        # RDFa
        (
            """<div vocab="https://schema.org/" typeof="Product"><b property="name">Rod</b>
            <img property="image" src="r.jpg">
            <p property="offers" typeof="Offer"><i property="price">7,50 €</i>
            <link property="availability" href="https://schema.org/InStock"></p></div>""",
            {"name": "Rod", "price": 7.5, "currency": "EUR", "availability": "in_stock"}
            | {"images": ["https://shop.example/p/r.jpg"]},
        ),
        # a crossed-out price is not the price
        (
            ld(
                thing(
                    offers={
                        "priceSpecification": [
                            {"price": 11, "priceCurrency": "EUR", "priceType": "https://schema.org/ListPrice"},
                            {"price": 10, "priceCurrency": "EUR"},
                        ]
                    }
                )
            ),
            {"name": "Hook", "price": 10.0, "currency": "EUR"},
        ),
        # OpenGraph and similar vocabularies
        (
            """<meta property="og:type" content="product"><meta property="og:title" content="Rod">
            <meta property="product:price:amount" content="49.90"><meta property="product:price:currency" content="chf">
            <meta property="product:availability" content="in stock"><meta property="product:brand" content="Line">
            <meta property="og:image" content="/rod.jpg"><meta property="product:retailer_item_id" content="rod-1">""",
            {
                "name": "Rod",
                "price": 49.9,
                "currency": "CHF",
                "availability": "in_stock",
                "brand": "Line",
                "sku": "rod-1",
            }
            | {"images": ["https://shop.example/rod.jpg"]},
        ),
        # scripts
        (
            """<script id="__NEXT_DATA__" type="application/json">{"props": {"pageProps": {"product": {"name": "Bait",
            "price": {"value": 3.5, "currency": "USD"}, "inStock": false, "brand": {"name": "Line"},
            "images": ["/b.jpg"]},
            "footer": {"name": "x"}}}}</script>""",
            {"name": "Bait", "price": 3.5, "currency": "USD", "availability": "out_of_stock", "brand": "Line"}
            | {"images": ["https://shop.example/b.jpg"]},
        ),
        (
            """<script>dataLayer.push({ecommerce: null}); dataLayer.push({'event': 'view_item', ecommerce: {
            currency: 'SEK',
            items: [{item_name: 'Net', item_id: 'n1', price: '1 299,00', item_brand: 'Line'}]}});</script>""",
            {"name": "Net", "price": 1299.0, "currency": "SEK", "sku": "n1", "brand": "Line"},
        ),
        # one source adds fields that another lacks, and the first one wins
        (
            ld(thing(offers=OFFER)) + '<meta property="product:price:amount" content="5">'
            '<meta property="product:brand" content="Line">',
            SOLD | {"name": "Hook", "brand": "Line"},
        ),
        # offers of others, sums, variants
        (
            ld({"@type": "Offer", "price": 5, "priceCurrency": "EUR", "itemOffered": thing()}),
            {"name": "Hook", "price": 5.0},
        ),
        (ld({"@type": "Book", "name": "Knots", "offers": OFFER}), SOLD | {"name": "Knots"}),
        (ld({"@type": "Book", "name": "Knots"}), {}),
        (ld({"@type": "product", "name": "Hook"}), {"name": "Hook"}),
        (
            ld(thing(isVariantOf={"@type": "ProductGroup", "name": "Hooks", "brand": "Line"}, description="<p>A<b>B")),
            {"name": "Hook", "brand": "Line", "description": "AB"},
        ),
        # ratings are of five
        *(
            (ld(thing(aggregateRating=rating)), {"rating": value})
            for rating, value in (
                ({"ratingValue": "8.8", "bestRating": "10"}, 4.4),
                ({"ratingValue": 4.4, "bestRating": 5}, 4.4),
                ({"ratingValue": "88%"}, 4.4),
                ({"ratingValue": "8,8/10"}, 4.4),
                ({"ratingValue": "4.667"}, 4.67),
                ({"ratingValue": "4,125", "bestRating": "5"}, 4.12),
                ({"ratingValue": "9.125", "bestRating": "10.000"}, 4.56),
                ({"ratingValue": "4.5 out of 5 stars"}, 4.5),
                ({"ratingValue": 88}, None),
                ({"ratingValue": "good"}, None),
            )
        ),
        # no product
        (ld({"@type": "Article", "name": "x"}), {}),
        ('<meta property="og:title" content="x"><title>x</title>', {}),
        (
            '<meta property="og:title" content="x"><meta name="twitter:label1" content="Written by">'
            '<meta name="twitter:data1" content="A. Mate, 5 minutes">',
            {},
        ),
        (
            '<meta property="og:title" content="x"><meta name="twitter:label1" content="Price">'
            '<meta name="twitter:data1" content="€ 5">',
            {"name": "x", "price": 5.0, "currency": "EUR"},
        ),
        ("<script>dataLayer = [{name: 'x'}]</script>", {}),
        ("", {}),
    ],
)
def test_products(markup, fields):
    got = found(markup)
    assert {name: got.get(name) for name in fields} == fields
    assert bool(got) == bool(fields)


def test_the_selectors_of_the_source_come_first():
    markup = (
        ld(thing(offers=OFFER, brand="Line"))
        + "<h1>Hook, large</h1><p class=p>now 1.234,50 zł</p><i class=s>Sold out</i>"
    )
    got = found(markup, selectors={"product": {"name": "h1", "price": ".p", "availability": ".s"}})
    assert got["name"] == "Hook, large"
    assert got["price"] == 1234.5
    assert got["currency"] == "PLN"
    assert got["availability"] == "out_of_stock"
    assert got["brand"] == "Line"


async def test_as_a_parser():
    registry = Registry(built_in)
    assert registry.parser_for(Page(HERE, b"", content_type="text/html")) is None  # only for sources with this setting
    marked = registry.named("product")
    assert marked
    made = [one async for one in marked.parse(Page(HERE, (ld(thing(offers=OFFER)) + "<a href=2>").encode()))]
    assert made[0] == Links(["https://shop.example/p/2"])
    assert isinstance(made[1], Item)
    assert (made[1].kind, made[1].fields["title"], made[1].fields["price"]) == ("product", "Hook", 19.99)
    assert [one async for one in marked.parse(Page(HERE, b"<title>x</title>"))] == [Links([])]
