"""An admin invites people, gives roles, and lets nobody in any more."""

import re

from desk_pages import PASSWORD, text_of


def link_of(answer):
    (found,) = re.findall(r"http://desk/desk/welcome/([\w-]+)", answer.text)
    return found


def test_an_invitation_is_shown_once_and_makes_a_user(web):
    answer = web.submit("/desk/users", "admin", name="Zoé", role="expert")
    link = link_of(answer)
    assert link not in web.visit("/desk/users", "admin").text
    assert "Invited" in text_of(web.visit("/desk/users", "admin"))
    assert "Hello Zoé" in text_of(web.visit(f"/desk/welcome/{link}", None))
    web.sessions["Zoé"] = web.door.people.follow(link, "", PASSWORD, "", "")
    assert "Expert" in text_of(web.visit("/desk/account", "Zoé"))
    taken = web.submit("/desk/users", "admin", name="ZOÉ", role="expert")
    assert taken.status_code == 422
    assert "There is a user ZOÉ already" in text_of(taken)
    assert 'value="ZOÉ"' in taken.text


def test_a_link_for_another_password_ends_the_one_before(web):
    first = link_of(web.submit("/desk/users/expert/reset", "admin"))
    second = link_of(web.submit("/desk/users/expert/reset", "admin"))
    assert web.visit(f"/desk/welcome/{first}", None).status_code == 410
    assert web.visit("/desk/account", "expert").status_code == 200
    web.door.people.follow(second, "", "four blue herons", "", "")
    assert web.visit("/desk/account", "expert").status_code == 303


def test_the_last_admin_stays(web):
    answer = web.submit("/desk/users/admin/role", "admin", role="auditor")
    assert answer.status_code == 422
    assert "admin is the only admin" in text_of(answer)
    web.add_user("a/b", "admin")
    assert web.submit("/desk/users/a%2Fb/disable", "admin").status_code == 303
    assert web.door.people.users.get("a/b").disabled is not None
    assert web.submit("/desk/users/admin/disable", "admin").status_code == 422


def test_everything_about_users_is_in_the_audit_log(web):
    number = web.door.control.audit.last.sequence
    web.submit("/desk/users", "admin", name="eve", role="expert")
    web.submit("/desk/users/eve/role", "admin", role="auditor")
    web.submit("/desk/users/eve/role", "admin", role="auditor")
    web.submit("/desk/users/eve/reset", "admin")
    web.submit("/desk/users/eve/disable", "admin")
    assert web.submit("/desk/users/eve/reset", "admin").status_code == 422
    rows = web.door.control.audit.read(number)
    assert [(row.person, row.action, row.subject) for row in rows] == [
        ("admin", "add user", "eve"),
        ("admin", "set role", "eve"),
        ("admin", "reset password", "eve"),
        ("admin", "disable user", "eve"),
    ]
    assert web.door.control.audit.verify().is_whole
