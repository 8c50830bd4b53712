"""Bad input, field by field: the error stands at the field, and what was typed is kept.

Forms are sent as a browser without JavaScript sends them.
"""

import pytest
from desk_full import Page
from desk_pages import NOON, PagesDesk

LONG = "x" * 10_001
RULE = {"name": "large", "text": "amount > 5", "based_on": "0"}
WEBHOOK = {"url": "https://example.com/in", "events": "alert.raised"}
HERONS = "three grey herons"


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    """A desk with a rule, a token and a case, which what is wrong does not change."""
    desk = PagesDesk(tmp_path_factory.mktemp("desk"))
    desk.door.control.rules.save("old", "amount > 5", "expert")
    desk.door.tokens.make("till", "ingest", NOON)
    desk.pay("c1")
    yield desk
    desk.close()


@pytest.mark.parametrize(
    ("path", "fields", "wrong", "typed"),
    [
        ("/desk/rules/edit", RULE | {"name": ""}, "field-name", ""),
        ("/desk/rules/edit", RULE | {"name": "x" * 201}, "field-name", "x" * 201),
        ("/desk/rules/edit", RULE | {"name": "terminal"}, "field-name", "terminal"),
        ("/desk/rules/edit", RULE | {"text": "amuont > 5"}, "field-text", "amuont > 5"),
        ("/desk/rules/try", RULE | {"text": ""}, "field-text", ""),
        ("/desk/rules/edit", RULE | {"weight": "much"}, "field-weight", "much"),
        ("/desk/rules/edit", RULE | {"weight": "inf"}, "field-weight", "inf"),
        ("/desk/rules/edit", RULE | {"constants": "5"}, "field-constants", "5"),
        ("/desk/rules/try", RULE | {"constants": "amount = 5"}, "field-constants", "amount = 5"),
        ("/desk/rules/edit", RULE | {"sunset": "soon"}, "field-sunset", "soon"),
        ("/desk/rules/edit", RULE | {"min_precision": "200"}, "field-min_precision", "200"),
        ("/desk/rules/edit", RULE | {"max_false_alerts_a_day": "-1"},
         "field-max_false_alerts_a_day", "-1"),
        ("/desk/rules/edit", RULE | {"note": LONG}, "field-note", LONG),
        ("/desk/rules/role", {"name": "old", "role": "off", "note": LONG}, "field-step-note", LONG),
        ("/desk/rules/role", {"name": "old", "role": "x"}, "field-step_role", None),
        ("/desk/users", {"name": " ann", "role": "expert"}, "field-name", " ann"),
        ("/desk/users", {"name": "ann", "role": "x"}, "field-role", "ann"),
        ("/desk/users", {"name": "admin", "role": "expert"}, "field-name", "admin"),
        ("/desk/tokens", {"name": "a\nb", "role": "ingest"}, "field-name", "a\nb"),
        ("/desk/tokens", {"name": "till", "role": "ingest"}, "field-name", "till"),
        ("/desk/tokens", {"name": "other", "role": "x"}, "field-role", "other"),
        ("/desk/settings/webhooks", WEBHOOK | {"url": "ftp://x"}, "field-url", "ftp://x"),
        ("/desk/settings/webhooks", WEBHOOK | {"events": "x"}, "field-events", WEBHOOK["url"]),
        ("/desk/account", {"language": "xx", "theme": ""}, "field-language", None),
        ("/desk/account", {"language": "", "theme": "pink"}, "field-theme", None),
        ("/desk/account/password", {"present_password": "x", "password": HERONS + "s",
         "password_again": HERONS + "s"}, "field-present_password", None),
        ("/desk/account/password", {"present_password": HERONS, "password": "short",
         "password_again": "short"}, "field-password", None),
        ("/desk/account/password", {"present_password": HERONS, "password": "four grey herons",
         "password_again": "x"}, "field-password_again", None),
        ("/desk/audit/verify", {"noted": "yesterday"}, "field-noted", "yesterday"),
        ("/desk/cases/{case}/note", {"note": " "}, "note", " "),
        ("/desk/cases/{case}/note", {"note": LONG}, "note", LONG),
        ("/desk/cases/{case}/verdict", {"verdict": "fraud", "note": LONG}, "note", LONG),
    ],
)  # fmt: skip
def test_the_error_stands_at_the_field_and_what_was_typed_is_kept(web, path, fields, wrong, typed):
    answer = web.submit(path.format(case=web.case_of("c1")), "admin", **fields)
    assert answer.status_code == 422
    page = Page(answer)
    at = {attributes["id"]: attributes for _, attributes in page.elements if "id" in attributes}
    assert at[f"{wrong}-error"]["role"] == "alert"
    errors = [each for _, each in page.elements if "error" in (each.get("class") or "").split()]
    assert len(errors) == 1
    if wrong in at:
        assert f"{wrong}-error" in at[wrong]["aria-describedby"]
    if typed is not None:
        kept = [each.get("value") for _, each in page.elements]
        assert typed in kept or typed.strip() in page.text
