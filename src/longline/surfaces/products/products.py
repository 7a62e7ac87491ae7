"""`/api/products`: products of all domains, listed, searched and shown with their history of prices."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from longline.model.errors import Unavailable
from longline.model.search.item import own_fields
from longline.model.search.query import Filters, Sort
from longline.services.recrawls.images import ProductImages
from longline.services.search.item_history import ItemHistories
from longline.services.search.item_search import Searches, SearchPage, SearchRequest
from longline.surfaces.operation import ApiFailure, operation
from longline.surfaces.products import errors, examples
from longline.surfaces.products.envelope import ListSuccess, listed
from longline.surfaces.products.field_types import NO_NUL, DomainId, PagedQuery, ProductId
from longline.surfaces.products.product_responses import (
    ProductBody,
    ProductDetail,
    past_prices,
    product_body,
    product_images,
)

PATH = "/api/products"
KIND = "product"
MAX_PRICE = 99_999_999.99
Availability = Literal["in_stock", "out_of_stock", "preorder", "discontinued"]
SortField = Literal["price", "rating", "created_at", "updated_at"]
_SORTS: dict[SortField, Sort] = {
    "price": "price",
    "rating": "rating",
    "created_at": "created",
    "updated_at": "updated",
}
_SHOWN = frozenset(
    ("name", "title", "description", "price", "currency", "availability", "rating", "review_count", "brand", "category")
) | {"sku", "images", "url", "content_hash"}
"""Fields with a column of their own; all others are metadata."""

Price = Annotated[float, Meta(ge=0, le=MAX_PRICE, description="An amount in the currency of the product.")]
Text = Annotated[str, Meta(max_length=500, pattern=NO_NUL)]


@dataclass(frozen=True, slots=True)
class CatalogServices:
    """Search in products, single products, and their stored images."""

    searches: Searches
    products: ItemHistories
    images: ProductImages


class ProductFilters(PagedQuery, frozen=True, kw_only=True):
    """The filter and the page of a list of products."""

    domain_id: DomainId | None = None
    price_min: Price | None = None
    price_max: Price | None = None
    availability: Annotated[Availability, Meta(description="Availability of the product.")] | None = None
    brand: Annotated[Text, Meta(description="Brand, as the shop writes it.")] | None = None

    def filters(self, **more: Any) -> Filters:
        """Return the conditions of the search."""
        return Filters(
            kind=KIND,
            source_id=self.domain_id,
            availability=self.availability,
            brand=self.brand,
            price_min=self.price_min,
            price_max=self.price_max,
            **more,
        )


class ProductSearchQuery(ProductFilters, frozen=True, kw_only=True):
    """The words of a search, its filter and its page."""

    q: Annotated[str, Meta(min_length=1, max_length=1000, pattern=NO_NUL, description="Words, or a phrase in quotes.")]


class ProductListQuery(ProductFilters, frozen=True, kw_only=True):
    """The filter, the order and the page of a list of products."""

    category: Annotated[Text, Meta(description="Category, as the shop writes it.")] | None = None
    rating_min: Annotated[float, Meta(ge=0, le=10, description="Least rating.")] | None = None
    sort_by: Annotated[SortField, Meta(description="Field of the order.")] = "created_at"
    sort_order: Annotated[Literal["asc", "desc"], Meta(description="Rising or falling.")] = "desc"


@operation(
    "GET",
    f"{PATH}/search",
    "Search products by their words",
    access="reader",
    errors=(errors.SEARCH_ERROR,),
    response_example=examples.PRODUCTS,
)
async def search_products(services: CatalogServices, query: ProductSearchQuery) -> ListSuccess[ProductBody]:
    """Search in names, descriptions and further fields, the best match first."""
    asked = SearchRequest(query.q, query.filters(), limit=query.per_page, offset=query.offset)
    return _page(await _found(services, asked), query)


@operation(
    "GET",
    PATH,
    "List products",
    access="reader",
    errors=(errors.INVALID_SORT_FIELD, errors.SEARCH_ERROR),
    response_example=examples.PRODUCTS,
)
async def list_products(services: CatalogServices, query: ProductListQuery) -> ListSuccess[ProductBody]:
    filters = query.filters(category=query.category, rating_min=query.rating_min)
    descending = query.sort_order == "desc"
    asked = SearchRequest("", filters, _SORTS[query.sort_by], descending, query.per_page, query.offset)
    return _page(await _found(services, asked), query)


@operation(
    "GET",
    f"{PATH}/{{product_id}}",
    "Show a product",
    access="reader",
    errors=(errors.NO_PRODUCT,),
    response_example=examples.PRODUCT,
)
async def show_product(services: CatalogServices, product_id: ProductId) -> ProductDetail:
    item = await services.products.get(product_id)
    fields = own_fields(item)
    return ProductDetail(
        **msgspec.structs.asdict(product_body(item)),
        images=await product_images(services.images, item, fields),
        metadata={name: value for name, value in fields.items() if name not in _SHOWN},
        price_history=past_prices(await services.products.versions(product_id)),
    )


PRODUCTS = (search_products, list_products, show_product)


async def _found(services: CatalogServices, asked: SearchRequest) -> SearchPage:
    try:
        return await services.searches.find(asked)
    except Unavailable as error:
        raise ApiFailure(errors.SEARCH_ERROR) from error


def _page(found: SearchPage, query: PagedQuery) -> ListSuccess[ProductBody]:
    bodies = [product_body(hit.item) for hit in found.hits]
    return listed(bodies, query.page, query.per_page, found.total, is_bounded=found.more)
