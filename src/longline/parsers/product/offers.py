"""Offers of a product: price, currency and availability."""

from collections.abc import Iterator
from typing import Any

from longline.html.structured_data import Thing, as_list, text_value, things_of, url_values
from longline.parsers.product.prices import currency_of, price_of

_WORDS = (
    ("discontinued", "discontinued"),
    ("preorder", "preorder presale backorder availablefororder vorbestell précommande precommande 予約"),
    (
        "out_of_stock",
        "outofstock soldout unavailable notavailable notinstock nostock reserved oos ausverkauft vergriffen "
        "nichtverfügbar nichtlieferbar nichtauflager rupture épuisé indisponible agotado sinstock nodisponible "
        "esaurito nondisponibile esgotado indisponível uitverkocht nietopvoorraad slutsåld utsolgt udsolgt niedostępny "
        "нетвналичии 在庫なし 在庫切れ 缺货 售罄",
    ),
    (
        "in_stock",
        "instock limitedavailability instoreonly onlineonly madetoorder available auflager lagernd vorrätig lieferbar "
        "verfügbar enstock disponib disponível emestoque opvoorraad ilager pålager dostępny вналичии 在庫あり 有货 "
        "现货",
    ),
)
_AVAILABILITY = tuple((sign, word) for word, signs in _WORDS for sign in signs.split())
"""Signs of availability, in order: a sign that is part of another one comes after it."""

_LIST_PRICE_TYPES = frozenset(
    ("ListPrice", "MSRP", "SRP", "RegularPrice", "StrikethroughPrice", "MinimumAdvertisedPrice")
)

Fields = dict[str, Any]


def offer_fields(values: list[Any]) -> Fields:
    """Return the cheapest available offer, else the cheapest."""
    offers = [offer for value in things_of(values) for offer in _summed(value)]
    priced = [offer for offer in offers if offer["price"] is not None]
    had = [offer for offer in priced if offer["availability"] in ("in_stock", "")]
    best = min(had or priced or offers[:1], key=lambda offer: offer["price"] or 0.0, default={})
    said = next((offer["availability"] for offer in offers if offer["availability"]), "")
    return (
        {"price": None, "currency": "", "availability": ""}
        | best
        | ({} if best.get("availability") else {"availability": said})
    )


def _summed(offer: Thing) -> list[Fields]:
    """Return the inner offers of an offer if any has a price, else the offer itself and its inner offers."""
    own = _one_offer(offer)
    inner = [_one_offer(each) for each in things_of(offer.get("offers"))]
    inner = [each | {"currency": each["currency"] or own["currency"]} for each in inner]
    return inner if any(each["price"] is not None for each in inner) else [own, *inner]


def _one_offer(offer: Thing) -> Fields:
    specified = sorted(things_of(offer.get("priceSpecification")), key=_is_reference_price)
    written = next((value for each in (offer, *specified) for value in _amounts(each)), None)
    codes = (currency_of(text_value(each.get("priceCurrency"))) for each in (offer, *specified))
    currency = next(filter(None, codes), "") or currency_of(written)
    said = text_value(offer.get("availability")) or "".join(url_values(offer.get("availability"))[:1])
    return {"price": price_of(written, currency), "currency": currency, "availability": availability_of(said)}


def _is_reference_price(price: Thing) -> bool:
    """Return whether a price is a list price, a former price or a price per unit of measure."""
    crossed_out = text_value(price.get("priceType")).rpartition("/")[2] in _LIST_PRICE_TYPES
    return crossed_out or bool(price.get("referenceQuantity"))


def _amounts(offer: Thing) -> Iterator[Any]:
    for name in ("price", "lowPrice", "minPrice", "highPrice"):
        value = next(iter(as_list(offer.get(name))), None)
        value = text_value(value) if isinstance(value, dict) else value
        if price_of(value) is not None:
            yield value


def availability_of(text: str) -> str:
    """Return the availability that a text states, as one of the fixed words; empty if the text states none."""
    plain = "".join(c for c in text.rstrip("/").rpartition("/")[2].lower() if c.isalpha())
    if plain in ("true", "yes"):
        return "in_stock"
    return next((word for sign, word in _AVAILABILITY if sign in plain), "")
