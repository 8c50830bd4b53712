"""A desk with its pages and somebody signed in for each role, for tests of what people see."""

import re
from html.parser import HTMLParser

import httpx
from desk_web import NOON, WebDesk

from rarefind.desk.pages import cookies
from rarefind.desk.people import USER_ROLES, Passwords

PASSWORD = "three grey herons"
#: As fast as Argon2 can be: tests look at what is done with passwords, not at how slowly.
QUICK = Passwords(memory=8, rounds=1)
STORED = QUICK.hash(PASSWORD)


class PagesDesk(WebDesk):
    """A desk at noon; each role has a user of its name, who has signed in."""

    def __init__(self, folder, **settings):
        super().__init__(folder, **settings)
        self.door.people.passwords = QUICK
        self.sessions = {}
        people = self.door.people
        # In one commit, since every test waits for it.
        with self.database.write() as writer:
            for role in USER_ROLES:
                user = people.users.insert(writer, role, role, "admin")
                people._set_password(writer, user, STORED, "set password")
                self.sessions[role] = people.sessions.begin(writer, user, "127.0.0.1", "a browser")

    def add_user(self, name, role):
        """Somebody who has followed an invitation."""
        people = self.door.people
        link = people.invite(name, role, "admin")
        self.sessions[name] = people.follow(link, name, PASSWORD, "127.0.0.1", "a browser")

    def visit(self, path, who="investigator", method="GET", **content):
        """What a browser gets in which somebody has signed in, or nobody (None)."""
        headers = {"cookie": self.cookie(who)} | content.pop("headers", {})
        return self.ask(method, path, None, headers=headers, **content)

    def submit(self, path, who="investigator", **fields):
        """What a browser gets that sends a form of a page."""
        session = self.sessions[who]
        token = cookies.form_token(self.door.secret, session)
        return self.visit(path, who, "POST", data=fields | {"csrf": token})

    def cookie(self, who):
        if who is None:
            return ""
        request = httpx.Request("GET", "http://desk/")
        name = cookies._name(_Asked(self.app, request.url.scheme), "session")
        return f"{name}={self.sessions[who]}"


class _Asked:
    """As much of a request as the name of a cookie needs."""

    def __init__(self, app, scheme):
        self.app, self.url = app, httpx.URL(f"{scheme}://desk/")


class _Text(HTMLParser):
    def __init__(self):
        super().__init__()
        self.parts = []

    def handle_data(self, data):
        self.parts.append(data)


def text_of(answer):
    """What a page says, without its marks."""
    parser = _Text()
    parser.feed(answer.text)
    return re.sub(r"\s+", " ", " ".join(parser.parts)).strip()


__all__ = ["NOON", "PASSWORD", "PagesDesk", "text_of"]
