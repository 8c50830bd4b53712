"""The pages that people work in: written on the server, the same with and without JavaScript.

How a page is written
---------------------
One file a page (``pages/lists.py``), its template beside the others (``templates/lists.html``), its
texts in ``texts/en.toml`` and ``texts/fr.toml`` under a heading of its own::

    router = APIRouter(include_in_schema=False)
    in_menu(35, "lists.title", "/desk/lists", "read")


    @router.get("/desk/lists")
    def show_lists(visit: Annotated[Visit, needs("read")]) -> Response:
        \"\"\"Show all lists.\"\"\"
        return visit.page("lists.html", names=visit.door.control.lists.names())


    @router.post("/desk/lists")
    def make_list(visit: Annotated[Visit, needs("rule")]) -> Response:
        \"\"\"Make a list.\"\"\"
        try:
            visit.door.control.lists.save(visit.form["name"], [], visit.person)
        except ControlError as error:
            errors = {"name": str(error)}
            return visit.page("lists.html", 422, errors=errors, names=…)
        return visit.go("/desk/lists", said="saved")

Then the module's router goes into ``site.ROUTERS``, and its routes into docs/desk/pages.md. A plain
function (not ``async``) runs in a thread, so that it may read databases.

``needs(action)`` is the only thing that decides who may open a page; ``api/roles.py`` knows which
roles may do what. ``visit.may(action)`` says whether to show a button. A form that is not sent from
a page of this desk is refused before the function is called; ``visit.form["name"]`` is a field.
``visit.go`` answers a form that was done, ``visit.page(…, 422, errors={field: sentence})`` one that
was not: the ``field`` of ``parts.html`` shows it there. Errors of the domain that nobody catches
(``NoSuchCase``) become a page by themselves.

A template begins so::

    {% extends "layout.html" %}
    {% import "parts.html" as parts with context %}
    {% block title %}{{ t("lists.title") }}{% endblock %}
    {% block main %}
    <h1>{{ t("lists.title") }}</h1>
    <form method="post">{{ parts.token() }} … </form>
    {% endblock %}

``t(key, …)`` is a text, ``show`` writes numbers (``show.amount(minor)``, ``show.time(at)``, see
``formats.Formats``), ``visit`` is the visit, ``user`` who has signed in. Texts of strangers have
``dir="auto"``. No ``style=`` and no script in a template: the policy of the pages forbids them.
Classes are those of ``static/desk.css``, which begins with a list of them. A script of a page is a
file in ``static/`` and is named in ``{% block scripts %}``.
"""
