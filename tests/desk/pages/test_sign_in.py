"""Signing in and out: by a password, by a link, and never by a form of another site."""

import asyncio
import re
from urllib.parse import urlsplit

import httpx
import pytest
from desk_pages import PASSWORD, text_of
from desk_web import check_problem


class Browser:
    """Keeps cookies, and sends forms with what the page had in them."""

    def __init__(self, web):
        self.web, self.cookies = web, {}

    def open(self, path, method="GET", **content):
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        headers = {"cookie": cookie} | content.pop("headers", {})
        answer = self.web.ask(method, path, None, headers=headers, **content)
        for line in answer.headers.get_list("set-cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies[name] = value
        return answer

    def send(self, path, **fields):
        (token,) = set(re.findall(r'name="csrf" value="(\w+)"', self.open(path).text))
        return self.open(path, "POST", data={"csrf": token} | fields)


@pytest.fixture
def browser(web):
    return Browser(web)


def test_who_has_not_signed_in_is_asked_to_and_comes_back(web, browser):
    answer = browser.open("/desk/account?a=1")
    assert answer.status_code == 303
    place = answer.headers["location"]
    assert place == "/desk/sign-in?next=/desk/account%3Fa%3D1"
    answer = browser.send(place, name="expert", password=PASSWORD)
    assert answer.headers["location"] == "/desk/account?a=1"
    (cookie,) = answer.headers.get_list("set-cookie")
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Path=/" in cookie
    assert browser.open("/desk/account").status_code == 200
    assert browser.open("/").headers["location"] == "/desk"


def test_behind_https_the_cookie_is_for_this_host_and_https_alone(web):
    with_https = {"base_url": "https://desk"}

    async def send():
        transport = httpx.ASGITransport(web.app)
        async with httpx.AsyncClient(transport=transport, **with_https) as client:
            return await client.get("/desk/sign-in")

    cookie = asyncio.run(send()).headers["set-cookie"]
    assert cookie.startswith("__Host-")
    assert "Secure" in cookie


@pytest.mark.parametrize("back", ["//evil.example", "https://evil.example", "/desk/\\evil", "/x"])
def test_nobody_is_sent_to_another_site(browser, back):
    answer = browser.send(f"/desk/sign-in?next={back}", name="expert", password=PASSWORD)
    assert urlsplit(answer.headers["location"]).path == "/desk"


def test_a_wrong_name_and_a_wrong_password_are_told_the_same(browser):
    wrong = [
        browser.send("/desk/sign-in", name=name, password=word)
        for name, word in (("expert", "wrong"), ("nobody", PASSWORD))
    ]
    for answer in wrong:
        assert answer.status_code == 422
        assert "The name or the password is wrong." in text_of(answer)
        assert PASSWORD not in answer.text


def test_after_too_many_attempts_even_the_right_password_waits(web, browser):
    for _ in range(10):
        assert browser.send("/desk/sign-in", name="expert", password="x").status_code == 422
    answer = browser.send("/desk/sign-in", name="expert", password=PASSWORD)
    assert answer.status_code == 429
    assert "try again in 15 min" in text_of(answer)
    web.clock.advance("15min")
    assert browser.send("/desk/sign-in", name="expert", password=PASSWORD).status_code == 303


def test_signing_out_ends_the_session_in_the_desk(web, browser):
    browser.send("/desk/sign-in", name="expert", password=PASSWORD)
    kept = dict(browser.cookies)
    (token,) = set(re.findall(r'name="csrf" value="(\w+)"', browser.open("/desk/account").text))
    answer = browser.open("/desk/sign-out", "POST", data={"csrf": token})
    assert answer.headers["location"] == "/desk/sign-in?said=signed_out"
    assert "You are signed out." in text_of(browser.open(answer.headers["location"]))
    browser.cookies = kept
    assert browser.open("/desk/account").status_code == 303


def test_a_session_ends_by_itself(web):
    web.clock.advance("11h")
    assert web.visit("/desk/account").status_code == 200
    web.clock.advance("11h")
    assert web.visit("/desk/account").status_code == 200
    web.clock.advance("13h")
    assert web.visit("/desk/account").status_code == 303


def test_the_first_admin_comes_by_a_link_that_works_once(tmp_path):
    from desk_pages import QUICK
    from desk_web import WebDesk

    web = WebDesk(tmp_path)
    web.door.people.passwords = QUICK
    browser = Browser(web)
    assert "Nobody can sign in yet" in text_of(browser.open("/desk/sign-in"))
    link = f"/desk/welcome/{web.door.people.first_link()}"
    assert "You are the first" in text_of(browser.open(link))
    short = browser.send(link, name="ann", password="short", password_again="short")
    assert short.status_code == 422
    assert "fewer than 12 characters" in text_of(short)
    assert 'value="ann"' in short.text
    differs = browser.send(link, name="ann", password=PASSWORD, password_again="x")
    assert "The two passwords differ" in text_of(differs)
    answer = browser.send(link, name="ann", password=PASSWORD, password_again=PASSWORD)
    assert answer.headers["location"] == "/desk"
    assert "Admin" in text_of(browser.open("/desk/account"))
    assert browser.open(link).status_code == 410
    assert web.door.people.first_link() is None
    web.close()


def test_a_form_of_another_site_does_nothing(web):
    for content in (
        {"data": {"theme": "dark"}},
        {"data": {"theme": "dark", "csrf": "0" * 64}},
        {"headers": {"x-csrf-token": b"\xe9"}},
    ):
        answer = web.visit("/desk/account/theme", "expert", "POST", **content)
        assert answer.status_code == 400
        assert "came from another site" in text_of(answer)
    assert web.door.people.users.get("expert").theme == ""


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "origin": "null"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
    ],
    ids=str,
)
def test_a_form_that_the_browser_says_is_of_another_site_does_nothing(web, headers):
    from rarefind.desk.pages import cookies

    token = cookies.form_token(web.door.secret, web.sessions["expert"])
    data = {"theme": "dark", "csrf": token}
    answer = web.visit("/desk/account/theme", "expert", "POST", data=data, headers=headers)
    assert answer.status_code == 400
    assert web.submit("/desk/account/theme", "expert", theme="dark").status_code == 303


def test_a_session_opens_pages_and_not_the_api(web):
    check_problem(web.visit("/queue", "admin"), 401, "unknown-token")
    token = {"authorization": f"Bearer {web.tokens['admin']}"}
    assert web.visit("/desk/account", None, headers=token).status_code == 303


def test_htmx_is_sent_to_the_whole_page_for_signing_in(web):
    answer = web.visit("/desk/account", None, headers={"hx-request": "true"})
    assert answer.status_code == 204
    assert answer.headers["hx-redirect"] == "/desk/sign-in"
