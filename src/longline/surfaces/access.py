"""Access by token: the `Authorization` header, or a `token` in the query for clients that cannot set headers."""

from longline.services.tokens import TokenClaims, TokenRefused, Tokens
from longline.surfaces.door import Access, HttpRequest


def token_access(tokens: Tokens) -> Access:
    """Return the access with a valid token, and the API key if one is required."""

    def check(request: HttpRequest) -> TokenClaims:
        claims = tokens.verify(bearer_token(request))
        tokens.check(request.header(b"x-api-key"))
        return claims

    return Access(check, ("bearer", "token_in_query"))


def bearer_token(request: HttpRequest) -> str | None:
    """Return the token of a request, or None; raise `TokenRefused` for a malformed header."""
    headers = [value.decode("latin-1") for name, value in request.headers if name == b"authorization"]
    if not headers:
        return next((value for name, value in request.query_values() if name == "token"), None)
    scheme, _, token = headers[0].strip().partition(" ")
    if len(headers) > 1 or scheme.lower() != "bearer" or not token.strip():
        raise TokenRefused("malformed")
    return token.strip()
