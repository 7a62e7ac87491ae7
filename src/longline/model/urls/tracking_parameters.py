"""Query parameters of campaigns and clicks, which do not change the page of a URL."""

TRACKING_PARAMETERS = frozenset(
    (
        "utm_source",
        "utm_medium",
        "utm_campaign",
        "utm_term",
        "utm_content",
        "fbclid",
        "gclid",
        "gclsrc",
        "dclid",
        "msclkid",
    )
)
