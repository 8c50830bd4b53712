"""Requests drawn from the description of an app, which none may answer with a mistake."""

import os
from contextlib import suppress

import schemathesis
from hypothesis import given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

#: Set RAREFIND_SCHEMATHESIS to a number: so many times the examples.
LONGER = int(os.environ.get("RAREFIND_SCHEMATHESIS", "1"))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


def longer(examples):
    """So many examples, or as many times that as RAREFIND_SCHEMATHESIS says."""
    return examples * LONGER


def try_description(url, token, examples):
    """Send requests that fit the description, and such that do not; return how many.

    In the short form, requests that do not fit are sent where there is a body.
    """
    description = schemathesis.openapi.from_url(f"{url}/openapi.json")
    count = 0
    for found in description.get_all_operations():
        operation = found.ok()
        wrong = [GenerationMode.NEGATIVE] if LONGER > 1 or operation.body else []
        for mode in (GenerationMode.POSITIVE, *wrong):

            @given(case=operation.as_strategy(generation_mode=mode))
            @settings(max_examples=examples, database=None)
            def send(case):
                nonlocal count
                count += 1
                answer = case.call(headers={"authorization": f"Bearer {token}"})
                case.validate_response(answer, checks=CHECKS)

            # Where nothing is sent, nothing can be wrong.
            with suppress(Unsatisfiable):
                send()
    return count


def examples_of_requests(description):
    """The bodies that a description shows, with their addresses: (path, method, body)."""
    for path, methods in description["paths"].items():
        for method, route in methods.items():
            content = route.get("requestBody", {}).get("content", {}).get("application/json")
            if content is not None:
                yield path, method.upper(), content["example"]
