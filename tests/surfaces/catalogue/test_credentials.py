"""Passwords in URLs of the catalogue: refused, and neither shown nor stored."""

import pytest

from tests.surfaces.catalogue.running import Admin, fields

PASSWORD = "hunter2canary"
SECRET_URL = f"https://bob:{PASSWORD}@site.example/x"


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("POST", "crawler/sources", {"name": "S", "slug": "s", "baseurl": SECRET_URL}, "baseurl"),
        ("PATCH", "crawler/sources/{source}", {"baseurl": SECRET_URL}, "baseurl"),
        ("POST", "comics", {"title": "x", "coverurl": SECRET_URL}, "coverurl"),
        (
            "POST",
            "comics/{comic}/sources",
            {"sourceid": "{source}", "sourceid_ext": "x", "sourceurl": SECRET_URL},
            "sourceurl",
        ),
        ("PATCH", "comics/{comic}/sources/{mapping}", {"sourceurl": SECRET_URL}, "sourceurl"),
    ],
)
async def test_a_url_with_a_password_is_refused(
    admin: Admin, method: str, path: str, body: dict[str, object], field: str
):
    source, comic = await admin.source(), await admin.comic()
    mapping = await admin.mapping(comic, source)
    ids = {"source": source["id"], "comic": comic["id"], "mapping": mapping["id"]}
    sent = body | ({"sourceid": source["id"]} if "sourceid" in body else {})
    answer = await admin.ask(method, path.format(**ids), sent)
    assert (answer.status_code, fields(answer)) == (400, [field]), answer.text
    assert PASSWORD not in answer.text
    assert PASSWORD not in str(await admin.audit())
