"""Makes HTML pages from templates. Every value that a template prints is escaped."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib import import_module
from importlib.resources import files
from typing import Any

from jinja2 import (
    ChoiceLoader,
    Environment,
    FunctionLoader,
    PackageLoader,
    StrictUndefined,
    TemplateNotFound,
    TemplateSyntaxError,
)
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse

from wellput.core.errors import InputError, MissingExtra
from wellput.studies.media import all_media
from wellput.studies.security import CSRF_FIELD, browser_key, csrf_token, remember_browser
from wellput.studies.wording import ENGLISH, Wording

OWN_STATIC_FILES = (
    "drawn_marks.js", "htmx.min.js", "icon.svg", "judge.js", "kept_answers.js", "lost_connections.js",
    "marks.js", "spans.css", "spans.js", "wellput.css",
)  # fmt: skip
ANSWER_SECONDS = 20
"""If a page waits this long and nothing of its request moves, the connection counts as lost. A large
page may take longer, as long as it keeps coming. The server itself waits less for its database
(`database.BUSY_SECONDS`)."""
LONG_TEXT_CHARACTERS = 1500
LONG_TEXT_LINES = 20
"""A text with more characters or lines gets a scroll bar of its own."""
STATIC_FILES = {name: files("wellput.studies") / "static" / name for name in OWN_STATIC_FILES}
for _medium in all_media():
    STATIC_FILES.update(_medium.static)


def _environment() -> Environment:
    environment = Environment(
        loader=ChoiceLoader(
            [PackageLoader("wellput.studies"), FunctionLoader(_of_another_package)]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["paragraphs"] = paragraphs
    environment.filters["by_number"] = by_number
    environment.filters["markdown"] = markdown
    versions = {
        name: hashlib.sha256(file.read_bytes()).hexdigest()[:12]
        for name, file in STATIC_FILES.items()
    }
    environment.globals["say"] = ENGLISH
    environment.globals["answer_seconds"] = ANSWER_SECONDS
    environment.tests["long"] = is_long
    environment.globals["static"] = lambda name: f"/static/{name}?v={versions[name]}"
    return environment


def _of_another_package(name: str) -> str | None:
    """The source of a template that is called `package:path`; None for other names and missing
    files."""
    package, colon, path = name.partition(":")
    if not colon:
        return None
    try:
        file = files(package).joinpath(*path.split("/"))
    except ModuleNotFoundError:
        return None
    return file.read_text(encoding="utf-8") if file.is_file() else None


def check_template(name: str) -> None:
    """Raises InputError for a template that is missing or has errors."""
    try:
        _ENVIRONMENT.get_template(name)
    except TemplateNotFound:
        raise InputError(f"There is no template {name}.") from None
    except TemplateSyntaxError as error:
        raise InputError(f"Line {error.lineno} of the template {name}: {error.message}") from None


def paragraphs(text: str) -> Markup:
    """Plain text as HTML: an empty line begins a new paragraph."""
    parts = [part.strip() for part in text.replace("\r\n", "\n").split("\n\n")]
    return Markup("\n").join(Markup("<p>{}</p>").format(part) for part in parts if part)


def load_markdown() -> None:
    """Imports the packages that show markdown, before the first judge comes. Raises MissingExtra if
    they are not installed."""
    try:
        import_module("wellput.studies.markdown")
    except ModuleNotFoundError as error:
        raise MissingExtra("Showing markdown", "judge") from error


def markdown(text: str) -> Markup:
    """Markdown as HTML in which nothing runs and nothing is fetched."""
    from wellput.studies.markdown import rendered  # only studies that show it need its packages

    return rendered(text)


def is_long(text: str) -> bool:
    """Whether a text gets a scroll bar of its own, so that the questions stay in sight."""
    return len(text) > LONG_TEXT_CHARACTERS or text.count("\n") > LONG_TEXT_LINES


def by_number(labels: Mapping[str, str]) -> list[tuple[str, str]]:
    """Labels in the order of the values they are for.

    >>> by_number({"10": "best", "2": "bad"})
    [('2', 'bad'), ('10', 'best')]
    """
    return sorted(labels.items(), key=lambda entry: float(entry[0]))


_ENVIRONMENT = _environment()


def page(
    request: Request,
    template: str,
    /,
    *,
    form_user: str = "",
    status: int = 200,
    words: Wording = ENGLISH,
    **values: Any,
) -> HTMLResponse:
    """A template, filled in, as a response. Its forms are valid only in this browser and for
    `form_user` (`security.csrf_token`). The template gets texts in the language of the page by
    `say(key)`."""
    values["say"] = words
    if form_user:
        values[CSRF_FIELD] = csrf_token(browser_key(request), form_user)
    response = HTMLResponse(_ENVIRONMENT.get_template(template).render(values), status)
    remember_browser(request, response)
    return response
