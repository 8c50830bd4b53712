"""Every page in French: no text of the English catalogue is left on any of them."""

import re

import pytest
from desk_full import FullDesk, Page

from rarefind.desk.pages.sentences import find_sentence
from rarefind.desk.pages.site import page_routes
from rarefind.desk.pages.texts import texts_in

FRENCH, ENGLISH = texts_in("fr"), texts_in("en")
IN_FRENCH = {"accept-language": "fr"}


def pieces(text):
    """What a text has between its places, as far as it is long enough to be known again."""
    forms = [text] if isinstance(text, str) else text.values()
    found = {each.strip() for form in forms for each in re.split(r"\{\w+\}", form)}
    return {each for each in found if len(each) >= 9 and " " in each}


ONLY_ENGLISH = {piece for key in ENGLISH.keys() for piece in pieces(ENGLISH._texts[key])} - {  # noqa: SIM118
    piece
    for key in FRENCH.keys()  # noqa: SIM118
    for piece in pieces(FRENCH._texts[key])
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    desk = FullDesk(
        tmp_path_factory.mktemp("desk"), lambda field: f"Œuvre {len(field)}-{field[::-1]}"
    )
    yield desk
    desk.close()


def english_on(answer):
    """Pieces of English texts on a page, and sentences of the domain that are not translated."""
    page = Page(answer)
    assert "fr" in [attributes.get("lang") for _, attributes in page.elements]
    parts = {re.sub(r"\s+", " ", each).strip() for each in page.texts}
    found = {piece for piece in ONLY_ENGLISH if any(piece in part for part in parts)}
    sentences = {each for each in parts if each.endswith(".") and len(each) > 12}
    return found | {each for each in sentences if find_sentence(FRENCH, each) is not None}


def test_no_page_has_an_english_text(desk):
    for route, address in desk.addresses():
        answer = desk.visit(address, desk.roles(route)[-1], headers=IN_FRENCH)
        if answer.status_code != 303:
            assert not english_on(answer), address


def test_no_answer_of_a_form_has_an_english_text(desk):
    names = {name for _, at in desk.addresses() for name in Page(desk.visit(at, "admin")).fields}
    desk.submit("/desk/account", "admin", language="fr", theme="")
    filled = {"case": str(desk.case), "digest": desk.models[1], "entity": "card"}
    wrong = dict.fromkeys(names - {"csrf"}, "é > ")
    for route in page_routes():
        if route.method == "POST" and route.action and "sign-out" not in route.path:
            path = re.sub(r"\{(\w+)\}", lambda name: filled.get(name[1], "1"), route.path)
            answer = desk.submit(path, "admin", **wrong)
            if answer.headers.get("content-type", "").startswith("text/html"):
                assert not english_on(answer), path
