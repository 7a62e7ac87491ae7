"""The parser of products: name, price, availability, rating and more."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from longline.html.structured_data import Thing, as_list, text_value, things_of, types_of, url_values
from longline.model.urls.link_resolution import join
from longline.parsers.markup import plain_text
from longline.parsers.product.offers import availability_of, offer_fields
from longline.parsers.product.prices import currency_of, price_of
from longline.parsers.product.scripts import objects, script_data
from longline.parsers.selectors import groups_of, select_fields
from longline.plugins import Item, Links, Page, parser

FIELDS = (
    *("name", "description", "price", "currency", "availability", "rating", "review_count", "brand", "category"),
    *("sku", "gtin", "images", "url"),
)

_KINDS = frozenset(("product", "productgroup", "productmodel", "individualproduct", "someproducts", "vehicle", "car"))
_PRODUCTS_WITH_OFFERS = frozenset(
    ("book", "softwareapplication", "mobileapplication", "webapplication", "videogame", "musicalbum")
)
"""Types of objects that are products if they have offers."""

_GROUP_PROPERTIES = ("description", "brand", "manufacturer", "category", "image", "aggregateRating")
"""Properties that a variant inherits from its group, unless it has its own."""

_GTINS = ("gtin", "gtin13", "gtin14", "gtin12", "gtin8", "isbn")
_RATING = re.compile(r"([\d.,]+)\s*(?:(%)|(?:/|out of|of|von|sur|de|su|из)\s*(\d+))\D*")
_MAX_RATING = 9.99
"""Largest rating: the stored number has one digit before the point."""

Fields = dict[str, Any]


@parser("product", match=())
def product(page: Page) -> Iterator[Item | Links]:
    """Yield every link that may be followed, and the product of the page, if any."""
    yield Links(page.links())
    found = read(page)
    if found.get("name"):
        yield Item("product", title=found["name"], **found)


def read(page: Page) -> Fields:
    """Return the fields of the page's product; of several origins of a field the first wins."""
    found: Fields = {}
    for source in (_of_selectors, _of_json_ld, _of_microdata, _of_rdfa, _of_metas, _of_scripts):
        found = {name: value for name, value in source(page).items() if value not in (None, "", [])} | found
    if not found.get("name"):
        return {}
    images = [join(page.base, image) for image in found.get("images", ())]
    found["images"] = list(dict.fromkeys(filter(None, images)))
    found["url"] = join(page.base, found.get("url") or "") or page.canonical or page.url
    return {name: found[name] for name in FIELDS if found.get(name) not in (None, "", [])}


def _of_selectors(page: Page) -> Fields:
    """Return the fields that the source's selectors find, converted to their types."""
    found = next(select_fields(page, "product", groups_of(page).get("product", {})), {})
    currency = currency_of(found.get("currency")) or currency_of(found.get("price"))
    read_as = {name: _CONVERTERS[name](value) if name in _CONVERTERS else value for name, value in found.items()}
    return read_as | {"price": price_of(found.get("price"), currency), "currency": currency}


def _of_json_ld(page: Page) -> Fields:
    return _of_things(page.data.json_ld)


def _of_microdata(page: Page) -> Fields:
    return _of_things(page.data.microdata)


def _of_rdfa(page: Page) -> Fields:
    return _of_things(page.data.rdfa)


def _of_things(things: list[Thing]) -> Fields:
    products = [inner for thing in things for inner in _products(thing) if _is_product(inner)]
    with_price = (fields for fields in map(schema_fields, products) if fields["price"] is not None)
    return next(with_price, schema_fields(products[0]) if products else {})


def _is_product(thing: Thing) -> bool:
    kinds = {kind.lower() for kind in types_of(thing)}
    return not _KINDS.isdisjoint(kinds) or bool(thing.get("offers") and not _PRODUCTS_WITH_OFFERS.isdisjoint(kinds))


def _products(thing: Thing) -> Iterator[Thing]:
    """Yield the object itself, and the products that a page, an offer or a review is about."""
    yield thing
    yield from (inner | {"offers": inner.get("offers") or thing} for inner in things_of(thing.get("itemOffered")))
    for name in ("mainEntity", "itemReviewed", "about"):
        yield from things_of(thing.get(name))


def schema_fields(thing: Thing) -> Fields:
    """Return the fields of a schema.org product from JSON-LD, microdata or RDFa."""
    for group in things_of(thing.get("isVariantOf")):
        thing = {name: group[name] for name in _GROUP_PROPERTIES if name in group} | thing
    variants = things_of(thing.get("hasVariant"))
    rating = next(iter(things_of(thing.get("aggregateRating"))), {})
    first = variants[0] if variants else {}
    offers = as_list(thing.get("offers")) or [o for variant in variants for o in as_list(variant.get("offers"))]
    return {
        "name": text_value(thing.get("name")),
        "description": plain_text(text_value(thing.get("description"))),
        **offer_fields(offers),
        "rating": _rating(rating.get("ratingValue"), rating.get("bestRating")),
        "review_count": _count(rating.get("reviewCount") or rating.get("ratingCount")),
        "brand": text_value(thing.get("brand") or thing.get("manufacturer")),
        "category": text_value(thing.get("category")),
        "sku": text_value(thing.get("sku") or first.get("sku") or thing.get("mpn") or thing.get("productID")),
        "gtin": next((text for name in _GTINS if (text := text_value(thing.get(name)))), ""),
        "images": url_values(thing.get("image") or first.get("image")),
        "url": next(iter(url_values(thing.get("url"))), ""),
    }


def _rating(value: Any, best: Any = None) -> float | None:
    """Return a rating out of five; a rating out of ten, of a hundred and the like is scaled."""
    written = _RATING.fullmatch(text_value(value))
    rating = price_of(written[1] if written else value, is_small=True)
    most = price_of(best, is_small=True)
    if written and most is None:
        most = 100.0 if written[2] == "%" else price_of(written[3], is_small=True)
    if rating is not None and most and most > 5:
        rating = round(rating / most * 5, 2)
    return rating if rating is not None and rating <= _MAX_RATING else None


def _count(value: Any) -> int | None:
    digits = "".join(c for c in text_value(value) if c.isdecimal())
    return int(digits) if digits and len(digits) < 12 else None


def _of_metas(page: Page) -> Fields:
    """Return the fields of OpenGraph and product metas; empty if they name neither a price nor the type product."""
    written = page.data.meta("product:price:amount", "og:price:amount", "product:sale_price:amount")
    if not written and "price" in page.data.meta("twitter:label1").lower():
        written = page.data.meta("twitter:data1")
    kind = page.data.meta("og:type").lower()
    if not written and "product" not in kind:
        return {}
    named = page.data.meta("product:price:currency", "og:price:currency", "product:sale_price:currency")
    currency = currency_of(named) or currency_of(written)
    return {
        "name": page.data.meta("og:title", "twitter:title"),
        "description": page.data.meta("og:description", "description"),
        "price": price_of(written, currency),
        "currency": currency,
        "availability": availability_of(page.data.meta("product:availability", "og:availability")),
        "rating": _rating(page.data.meta("og:rating", "product:rating:value"), page.data.meta("og:rating_scale")),
        "review_count": _count(page.data.meta("og:rating_count", "product:rating:count")),
        "brand": page.data.meta("product:brand", "og:brand"),
        "category": page.data.meta("product:category"),
        "sku": page.data.meta("product:retailer_item_id", "product:sku"),
        "gtin": page.data.meta("product:ean", "product:gtin", "product:upc", "product:isbn"),
        "images": page.data.metas.get("og:image", []),
        "url": page.data.meta("og:url"),
    }


_NAMES: dict[str, tuple[str, ...]] = {
    "name": ("name", "title", "productName", "product_name", "item_name", "displayName"),
    "description": ("description", "shortDescription"),
    "price": (
        "price",
        "salePrice",
        "currentPrice",
        "finalPrice",
        "sellingPrice",
        "product_price",
        "item_price",
        "amount",
    ),
    "currency": ("currency", "priceCurrency", "currencyCode", "currency_code"),
    "availability": ("availability", "stockStatus", "availabilityStatus", "inStock", "available"),
    "rating": ("rating", "ratingValue", "averageRating", "average_rating"),
    "review_count": ("reviewCount", "ratingCount", "numReviews", "review_count"),
    "brand": ("brand", "brandName", "vendor", "manufacturer", "item_brand"),
    "category": ("category", "item_category", "product_type"),
    "sku": ("sku", "productId", "product_id", "item_id", "id"),
    "gtin": ("gtin", "gtin13", "ean", "barcode", "upc"),
    "images": ("images", "image", "imageUrl", "featured_image"),
    "url": ("url", "productUrl", "canonicalUrl"),
}


def _of_scripts(page: Page) -> Fields:
    """Return the product with a name and a price that has the most fields in the page's scripts."""
    best: Fields = {}
    for data in script_data(page.tree):
        for thing, outer in objects(data):
            found = _of_object(thing, outer)
            if len(found) > len(best):
                best = found
    return best


def _of_object(thing: Mapping[str, Any], outer: Mapping[str, Any]) -> Fields:
    said = {field: _first(thing, names) for field, names in _NAMES.items()}
    name, price = text_value(said["name"]), said["price"]
    if isinstance(price, Mapping):
        said["currency"] = said["currency"] or _first(price, _NAMES["currency"])
        price = _first(price, ("value", "amount", "current", "price", "centAmount"))
    currency = currency_of(text_value(said["currency"] or _first(outer, _NAMES["currency"]))) or currency_of(price)
    amount = price_of(price, currency)
    if not name or amount is None or not isinstance(said["name"], str):
        return {}
    made = {field: _CONVERTERS[field](value) for field, value in said.items() if field in _CONVERTERS}
    made |= {"name": name, "price": amount, "currency": currency}
    return {field: value for field, value in made.items() if value not in (None, "", [])}


def _first(thing: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((thing[name] for name in names if thing.get(name) not in (None, "", [])), None)


def _availability(value: Any) -> str:
    if isinstance(value, bool):
        return "in_stock" if value else "out_of_stock"
    return availability_of(text_value(value))


_CONVERTERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("description", "brand", "category", "sku", "gtin"), text_value),
    "availability": _availability,
    "rating": _rating,
    "review_count": _count,
    "images": url_values,
    "url": lambda value: next(iter(url_values(value)), ""),
}
