"""A product: what it is called, what it costs, whether it can be had, and how it is liked."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from longline.model.url import join
from longline.parsers.prices import currency_of, price_of
from longline.parsers.scripts import objects, script_data
from longline.parsers.selectors import groups_of, select_fields
from longline.plugins import Item, Links, Page, parser
from longline.plugins.structured import Thing, as_list, links_of, types_of, words_of

FIELDS = (
    *("name", "description", "price", "currency", "availability", "rating", "review_count", "brand", "category"),
    *("sku", "gtin", "images", "url"),
)

_KINDS = frozenset(("Product", "ProductGroup", "ProductModel", "IndividualProduct", "SomeProducts", "Vehicle", "Car"))
_GTINS = ("gtin", "gtin13", "gtin14", "gtin12", "gtin8", "isbn")
_AVAILABILITY = (
    ("discontinued", "discontinued"),
    ("preorder", "preorder"),
    ("presale", "preorder"),
    ("backorder", "preorder"),
    ("availablefororder", "preorder"),
    ("outofstock", "out_of_stock"),
    ("soldout", "out_of_stock"),
    ("unavailable", "out_of_stock"),
    ("oos", "out_of_stock"),
    ("instock", "in_stock"),
    ("limitedavailability", "in_stock"),
    ("instoreonly", "in_stock"),
    ("onlineonly", "in_stock"),
    ("madetoorder", "in_stock"),
    ("available", "in_stock"),
)
_CROSSED_OUT = frozenset(("ListPrice", "MSRP", "SRP", "RegularPrice", "StrikethroughPrice", "MinimumAdvertisedPrice"))
_MOST_RATING = 9.99
"""What a rating is stored in has one digit before the point."""

Fields = dict[str, Any]


@parser("product", match=())
def product(page: Page) -> Iterator[Item | Links]:
    """The product of a page, if it is one, and every link that may be followed."""
    yield Links(page.links())
    found = read(page)
    if found.get("name"):
        yield Item("product", title=found["name"], **found)


def read(page: Page) -> Fields:
    """What the page says of its product; where several sources say something, the first of them is believed."""
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
    """What the source's own selectors find, read as it is meant."""
    found = next(select_fields(page, "product", groups_of(page).get("product", {})), {})
    currency = currency_of(found.get("currency")) or currency_of(found.get("price"))
    read_as = {name: _AS[name](value) if name in _AS else value for name, value in found.items()}
    return read_as | {"price": price_of(found.get("price"), currency), "currency": currency}


def _of_json_ld(page: Page) -> Fields:
    return _of_things(page.data.json_ld)


def _of_microdata(page: Page) -> Fields:
    return _of_things(page.data.microdata)


def _of_rdfa(page: Page) -> Fields:
    return _of_things(page.data.rdfa)


def _of_things(things: list[Thing]) -> Fields:
    products = [inner for thing in things for inner in _products(thing) if _KINDS & types_of(inner)]
    with_price = (fields for fields in map(of_schema, products) if fields["price"] is not None)
    return next(with_price, of_schema(products[0]) if products else {})


def _products(thing: Thing) -> list[Thing]:
    """The thing itself, and the product that a page, an offer or a review is about."""
    about = (thing.get(name) for name in ("mainEntity", "itemOffered", "itemReviewed", "about"))
    return [thing, *(inner for value in about for inner in as_list(value) if isinstance(inner, dict))]


def of_schema(thing: Thing) -> Fields:
    """A product of schema.org, as JSON-LD or as microdata."""
    variants = [each for each in as_list(thing.get("hasVariant")) if isinstance(each, dict)]
    rating = next((each for each in as_list(thing.get("aggregateRating")) if isinstance(each, dict)), {})
    first = variants[0] if variants else {}
    offers = as_list(thing.get("offers")) or [o for variant in variants for o in as_list(variant.get("offers"))]
    return {
        "name": words_of(thing.get("name")),
        "description": words_of(thing.get("description")),
        **_of_offers(offers),
        "rating": _rating(rating.get("ratingValue"), rating.get("bestRating")),
        "review_count": _count(rating.get("reviewCount") or rating.get("ratingCount")),
        "brand": words_of(thing.get("brand") or thing.get("manufacturer")),
        "category": words_of(thing.get("category")),
        "sku": words_of(thing.get("sku") or first.get("sku") or thing.get("mpn") or thing.get("productID")),
        "gtin": next((text for name in _GTINS if (text := words_of(thing.get(name)))), ""),
        "images": links_of(thing.get("image") or first.get("image")),
        "url": next(iter(links_of(thing.get("url"))), ""),
    }


def _of_offers(values: list[Any]) -> Fields:
    """Of several offers the cheapest that can be had, else the cheapest."""
    offers = [_of_offer(each) for each in _flat(values)]
    priced = [offer for offer in offers if offer["price"] is not None]
    had = [offer for offer in priced if offer["availability"] in ("in_stock", "")]
    best = min(had or priced or offers[:1], key=lambda offer: offer["price"] or 0.0, default={})
    said = next((offer["availability"] for offer in offers if offer["availability"]), "")
    return (
        {"price": None, "currency": "", "availability": ""}
        | best
        | ({} if best.get("availability") else {"availability": said})
    )


def _flat(values: list[Any]) -> Iterator[Thing]:
    """Offers, and after a sum of offers the ones that it sums up."""
    for value in values:
        if isinstance(value, dict):
            yield value
            yield from (inner for inner in as_list(value.get("offers")) if isinstance(inner, dict))


def _of_offer(offer: Thing) -> Fields:
    specified = [each for each in as_list(offer.get("priceSpecification")) if isinstance(each, dict)]
    specified.sort(key=_is_crossed_out)
    written = next((value for each in (offer, *specified) for value in _amounts(each)), None)
    codes = (currency_of(words_of(each.get("priceCurrency"))) for each in (offer, *specified))
    currency = next(filter(None, codes), "") or currency_of(written)
    return {
        "price": price_of(written, currency),
        "currency": currency,
        "availability": availability_of(
            words_of(offer.get("availability")) or "".join(links_of(offer.get("availability"))[:1])
        ),
    }


def _is_crossed_out(price: Thing) -> bool:
    """Whether it is what something would cost elsewhere, or cost before."""
    return words_of(price.get("priceType")).rpartition("/")[2] in _CROSSED_OUT


def _amounts(offer: Thing) -> Iterator[Any]:
    for name in ("price", "lowPrice", "minPrice", "highPrice"):
        value = next(iter(as_list(offer.get(name))), None)
        if price_of(value) is not None:
            yield value


def availability_of(text: str) -> str:
    """The one word for whether something can be had; empty if the text does not tell."""
    plain = "".join(c for c in text.rpartition("/")[2].lower() if c.isalpha())
    if plain in ("true", "yes"):
        return "in_stock"
    return next((word for sign, word in _AVAILABILITY if sign in plain), "")


def _rating(value: Any, best: Any = None) -> float | None:
    rating, most = price_of(value), price_of(best)
    if rating is not None and rating > _MOST_RATING and most:
        rating = round(rating / most * 5, 2)
    return rating if rating is not None and rating <= _MOST_RATING else None


def _count(value: Any) -> int | None:
    digits = "".join(c for c in words_of(value) if c.isdecimal())
    return int(digits) if digits and len(digits) < 12 else None


def _of_metas(page: Page) -> Fields:
    """OpenGraph and what shops add to it; a page that names no price there is not taken for a product."""
    written = page.data.meta("product:price:amount", "og:price:amount", "product:sale_price:amount", "twitter:data1")
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
    """The object in the page's scripts that says most about a product with a name and a price."""
    best: Fields = {}
    for data in script_data(page.tree):
        for thing, outer in objects(data):
            found = _of_object(thing, outer)
            if len(found) > len(best):
                best = found
    return best


def _of_object(thing: Mapping[str, Any], outer: Mapping[str, Any]) -> Fields:
    said = {field: _first(thing, names) for field, names in _NAMES.items()}
    name, price = words_of(said["name"]), said["price"]
    if isinstance(price, Mapping):
        said["currency"] = said["currency"] or _first(price, _NAMES["currency"])
        price = _first(price, ("value", "amount", "current", "price", "centAmount"))
    currency = currency_of(words_of(said["currency"] or _first(outer, _NAMES["currency"]))) or currency_of(price)
    amount = price_of(price, currency)
    if not name or amount is None or not isinstance(said["name"], str):
        return {}
    made = {field: _AS[field](value) for field, value in said.items() if field in _AS}
    made |= {"name": name, "price": amount, "currency": currency}
    return {field: value for field, value in made.items() if value not in (None, "", [])}


def _first(thing: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((thing[name] for name in names if thing.get(name) not in (None, "", [])), None)


def _stocked(value: Any) -> str:
    if isinstance(value, bool):
        return "in_stock" if value else "out_of_stock"
    return availability_of(words_of(value))


_AS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("description", "brand", "category", "sku", "gtin"), words_of),
    "availability": _stocked,
    "rating": _rating,
    "review_count": _count,
    "images": links_of,
    "url": lambda value: next(iter(links_of(value)), ""),
}
