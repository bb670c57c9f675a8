"""The JSON interface, as its schema describes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from fastapi.exceptions import RequestValidationError
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance
from starlette.testclient import TestClient

from tests.studies.served_study import ITEMS, SYSTEMS, client_of, new_store
from wellput.studies.app import create_app
from wellput.studies.designs.registry import default_questionnaire
from wellput.studies.security import WrongTokenCounter
from wellput.studies.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return new_store(tmp_path)


@pytest.fixture
def api(store: Store) -> str:
    (invitation, _) = store.invite(2)
    return f"/api/judge/{invitation.token}"


def answer(client: TestClient, api: str, trial: str, answers: object, ms: object = 900) -> Any:
    return client.post(f"{api}/answers", json={"trial": trial, "answers": answers, "ms": ms})


def test_the_next_trial_is_described_and_stays_until_it_is_answered(store: Store, api: str) -> None:
    client = client_of(store)
    first = client.get(f"{api}/next")
    assert first.status_code == 200
    body = first.json()
    assert set(body) == {"trial", "done", "total", "state"}
    assert (body["done"], body["total"], body["state"]) == (0, 4, "open")
    assert set(body["trial"]) == {
        "id", "context", "source", "references", "variants", "questions", "practice", "comments",
    }  # fmt: skip
    (variant,) = body["trial"]["variants"]
    assert variant["text"] in {text for item in ITEMS for text in item.outputs.values()}
    assert [question["name"] for question in body["trial"]["questions"]] == [
        "understandability",
        "quality",
    ]
    assert client.get(f"{api}/next").json() == body


def test_an_answer_is_created_repeated_superseded(store: Store, api: str) -> None:
    client = client_of(store)
    trial = client.get(f"{api}/next").json()["trial"]["id"]
    codes, statuses = [], []
    for value in (3, 3, 5, 5, 3):
        recorded = answer(client, api, trial, {"understandability": value, "quality": 2})
        codes.append(recorded.status_code)
        statuses.append(recorded.json()["status"])
        assert (recorded.json()["trial"], recorded.json()["done"]) == (trial, 1)
    assert codes == [201, 200, 201, 200, 201]
    assert statuses == ["created", "repeated", "superseded", "repeated", "superseded"]
    assert [getattr(each, "value", None) for each in store.judgments()] == [3, 2]


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ({"understandability": 8, "quality": 2}, "8"),
        ({"understandability": 1.5, "quality": 2}, "whole number"),
        ({"understandability": "3", "quality": 2}, "number is needed"),
        ({"understandability": 3}, "no answer to quality"),
        ({"understandability": 3, "quality": 2, "speed": 1}, "speed"),
        ({"understandability": None, "quality": 2}, "understandability"),
        ({"understandability": True, "quality": 2}, "understandability"),
        ({}, "no answer to understandability"),
        ([], "answers"),
    ],
)
def test_what_cannot_be_an_answer_is_refused_with_reasons(
    store: Store, api: str, answers: object, reason: str
) -> None:
    client = client_of(store)
    trial = client.get(f"{api}/next").json()["trial"]["id"]
    refused = answer(client, api, trial, answers)
    assert refused.status_code == 422
    assert any(reason in each for each in refused.json()["reasons"])
    assert store.judgments() == []


@pytest.mark.parametrize("ms", [-1, "7", None, 10**12, True])
def test_the_time_taken_must_be_one(store: Store, api: str, ms: object) -> None:
    client = client_of(store)
    trial = client.get(f"{api}/next").json()["trial"]["id"]
    refused = answer(client, api, trial, {"understandability": 3, "quality": 3}, ms)
    assert refused.status_code == 422 and "ms" in refused.json()["detail"]


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"null", b"[1]", b'{"trial": "", "answers": {"\\ud800": {}}, "ms": ""}', b"\xff"],
)
def test_a_body_that_is_no_answer_at_all(store: Store, api: str, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    refused = client_of(store).post(f"{api}/answers", content=body, headers=headers)
    assert refused.status_code in (400, 422)
    assert refused.json()["reasons"]


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e999", "1" + "0" * 400])
def test_numbers_that_json_has_no_room_for(store: Store, api: str, value: str) -> None:
    client = client_of(store)
    trial = client.get(f"{api}/next").json()["trial"]["id"]
    body = f'{{"trial": "{trial}", "answers": {{"understandability": {value}, "quality": 1}}, "ms": 1}}'
    headers = {"Content-Type": "application/json"}
    refused = client.post(f"{api}/answers", content=body, headers=headers)
    assert refused.status_code == 422 and refused.json()["reasons"]


def test_a_page_is_answered_by_variant(tmp_path: Path) -> None:
    store = new_store(tmp_path, default_questionnaire("rating", layout="page"))
    (invitation,) = store.invite(1)
    client, api = client_of(store), f"/api/judge/{invitation.token}"
    trial = client.get(f"{api}/next").json()["trial"]
    values = {"understandability": 3, "quality": 2}
    one, other = (variant["id"] for variant in trial["variants"])
    assert answer(client, api, trial["id"], {one: values}).status_code == 422
    assert answer(client, api, trial["id"], {one: values, other: values}).status_code == 201


def test_a_pair_is_answered_with_a_side(tmp_path: Path) -> None:
    store = new_store(tmp_path, default_questionnaire("pairwise"))
    (invitation,) = store.invite(1)
    client, api = client_of(store), f"/api/judge/{invitation.token}"
    trial = client.get(f"{api}/next").json()["trial"]
    assert len(trial["variants"]) == 2
    assert answer(client, api, trial["id"], {"preference": "tie"}).status_code == 422
    assert answer(client, api, trial["id"], {"preference": "b"}).status_code == 201
    (preference,) = store.judgments()
    chosen = getattr(preference, f"system_{getattr(preference, 'choice', '')}")
    item = next(item for item in ITEMS if item.id == preference.item)
    assert item.outputs[chosen] == trial["variants"][1]["text"]


def test_the_end_is_null_and_a_closed_study_takes_nothing(store: Store, api: str) -> None:
    client = client_of(store)
    while (body := client.get(f"{api}/next").json())["trial"]:
        trial = body["trial"]["id"]
        answer(client, api, trial, {"understandability": 3, "quality": 2})
    assert (body["done"], body["total"]) == (4, 4)
    store.set_state("closed")
    assert client.get(f"{api}/next").json()["state"] == "closed"
    changed = answer(client, api, trial, {"understandability": 4, "quality": 2})
    assert changed.status_code == 409 and changed.json()["reasons"] == ["The study is closed."]


def test_nothing_tells_the_systems(store: Store, api: str) -> None:
    client = client_of(store)
    texts = [client.get("/api/openapi.json").text]
    while (response := client.get(f"{api}/next")).json()["trial"]:
        trial = response.json()["trial"]["id"]
        recorded = answer(client, api, trial, {"understandability": 3, "quality": 2})
        texts += [response.text, recorded.text]
    assert not [
        name for name in (*SYSTEMS, "ITEM-ONE", "ITEM-TWO", "J1") for t in texts if name in t
    ]


def test_unknown_tokens_and_trials_are_not_found(store: Store, api: str) -> None:
    client = client_of(store)
    assert client.get("/api/judge/nobody/next").status_code == 404
    unknown = answer(client, "/api/judge/nobody", "x", {})
    assert unknown.status_code == 404 and unknown.json()["reasons"]
    assert answer(client, api, "nothing", {"understandability": 3}).status_code == 404
    assert client.get("/api/elsewhere").json()["detail"] == "Not Found"
    refused = client.put(f"{api}/answers")
    assert refused.status_code == 405 and refused.headers["allow"] == "POST"


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("method", "mode"),
    [
        ("GET", schemathesis.GenerationMode.POSITIVE),
        ("POST", schemathesis.GenerationMode.POSITIVE),
        ("POST", schemathesis.GenerationMode.NEGATIVE),
    ],
)
def test_schemathesis_finds_nothing(
    store: Store, api: str, method: str, mode: schemathesis.GenerationMode
) -> None:
    """Valid and invalid requests made from the schema, with an unknown and with a known token."""
    # Guesses are many here; that they are limited is tested elsewhere.
    app = create_app(store, wrong_tokens=WrongTokenCounter(allowed=10**9))
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", app)
    path = "/api/judge/{token}/" + ("next" if method == "GET" else "answers")
    token = api.rpartition("/")[2]
    judge = store.judge_of(token)
    shown = store.next_trial(judge) if judge else None
    assert shown is not None

    @given(case=schema[path][method].as_strategy(generation_mode=mode))
    @settings(max_examples=60, suppress_health_check=list(HealthCheck))
    def check(case: schemathesis.Case[Any]) -> None:
        case.call_and_validate()
        case.path_parameters["token"] = token
        if isinstance(case.body, dict) and isinstance(case.body.get("trial"), str):
            case.body["trial"] = shown.id
        # Which questions a trial has is not for the schema to know.
        case.call_and_validate(excluded_checks=[positive_data_acceptance])

    check()


def test_the_answer_to_a_task_cannot_be_changed(tmp_path: Path) -> None:
    """A judge who could try again would find the answer in the end."""
    store = new_store(tmp_path, default_questionnaire("task"))
    (invitation,) = store.invite(1)
    client, api = client_of(store), f"/api/judge/{invitation.token}"
    trial = client.get(f"{api}/next").json()["trial"]
    wrong, right = (trial["questions"][0]["choices"] or ["Monday", "Tuesday"])[:2]
    assert answer(client, api, trial["id"], {"success": wrong}).status_code == 201
    assert answer(client, api, trial["id"], {"success": wrong}).status_code == 200
    assert answer(client, api, trial["id"], {"success": right}).status_code == 409
    assert {each.extra["answer"] for each in store.judgments()} == {wrong}


N_VALUES = 15_000
BODIES_WITH_MUCH_THAT_IS_WRONG = {
    "values in a list": ["answers", {"quality": [1] * N_VALUES}],
    "questions": ["answers", dict.fromkeys(map(str, range(N_VALUES)))],
    "questions of a variant": ["answers", {"quality": dict.fromkeys(map(str, range(N_VALUES)))}],
    "names that cannot be stored": ["answers", {f"\ud800{n}": 1 for n in range(N_VALUES // 2)}],
    "one long name": ["answers", {"x" * 200_000: 1}],
    "a long comment": ["comment", "x" * 200_000],
    "keys of the body": ["x", 0],
    "keys of the body that cannot be stored": ["\udc00", 0],
}


def body_with(trial: str, key: str, value: object) -> bytes:
    body: dict[str, object] = {"trial": trial, "answers": {}, "ms": 1}
    if key in ("answers", "comment"):
        body[key] = value
    else:
        body |= {f"{key}{n}": value for n in range(N_VALUES // 2)}
    return json.dumps(body).encode()


@pytest.mark.parametrize(
    "wrong", BODIES_WITH_MUCH_THAT_IS_WRONG.values(), ids=BODIES_WITH_MUCH_THAT_IS_WRONG
)
def test_the_answer_to_a_body_with_much_that_is_wrong_is_short(
    store: Store, api: str, wrong: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, headers = client_of(store), {"Content-Type": "application/json"}
    trial = client.get(f"{api}/next").json()["trial"]["id"]
    n_errors = [0]
    make = RequestValidationError.__init__

    def make_and_count(self: RequestValidationError, errors: list[Any], **others: Any) -> None:
        n_errors.append(len(errors))
        make(self, errors, **others)

    monkeypatch.setattr(RequestValidationError, "__init__", make_and_count)
    body = body_with(trial, *wrong)
    refused = client.post(f"{api}/answers", content=body, headers=headers)
    assert refused.status_code == 422 and refused.json()["reasons"]
    assert len(refused.content) < 4000
    assert max(n_errors) <= 1  # the framework has not noted an error for each value


def test_the_body_of_a_stranger_is_not_read(store: Store, api: str) -> None:
    client, headers = client_of(store), {"Content-Type": "application/json"}
    for body in (b"{", b"[1]", b'{"trial": 1}'):
        known = client.post(f"{api}/answers", content=body, headers=headers)
        assert known.status_code in (400, 422)
        refused = client.post("/api/judge/nobody/answers", content=body, headers=headers)
        assert refused.status_code == 404 and len(refused.json()["reasons"]) == 1


def test_a_judge_who_is_new_to_this_server_may_begin_with_an_answer(store: Store, api: str) -> None:
    """As behind a proxy that sends each request to another server."""
    other = client_of(store)
    (invitation,) = store.invite(1)
    new = f"/api/judge/{invitation.token}"
    trial = client_of(store).get(f"{new}/next").json()["trial"]["id"]
    recorded = answer(other, new, trial, {"understandability": 3, "quality": 2})
    assert recorded.status_code == 201
