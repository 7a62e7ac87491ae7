"""Request bodies of bots, for the OpenAPI document: the framework cannot derive them from fields read one by one."""

from dataclasses import dataclass

from litestar.openapi.spec import OpenAPIMediaType, OpenAPIType, Operation, RequestBody, Schema
from litestar.openapi.spec.enums import OpenAPIFormat

_TEXT, _FLAG = OpenAPIType.STRING, OpenAPIType.BOOLEAN

_WHO = {
    "bot_id": Schema(type=_TEXT, min_length=1, max_length=100),
    "api_token": Schema(type=_TEXT, description="Or as a bearer's token."),
}
_JOB = {"job_id": Schema(type=_TEXT, format=OpenAPIFormat.UUID)}
_PULL = {
    "max_jobs": Schema(type=OpenAPIType.INTEGER, minimum=1, maximum=100, default=10),
    "domain": Schema(type=_TEXT, max_length=255, description="Part of the host's name."),
    "hosts": Schema(
        type=OpenAPIType.ARRAY,
        items=Schema(type=_TEXT, max_length=255),
        max_items=100,
        description="Whole host names; `*.example.com` stands for every host below example.com.",
    ),
}
_SUBMIT = {
    "success": Schema(type=_FLAG),
    "price": Schema(type=OpenAPIType.NUMBER, minimum=0, description="Needed for a success; two places."),
    "currency": Schema(type=_TEXT, pattern="^[A-Za-z]{3}$", description="Needed for a success."),
    "title": Schema(type=_TEXT, max_length=500),
    "in_stock": Schema(type=_FLAG, default=True),
    "raw_html": Schema(type=_TEXT),
    "parsed_data": Schema(type=OpenAPIType.OBJECT),
    "error_msg": Schema(type=_TEXT, description="Of a failure; 500 characters are kept."),
}


def _body(required: list[str], properties: dict[str, Schema]) -> RequestBody:
    shape = Schema(type=OpenAPIType.OBJECT, required=required, properties=dict(properties))
    return RequestBody(content={"application/json": OpenAPIMediaType(schema=shape)}, required=True)


@dataclass
class PullOperation(Operation):
    """A pull."""

    def __post_init__(self) -> None:
        self.request_body = _body(["bot_id"], {**_WHO, **_PULL})


@dataclass
class SubmitOperation(Operation):
    """A submit."""

    def __post_init__(self) -> None:
        self.request_body = _body(["bot_id", "job_id", "success"], {**_WHO, **_JOB, **_SUBMIT})


@dataclass
class HeartbeatOperation(Operation):
    """A heartbeat."""

    def __post_init__(self) -> None:
        self.request_body = _body(["bot_id", "job_id"], {**_WHO, **_JOB})
