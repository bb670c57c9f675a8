"""Strangers, curious judges and hostile texts cannot do any harm."""

from __future__ import annotations

import asyncio
import logging
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qsl

import pytest
import starlette.requests
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tests.studies.served_study import (
    SYSTEMS,
    answer_fields,
    client_of,
    fields_of,
    new_store,
    submit,
)
from wellput.core.errors import InputError
from wellput.studies.app import listening_socket, serve
from wellput.studies.designs.registry import default_questionnaire
from wellput.studies.forms import MAX_FORM_FIELDS, fields_in
from wellput.studies.invitations import is_token, token_hash
from wellput.studies.questionnaire import DemographicField
from wellput.studies.questions import Question
from wellput.studies.security import (
    MAX_BODY_BYTES,
    MAX_HEAD_BYTES,
    OWNER_COOKIE,
    WellputCookies,
    WrongTokenCounter,
    public_address_warning,
)
from wellput.studies.store import StoreUnavailable
from wellput.studies.study_setup import StudyItem

SCRIPT = "<script>alert('x')</script><img src=x onerror=alert(1)>\"'`{{7*7}}"


class Tags(HTMLParser):
    """The names of a page's elements and of their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes |= {name for name, _ in attrs}


def test_a_judge_cannot_see_or_answer_anothers_trials(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    mine, theirs = store.invite(2)
    client = client_of(store)
    other = store.judge_of(theirs.token)
    assert other is not None
    trial = store.next_trial(other)
    assert trial is not None
    store.record(other, trial.id, {"understandability": 1, "quality": 1}, ms=1)
    page = client.get(f"/judge/{mine.token}").text
    reading = client.get(f"/judge/{mine.token}/trials/{trial.id}")
    assert reading.status_code == 404 and trial.variants[0].id not in reading.text
    answers = {**fields_of(page), **answer_fields(page)}
    assert client.post(f"/judge/{mine.token}/trials/{trial.id}", data=answers).status_code == 404
    body = {"trial": trial.id, "answers": {"understandability": 7, "quality": 7}, "ms": 1}
    assert client.post(f"/api/judge/{mine.token}/answers", json=body).status_code == 404
    assert {getattr(each, "value", None) for each in store.judgments()} == {1}


@pytest.mark.heavy
@pytest.mark.parametrize("path", ["consent", "demographics", "undo", "trials/{trial}"])
@pytest.mark.parametrize(
    "csrf", [None, "", "0" * 64, "é", "of another judge", "of another browser"]
)
def test_a_form_from_elsewhere_is_refused(tmp_path: Path, path: str, csrf: str | None) -> None:
    store = new_store(tmp_path)
    mine, theirs = store.invite(2)
    client = client_of(store)
    page = client.get(f"/judge/{mine.token}").text
    trial = re.search(r"/trials/(\w+)", page)
    assert trial
    data = {**answer_fields(page), "agree": "yes"}
    if csrf == "of another judge":
        data["csrf"] = fields_of(client.get(f"/judge/{theirs.token}").text)["csrf"]
    elif csrf == "of another browser":
        data["csrf"] = fields_of(client_of(store).get(f"/judge/{mine.token}").text)["csrf"]
    elif csrf is not None:
        data["csrf"] = csrf
    address = f"/judge/{mine.token}/{path.format(trial=trial[1])}"
    assert client.post(address, data=data).status_code == 403
    without_cookies = client_of(store)
    data["csrf"] = fields_of(page)["csrf"]
    assert without_cookies.post(address, data=data).status_code == 403
    assert store.judgments() == []


def test_texts_names_and_answers_are_never_markup(tmp_path: Path) -> None:
    """Stored: items, wording, names and answers with markup come out as text, everywhere."""
    items = [
        StudyItem(f"{SCRIPT}{n}", {s: f"{SCRIPT} {s}" for s in SYSTEMS}, context=SCRIPT)
        for n in range(2)
    ]
    store = new_store(
        tmp_path,
        items=items,
        title=SCRIPT,
        instructions=SCRIPT,
        consent=SCRIPT,
        thanks=SCRIPT,
        questions=(Question(SCRIPT, SCRIPT, "points", 1, 3, {"1": SCRIPT, "3": SCRIPT}),),
        demographics=(DemographicField(SCRIPT, SCRIPT, "choice", (SCRIPT,)),),
    )
    (invitation,) = store.invite(1, [SCRIPT])
    client = client_of(store)
    home = f"/judge/{invitation.token}"
    pages = []
    while "done-mark" not in (page := client.get(home).text):
        pages.append(page)
        assert submit(client, page, {"agree": "yes", **answer_fields(page)}).status_code == 303
        assert len(pages) < 10
    client.get(f"/dashboard/{store.owner_token}")
    pages += [page, client.get("/dashboard").text, client.get("/").text]
    assert len(pages) == 2 + 4 + 3
    for text in pages:
        assert "&lt;script&gt;alert" in text and "{{7*7}}" in text
        tags = Tags(text)
        assert "img" not in tags.names and tags.names.count("script") == 4
        assert not [name for name in tags.attributes if name.startswith("on")]


def test_a_free_answer_comes_back_as_text(tmp_path: Path) -> None:
    store = new_store(tmp_path, default_questionnaire("magnitude"))
    (invitation,) = store.invite(1)
    client = client_of(store)
    page = client.get(f"/judge/{invitation.token}").text
    refused = submit(client, page, {"q-fluency": SCRIPT})
    assert refused.status_code == 422
    assert "<img" not in refused.text and "&lt;script&gt;" in refused.text


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    "where", ["/judge/{}", "/judge/{}/trials/{}", "/dashboard/{}", "/{}", "/static/{}"]
)
def test_addresses_are_not_reflected(tmp_path: Path, method: str, where: str) -> None:
    client = client_of(new_store(tmp_path))
    hostile = "%3Cscript%3Ealert(1)%3C/script%3E%22"
    response = client.request(method, where.format(hostile, hostile))
    assert response.status_code in (404, 405)
    assert "alert(1)" not in response.text


@pytest.mark.parametrize(
    "text", ["' OR '1'='1", "x'; DROP TABLE answers; --", '"', "%", "\\", "\0"]
)
def test_sql_is_data(tmp_path: Path, text: str) -> None:
    store = new_store(tmp_path, default_questionnaire("task"))
    (invitation,) = store.invite(1)
    client = client_of(store)
    quoted = "".join(f"%{byte:02x}" for byte in text.encode())
    assert client.get(f"/judge/{quoted}").status_code == 404
    assert client.get(f"/judge/{invitation.token}/trials/{quoted}").status_code == 404
    answers = f"/api/judge/{invitation.token}/answers"
    unknown = client.post(answers, json={"trial": text, "answers": {text: text}, "ms": 1})
    assert unknown.status_code == 404
    trial = client.get(f"/api/judge/{invitation.token}/next").json()["trial"]
    body = {"trial": trial["id"], "answers": {"success": text}, "ms": 1}
    is_free = not trial["questions"][0]["choices"] and text != "\0"
    assert client.post(answers, json=body).status_code == (201 if is_free else 422)
    if is_free:
        assert {each.extra["answer"] for each in store.judgments()} == {text}


def test_nothing_about_a_judge_is_stored_before_consent(tmp_path: Path) -> None:
    store = new_store(tmp_path, consent="Agree?", demographics=(DemographicField("age", "Age?"),))
    (mine,) = store.invite(1)
    client = client_of(store)
    page = client.get(f"/judge/{mine.token}").text
    client.post(f"/judge/{mine.token}/demographics", data={**fields_of(page), "about-age": "40"})
    assert store.all_demographics() == {}


PIECES_OF_FORMS = [
    "a", "+", "&", "=", ";", "%41", "%C3", "%a9", "%5C", "%25", "%00", "%0D%0a", "\\", "\\x41", "\n",
    "'",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES_OF_FORMS), max_size=20).map("".join))
def test_forms_are_read_as_the_standard_library_reads_them(body: str) -> None:
    assert list(fields_in(body)) == parse_qsl(body, keep_blank_values=True)


@pytest.mark.parametrize("body", ["token=%", "token=%4", "%zz=1", "a&" * MAX_FORM_FIELDS])
def test_a_form_that_no_browser_sends_is_refused(tmp_path: Path, body: str) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    client = client_of(new_store(tmp_path))
    assert client.post("/dashboard", content=body, headers=headers).status_code == 400


@pytest.mark.parametrize("path", ["/dashboard/", "/judge/{token}/", "/api/judge/{token}/next/"])
def test_a_forged_host_leads_nobody_away(tmp_path: Path, path: str) -> None:
    store = new_store(tmp_path)
    (mine,) = store.invite(1)
    answered = client_of(store).get(
        path.format(token=mine.token),
        headers={"Host": "evil.example", "X-Forwarded-Host": "evil.example"},
    )
    assert answered.status_code == 200
    assert "evil.example" not in f"{answered.headers}{answered.text}"


def test_large_bodies_are_refused_whether_or_not_they_say_so(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    (invitation,) = store.invite(1)
    client = client_of(store)
    large = b"x" * (MAX_BODY_BYTES + 1)

    def chunks() -> object:
        for start in range(0, len(large), 65536):
            yield large[start : start + 65536]

    for address in (f"/judge/{invitation.token}/undo", f"/api/judge/{invitation.token}/answers"):
        assert client.post(address, content=large).status_code == 413
        refused = client.post(address, content=chunks())  # type: ignore[arg-type]
        assert refused.status_code == 413
        assert "content-security-policy" in refused.headers
    assert refused.json()["reasons"]
    assert client.post(address, content=large[:-1]).status_code == 422


def test_long_addresses_and_headers_are_refused(tmp_path: Path) -> None:
    client = client_of(new_store(tmp_path))
    long = MAX_HEAD_BYTES + 1
    for response in (
        client.get("/", headers={"X-Long": "a" * long}),
        client.get("/", headers={f"X-{number}": "a" * 100 for number in range(long // 100)}),
        client.get("/?" + "a" * long),
        client.get("/" + "a" * long),
    ):
        assert (response.status_code, response.headers["connection"]) == (431, "close")
        assert "larger than 16 KiB" in response.text
    assert client.get("/", headers={"X-Long": "a" * (long // 2)}).status_code == 200


def test_the_framework_reads_no_hostile_cookie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The time that Python 3.11.7 needs grows with the square of the quotes (CVE-2024-7592).
    read: list[str] = []

    def cookie_parser(text: str) -> dict[str, str]:
        read.append(text)
        return {}

    monkeypatch.setattr(starlette.requests, "cookie_parser", cookie_parser)
    client = client_of(new_store(tmp_path))
    quotes = '"' + '\\"' * 7000 + '"'
    for cookie in (f"{OWNER_COOKIE}={quotes}", f"{OWNER_COOKIE}=x; a={quotes}"):
        assert client.get("/dashboard", headers={"Cookie": cookie}).status_code == 200
    assert set(read) == {f"{OWNER_COOKIE}=x"}


def test_only_our_cookies_reach_the_application() -> None:
    reached = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        reached.append(Request(scope).cookies)

    for cookies in (
        ["a=b; wellput_owner=x_Y-1 ;c", "wellput_browser=2"],
        ['wellput_owner="x"; xwellput_owner=z; wellput_owner_=z', "wellput_owner=é; =; ;"],
        [],
    ):
        headers = [(b"cookie", one.encode("latin1")) for one in cookies]
        scope = {"type": "http", "headers": [(b"host", b"x"), *headers]}
        asyncio.run(WellputCookies(app)(scope, cast("Any", None), cast("Any", None)))
    assert reached == [{"wellput_owner": "x_Y-1", "wellput_browser": "2"}, {}, {}]


def test_guessing_is_slowed_down_and_locks_nobody_out(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    (invitation,) = store.invite(1)
    now = [0.0]
    client = client_of(
        store, wrong_tokens=WrongTokenCounter(allowed=3, window=60, clock=lambda: now[0])
    )
    paths = ["/judge/a", "/api/judge/b/next", "/dashboard/c", "/judge/d", "/api/judge/e/next"]
    assert [client.get(path).status_code for path in paths] == [404, 404, 404, 429, 429]
    assert 1 <= int(client.get("/judge/f").headers["retry-after"]) <= 60
    assert client.get(f"/judge/{invitation.token}").status_code == 200
    assert client.get(f"/api/judge/{invitation.token}/next").status_code == 200
    assert client.get(f"/dashboard/{store.owner_token}").status_code == 303
    now[0] = 60.0
    assert client.get("/judge/g").status_code == 404


def test_misses_are_counted_by_address_and_do_not_grow_without_end() -> None:
    wrong_tokens = WrongTokenCounter(allowed=1, max_addresses=2, clock=lambda: 0.0)
    assert wrong_tokens.count("10.0.0.1") is None and wrong_tokens.count("10.0.0.2") is None
    assert wrong_tokens.count("10.0.0.1") == 60
    # One network of IPv6 is one client; a third address pushes out the one longest unseen.
    assert wrong_tokens.count("2001:db8::1") is None and wrong_tokens.count("2001:db8::2") == 60
    assert wrong_tokens.count("10.0.0.2") is None


def test_tokens_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every token goes through `hmac.compare_digest` on hashes, whatever is wrong with it."""
    compared = []

    def compare(one: object, other: object) -> bool:
        compared.append((one, other))
        return one == other

    monkeypatch.setattr("wellput.studies.invitations.hmac.compare_digest", compare)
    stored = token_hash("right")
    assert is_token("right", stored) and not is_token("wrong", stored)
    assert not is_token("r", stored) and not is_token("right" * 999, stored)
    assert len(compared) == 4 and {len(str(one)) for one, _ in compared} == {64}


def test_every_answer_carries_the_headers(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    (invitation,) = store.invite(1)
    client = client_of(store)
    pages = [f"/judge/{invitation.token}", "/", "/dashboard", "/nothing", "/static/judge.js"]
    pages += [f"/api/judge/{invitation.token}/next", "/api/judge/x/next", "/api/openapi.json"]
    for path in pages:
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy and "http:" not in policy and "*" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        is_static = path.startswith("/static/")
        assert headers["cache-control"].startswith("public" if is_static else "no-store")


def test_cookies_are_out_of_reach_of_scripts_and_other_sites(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    (invitation,) = store.invite(1)
    for base, is_secure in (("http://testserver", False), ("https://testserver", True)):
        client = client_of(store)
        for path in (f"/judge/{invitation.token}", f"/dashboard/{store.owner_token}"):
            response = client.get(base + path)
            (cookie,) = response.headers.get_list("set-cookie")
            attributes = {part.strip().lower() for part in cookie.split(";")[1:]}
            assert {"httponly", "samesite=lax"} <= attributes
            assert ("secure" in attributes) == is_secure
            assert invitation.token not in cookie and str(store.owner_token) not in cookie
            assert ("strict-transport-security" in response.headers) == is_secure


@pytest.mark.parametrize(
    ("host", "is_public"),
    [
        ("127.0.0.1", False),
        ("127.8.8.8", False),
        ("::1", False),
        ("localhost", False),
        ("0.0.0.0", True),
        ("::", True),
    ],
)
def test_a_public_address_without_tls_warns(
    tmp_path: Path,
    host: str,
    is_public: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert public_address_warning(host, is_encrypted=True) is None
    monkeypatch.setattr("uvicorn.Server.run", lambda *_, **__: None)
    serve(new_store(tmp_path), host=host, port=0)
    assert ("without TLS" in capsys.readouterr().err) == is_public


@pytest.mark.parametrize("host", ["192.168.1.4", "study.example.org"])
def test_other_hosts_are_public_too(host: str) -> None:
    assert "without TLS" in str(public_address_warning(host, is_encrypted=False))


def test_an_address_that_is_taken_or_a_bad_certificate_is_said_in_words(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    with (
        listening_socket("127.0.0.1", 0) as taken,
        pytest.raises(InputError, match="Cannot listen at"),
    ):
        serve(store, port=taken.getsockname()[1])
    with pytest.raises(InputError, match="certificate or its key"):
        serve(store, certificate=tmp_path / "none.pem", key=tmp_path / "none.pem")


def serve_and_fail(
    folder: Path, monkeypatch: pytest.MonkeyPatch, log: list[logging.Handler]
) -> None:
    """Serves a study in a program with these log handlers; the server reports an error and ends."""
    monkeypatch.setattr(logging.getLogger(), "handlers", log)
    monkeypatch.setattr(logging.getLogger("uvicorn"), "handlers", [])

    def fail(*_: object, **__: object) -> None:
        logging.getLogger("uvicorn.error").error("Exception in ASGI application")

    monkeypatch.setattr("uvicorn.Server.run", fail)
    serve(new_store(folder), port=0)


def test_the_log_of_the_calling_program_stays_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = logging.FileHandler(tmp_path / "program.log", mode="w")
    serve_and_fail(tmp_path, monkeypatch, [log])
    logging.getLogger("program").warning("the study has ended")
    log.close()
    written = (tmp_path / "program.log").read_text()
    assert written == "Exception in ASGI application\nthe study has ended\n"
    assert capsys.readouterr().err == ""


def test_without_a_log_errors_of_the_server_go_to_stderr_with_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    serve_and_fail(tmp_path, monkeypatch, [])
    error = capsys.readouterr().err
    assert re.fullmatch(r"\d{4}-\S+ [\d:,]+ ERROR: Exception in ASGI application\n", error)
    assert not logging.getLogger("uvicorn").handlers


def test_a_broken_database_is_not_described_to_strangers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = new_store(tmp_path)
    (invitation,) = store.invite(1)
    client = client_of(store)

    def fail(*_: object, **__: object) -> Response:
        raise StoreUnavailable("/secret/study.db is full")

    monkeypatch.setattr(store.grouped_writes, "do", fail)
    for path in (f"/judge/{invitation.token}", f"/api/judge/{invitation.token}/next"):
        response = client.get(path)
        assert response.status_code == 503 and "secret" not in response.text
        assert "Nothing is lost" in response.text
        # A person can load the page again.
        assert ('href="" data-continue>Try again</a>' in response.text) == path.startswith("/judge")
    assert "/secret/study.db is full" in capsys.readouterr().err
