"""Users, passwords, sessions and links, in both databases."""

import pytest
from desk.databases import KINDS, opener
from desk_pages import PASSWORD, QUICK

from rarefind.desk.clock import ManualClock
from rarefind.desk.control import Audit
from rarefind.desk.people import Passwords, People, PeopleError


@pytest.fixture(params=KINDS)
def desk(request, tmp_path):
    database, clock = opener(request.param, tmp_path)(), ManualClock(10**18)
    yield People(database, Audit(database, clock), clock, QUICK), clock, database
    database.close()


def enter(people, name="ann", role="admin"):
    return people.follow(people.invite(name, role, "x"), "", PASSWORD, "here", "a browser")


def fails(kind, do, *given):
    with pytest.raises(PeopleError) as error:
        do(*given)
    assert error.value.kind == kind
    assert str(error.value).endswith(".")


def test_nothing_that_opens_the_door_is_stored(desk):
    people, _, database = desk
    link = people.invite("ann", "admin", "x")
    token = people.follow(link, "", PASSWORD, "here", "a browser")
    stored = [
        str(row)
        for table in ("users", "sessions", "links", "attempts", "audit")
        for row in database.read(f"SELECT * FROM {table}")
    ]
    for secret in (PASSWORD, link, token):
        assert secret not in "".join(stored)
    assert "$argon2id$" in "".join(stored)


def test_the_first_admin_is_made_once(desk):
    people, _, _ = desk
    first = people.first_link()
    second = people.first_link()
    fails("link", people.follow, first, "ann", PASSWORD, "", "")
    enter(people, "eve")
    fails("link", people.follow, second, "ann", PASSWORD, "", "")
    assert people.first_link() is None
    assert [user.name for user in people.users.all()] == ["eve"]


def test_a_link_ends_after_three_days(desk):
    people, clock, _ = desk
    link = people.invite("ann", "admin", "x")
    clock.advance("3D")
    fails("link", people.follow, link, "", PASSWORD, "", "")
    link = people.reset("ann", "x")
    clock.advance("2D")
    assert people.follow(link, "", PASSWORD, "", "")


def test_names_that_look_the_same_are_the_same(desk):
    people, _, _ = desk
    enter(people, "Straße")
    for name in ("straße", "STRASSE", "Ｓtraße"):
        fails("name_taken", people.invite, name, "expert", "x")
    for name in ("", " ann", "a\nb", "\u200b", "x" * 201, "a\u202eb"):
        fails("name", people.invite, name, "expert", "x")
    fails("role", people.invite, "bob", "ingest", "x")
    assert people.sign_in("STRASSE", PASSWORD, "", "")


@pytest.mark.parametrize(
    ("password", "kind"),
    [
        ("short", "password_short"),
        ("x" * 201, "password_long"),
        ("ababababababab", "password_simple"),
        ("herons and Ann", "password_name"),
    ],
)
def test_a_password_that_is_guessed_easily_is_not_taken(desk, password, kind):
    people, _, _ = desk
    link = people.invite("ann", "admin", "x")
    fails(kind, people.follow, link, "", password, "", "")
    assert people.follow(link, "", PASSWORD, "", "")


def test_attempts_are_counted_by_name_and_address(desk):
    people, clock, _ = desk
    enter(people)
    for _ in range(10):
        fails("sign_in", people.sign_in, "ann", "wrong", "there", "")
    fails("too_many", people.sign_in, "ann", PASSWORD, "there", "")
    assert people.sign_in("ann", PASSWORD, "elsewhere", "")
    clock.advance("15min")
    assert people.sign_in("ann", PASSWORD, "there", "")


def test_a_clock_that_was_set_back_shuts_nobody_out(desk):
    people, clock, _ = desk
    enter(people)
    for _ in range(10):
        fails("sign_in", people.sign_in, "ann", "wrong", "there", "")
    clock.advance("-30D")
    assert people.sign_in("ann", PASSWORD, "there", "")


def test_one_address_cannot_try_many_names_nor_many_addresses_one_name(desk):
    people, _, _ = desk
    for number in range(50):
        fails("sign_in", people.sign_in, f"name {number}", "wrong", "there", "")
    fails("too_many", people.sign_in, "another", "wrong", "there", "")
    for number in range(50):
        fails("sign_in", people.sign_in, "ann", "wrong", f"address {number}", "")
    fails("too_many", people.sign_in, "ann", "wrong", "address 50", "")


def test_sessions_end_when_they_are_not_used_and_at_last_anyway(desk):
    people, clock, _ = desk
    token = enter(people)
    for _ in range(15):
        clock.advance("11h")
        assert people.sessions.find(token) is not None
    clock.advance("3h")
    assert people.sessions.find(token) is None
    enter(people, "eve")
    assert people.sessions.of(people.users.get("ann")) == []


def test_who_is_disabled_comes_back_by_an_invitation_only(desk):
    people, _, _ = desk
    enter(people)
    token = enter(people, "bob", "expert")
    people.users.disable("bob", "ann")
    assert people.sessions.find(token) is None
    fails("sign_in", people.sign_in, "bob", PASSWORD, "", "")
    fails("removed", people.reset, "bob", "ann")
    fails("removed", people.users.set_role, "bob", "admin", "ann")
    fails("last_admin", people.users.disable, "ann", "ann")
    fails("no_user", people.users.disable, "nobody", "ann")
    assert people.follow(people.invite("bob", "auditor", "ann"), "", PASSWORD, "", "")
    assert people.users.get("bob").role == "auditor"


def test_the_settings_in_use_are_argon2id_of_nineteen_mebibytes():
    assert Passwords().hash(PASSWORD).startswith("$argon2id$v=19$m=19456,t=2,p=1$")
