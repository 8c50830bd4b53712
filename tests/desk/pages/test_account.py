"""What people set for themselves."""

from desk_pages import PASSWORD, text_of


def test_another_password_signs_out_everywhere_else(web):
    people = web.door.people
    elsewhere = people.sign_in("expert", PASSWORD, "10.0.0.1", "another browser")
    assert "another browser" in web.visit("/desk/account", "expert").text
    wrong = web.submit(
        "/desk/account/password",
        "expert",
        present_password="wrong",
        password="four blue herons",
        password_again="four blue herons",
    )
    assert wrong.status_code == 422
    assert 'id="field-present_password-error"' in wrong.text
    assert "This is not the present password." in text_of(wrong)
    right = web.submit(
        "/desk/account/password",
        "expert",
        present_password=PASSWORD,
        password="four blue herons",
        password_again="four blue herons",
    )
    assert right.headers["location"] == "/desk/account?said=password_changed"
    assert people.sessions.find(elsewhere) is None
    assert web.visit("/desk/account", "expert").status_code == 200
    assert people.sign_in("expert", "four blue herons", "", "")


def test_one_browser_or_all_are_signed_out(web):
    people = web.door.people
    other = people.sign_in("expert", PASSWORD, "10.0.0.1", "another browser")
    _, session = people.sessions.find(other)
    web.submit(f"/desk/account/sessions/{session.id}/end", "auditor")
    assert people.sessions.find(other) is not None
    web.submit(f"/desk/account/sessions/{session.id}/end", "expert")
    assert people.sessions.find(other) is None
    web.submit("/desk/sign-out-everywhere", "expert")
    assert web.visit("/desk/account", "expert").status_code == 303


def test_the_look_is_changed_from_any_page_and_leads_back_to_it(web):
    answer = web.submit("/desk/account/theme", "admin", theme="dark", back="/desk/users")
    assert answer.headers["location"] == "/desk/users"
    assert 'data-theme="dark"' in web.visit("/desk/users", "admin").text
    for back in ("//evil.example", "/desk/\\evil.example", ""):
        answer = web.submit("/desk/account/theme", "admin", theme="", back=back)
        assert answer.headers["location"] == "/desk/account"
    assert web.submit("/desk/account", "admin", language="xx", theme="").status_code == 422
