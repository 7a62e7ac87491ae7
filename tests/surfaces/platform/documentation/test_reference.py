"""The OpenAPI document in the form of a page."""

import pytest

from longline.surfaces.platform.documentation.reference import kind_of, reference

DOCUMENT = {
    "info": {"title": "Longline", "version": "1.2.3"},
    "tags": [{"name": "jobs", "description": "Jobs."}, {"name": "empty", "description": "Nothing."}],
    "x-tagGroups": [{"name": "Crawler", "tags": ["jobs", "empty"]}],
    "paths": {
        "/jobs/{id}": {
            "put": {
                "operationId": "change_job",
                "summary": "Change a job",
                "tags": ["jobs"],
                "security": [{"bearer": []}, {"token_in_query": []}],
                "parameters": [
                    {
                        "name": "id",
                        "in": "path",
                        "required": True,
                        "description": "Id of the job.",
                        "schema": {"type": "string", "default": ""},
                    }
                ],
                "requestBody": {
                    "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/Job"}, "example": {"url": "u"}}
                    }
                },
                "responses": {
                    "200": {
                        "description": "OK",
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Job"}}},
                    },
                    "404": {
                        "description": "Not Found",
                        "content": {"application/json": {"schema": {}, "examples": {"a": {"value": {"error": "no"}}}}},
                    },
                    "204": {"description": "No Content"},
                },
            }
        }
    },
    "components": {
        "schemas": {
            "Job": {
                "description": "A job.",
                "required": ["url"],
                "properties": {
                    "url": {"type": "string", "format": "uri", "maxLength": 10, "description": "The start."},
                    "every": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
                },
            }
        }
    },
}


def test_an_operation_is_shown_with_its_parameters_body_answers_and_access():
    found = reference(DOCUMENT)
    (group,) = found.groups
    (operation,) = group.sections[0].operations
    assert (group.title, found.operation_count) == ("Crawler", 1)
    assert group.sections[1].operations == ()
    assert (operation.method, operation.path, operation.anchor) == ("PUT", "/jobs/{id}", "change_job")
    assert operation.access == "bearer or token_in_query"
    (field,) = operation.parameters
    assert (field.name, field.place, field.required, field.notes) == ("id", "path", True, "Id of the job")
    assert operation.body_model == "Job"
    assert operation.body_example == '{\n  "url": "u"\n}'
    assert [answer.status for answer in operation.answers] == ["200", "204", "404"]
    assert operation.answers[2].examples[0].text == '{\n  "error": "no"\n}'


def test_a_model_is_shown_with_its_fields_and_their_bounds():
    (model,) = reference(DOCUMENT).models
    url, every = model.fields
    assert (model.name, model.description) == ("Job", "A job.")
    assert (url.kind, url.required, url.notes) == ("string (uri)", True, "The start. at most 10 characters")
    assert (every.kind, every.required, every.notes) == ("integer | null", False, "")


@pytest.mark.parametrize(
    ("schema", "kind", "model"),
    [
        ({}, "any", None),
        ({"type": "boolean"}, "boolean", None),
        ({"enum": ["a", 1]}, '"a" | 1', None),
        ({"const": True}, "true", None),
        ({"type": "array", "items": {"$ref": "#/components/schemas/Job"}}, "list of Job", "Job"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "object of integer", None),
        ({"type": "object", "additionalProperties": {}}, "object of any", None),
        ({"anyOf": [{"$ref": "#/components/schemas/Job"}, {"type": "null"}]}, "Job | null", "Job"),
    ],
)
def test_types_are_put_in_words(schema: dict[str, object], kind: str, model: str | None):
    assert kind_of(schema) == (kind, model)
