"""`wellput.judge` against a SIMULATED endpoint on loopback: faults, costs, keys, resuming."""

from __future__ import annotations

import contextlib
import csv
import html
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import wellput
from tests.studies.simulated_endpoint import Faults, Planted, SimulatedEndpoint
from wellput.core.errors import InputError, Unreachable
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment, Preference
from wellput.studies.machines import asking
from wellput.studies.machines.answer_log import AnswerLog, _is_cut_off
from wellput.studies.machines.budget import Budget, Cost, Price
from wellput.studies.machines.endpoint import Endpoint, TemporaryFailure, _seconds_to_wait, api_key
from wellput.studies.machines.judge_results import JudgePlan, JudgeResult

KEY = "sk-secret-0123456789"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No keys of this machine, and short pauses between tries."""
    for name in ("WELLPUT_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(asking, "FIRST_DELAY_SECONDS", 0.01)


def evalset(n: int = 10) -> EvalSet:
    outputs = {"A": "text {} of A", "B": "the text {} of B"}
    return EvalSet(
        [Item(f"i{k}", outputs={s: t.format(k) for s, t in outputs.items()}) for k in range(n)]
    )


def judged(
    endpoint: SimulatedEndpoint, items: EvalSet | str | None = None, **options: Any
) -> JudgeResult:
    options = {"model": "sim", "question": "quality", "timeout": 5.0, **options}
    found = wellput.judge(items or evalset(), endpoint=endpoint.url, **options)
    assert isinstance(found, JudgeResult)
    return found


def test_ratings_are_judgments_of_a_machine(tmp_path: Path) -> None:
    file = tmp_path / "j.csv"
    with SimulatedEndpoint(quality=lambda text: 1.0 if "A" in text else 0.0) as endpoint:
        result = judged(endpoint, path=file)
    assert (result.trials, result.answered, result.requests) == (20, 20, 20)
    read = wellput.read_judgments(file)
    assert list(result) == [
        Judgment(one.judge, one.item, one.system, one.question, one.value, one.extra)
        for one in read
        if isinstance(one, Judgment)
    ]
    first = read[0]
    assert isinstance(first, Judgment)
    assert (first.judge, first.extra["answer"], first.extra["repeat"]) == ("model:sim", "7", "0")
    # The simulated probabilities are proportional to exp(-d²) at distance d from the best, 7:
    # (7 + 6e⁻¹ + 5e⁻⁴ + 4e⁻⁹ + …) / (1 + e⁻¹ + e⁻⁴ + e⁻⁹ + …) = 9.29935 / 1.38632 = 6.7079.
    assert first.value == pytest.approx(6.7079, abs=1e-4)
    assert "digest:fp_simulated" in first.extra["signature"]
    assert "temperature:0|" in first.extra["signature"]
    assert [(one.system, one.n) for one in result.systems] == [("A", 10), ("B", 10)]
    record = json.loads((tmp_path / "j.judge.json").read_text("utf-8"))
    assert record["signature"] == result.signature and record["endpoint"] == endpoint.url


def test_without_probabilities_the_written_answer_counts() -> None:
    with SimulatedEndpoint(quality=lambda _: 1.0, gives_logprobs=False) as endpoint:
        assert {one.value for one in judged(endpoint)} == {7.0}  # type: ignore[union-attr]
    with SimulatedEndpoint(quality=lambda _: 1.0) as endpoint:
        result = judged(endpoint, scores="text")
        assert {one.value for one in result} == {7.0}  # type: ignore[union-attr]
        assert "logprobs" not in endpoint.last_request


def test_choices_keep_who_was_shown_first() -> None:
    with SimulatedEndpoint(quality=lambda _: 0.5, planted=Planted(position=2.0)) as endpoint:
        result = judged(endpoint, design="pairwise", swap=True)
    choices = [one for one in result if isinstance(one, Preference)]
    assert len(choices) == 20 and {one.choice for one in choices} == {"a"}
    assert {(one.item, one.system_a) for one in choices} == {
        (f"i{n}", s) for n in range(10) for s in "AB"
    }
    # 1 / (1 + e⁻²) = 0.8808: a bias of 2 log odds for what is shown first.
    assert {one.extra["share"] for one in choices} == {"0.8808"}
    assert [one.mean for one in result.systems] == [pytest.approx(0.5)] * 2


def test_error_spans_have_their_places(tmp_path: Path) -> None:
    items = EvalSet([Item("1", outputs={"A": "an axe, an axe", "B": "a cat."})])
    with SimulatedEndpoint() as endpoint:
        result = judged(endpoint, items, design="spans", question="errors", path=tmp_path / "j.csv")
        assert endpoint.last_request["max_tokens"] == 512
    first, second = wellput.read_judgments(tmp_path / "j.csv")
    assert isinstance(first, Judgment) and isinstance(second, Judgment)
    assert (first.value, second.value) == (-7.0, 0.0)  # two minor errors and a major one; none
    minor = {"severity": "minor", "category": "spelling", "text": "axe"}
    assert json.loads(first.extra["spans"]) == [
        {"start": 3, "end": 6, **minor},
        {"start": 11, "end": 14, **minor},
        {
            "start": "missing",
            "end": "missing",
            "severity": "major",
            "category": "omission",
            "text": ".",
        },
    ]
    assert second.extra["spans"] == "[]" and result.answered == 2


def test_repeats_are_asked_again_and_the_same_text_is_not() -> None:
    same = EvalSet([Item("1", outputs={"A": "x", "B": "x", "C": "y"})])
    with SimulatedEndpoint(planted=Planted(noise=1.0)) as endpoint:
        result = judged(endpoint, same, repeats=3)
        assert endpoint.n_requests == 6  # two texts, three times
    assert len(result) == 9
    values = {(one.system, one.extra["repeat"]): one.value for one in result}  # type: ignore[union-attr]
    assert values["A", "0"] == values["B", "0"] != values["A", "1"]


def test_what_is_known_is_not_asked_again(tmp_path: Path) -> None:
    file = tmp_path / "j.csv"
    with SimulatedEndpoint() as endpoint:
        first = judged(endpoint, path=file)
        again = judged(endpoint, path=file)
        assert endpoint.n_requests == 20
        assert (again.requests, again.known) == (0, 20)
        assert list(again) == list(first)
        judged(endpoint, path=file, temperature=0.5)  # another question to the model
        assert endpoint.n_requests == 40


def test_refusals_and_nonsense_are_recorded_never_guessed(tmp_path: Path) -> None:
    file = tmp_path / "j.csv"
    with SimulatedEndpoint(faults=Faults(nonsense=0.2, refusals=0.2), seed=3) as endpoint:
        result = judged(endpoint, evalset(25), path=file)
    n_none = result.unanswered["unparsable"] + result.unanswered["refusal"]
    assert n_none > 5 and result.answered + n_none == result.trials == 50
    with (tmp_path / "j.unanswered.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    assert len(rows) == n_none
    nonsense = next(row for row in rows if row["reason"] == "unparsable")
    assert "about a 5 or so" in nonsense["text"] and "\x1b" not in nonsense["text"]
    there = {(one.item, one.system) for one in result}  # type: ignore[union-attr]
    left = {(row["item"], json.loads(row["systems"])[0]) for row in rows}
    assert not there & left and len(there | left) == 50


def test_temporary_failures_are_tried_again(tmp_path: Path) -> None:
    faults = Faults(garbled=0.1, errors=0.1, stalls=0.05, limit_every=7, stall_seconds=1.0)
    with SimulatedEndpoint(faults=faults) as endpoint:
        result = judged(endpoint, evalset(30), timeout=0.4, path=tmp_path / "j.csv")
        assert endpoint.n_limited > 5 and endpoint.n_stalled > 0
        assert len(endpoint.answered) == 60
    assert result.answered == 60 and result.retries > 10
    # The result is judgments for other verbs; people's rankings leave machines out, unless asked.
    assert {
        row.system for row in wellput.rank(result.judgments, judges="all").rankings[0].systems
    } == {*"AB"}
    with pytest.raises(InputError, match="All judges are machines"):
        wellput.rank(result.judgments)


def test_a_dead_endpoint_ends_the_run_and_keeps_what_there_is(tmp_path: Path) -> None:
    with (
        SimulatedEndpoint(faults=Faults(errors=1.0)) as endpoint,
        pytest.raises(Unreachable, match="gives no answer: status 500"),
    ):
        judged(endpoint, evalset(100), path=tmp_path / "j.csv", retries=2)
    assert (tmp_path / "j.answers.jsonl").exists()


def test_an_address_where_nobody_is_ends_the_run(tmp_path: Path) -> None:
    with SimulatedEndpoint() as endpoint:
        url = endpoint.url
    with pytest.raises(Unreachable, match="the connection failed"):
        wellput.judge(evalset(100), model="m", question="q", endpoint=url, path=tmp_path / "j.csv")


def test_parameters_that_the_endpoint_does_not_know_are_left_out() -> None:
    unknown = ("logprobs", "temperature", "max_tokens", "seed")
    with SimulatedEndpoint(unknown_parameters=unknown) as endpoint:
        result = judged(endpoint)
        assert "max_completion_tokens" in endpoint.last_request
    assert result.answered == 20
    assert "temperature:default|scores:text" in result.signature


def test_an_endpoint_is_asked_no_more_than_the_limit_allows(tmp_path: Path) -> None:
    file = tmp_path / "j.csv"
    with SimulatedEndpoint(faults=Faults(garbled=0.1)) as endpoint:
        part = judged(endpoint, evalset(50), path=file, max_cost=5000)
        assert 0 < part.answered < 100 and part.left_out == 100 - part.answered
        assert part.spending.tokens_in + part.spending.tokens_out <= 5000
        # At most one request's reservation is left unused.
        assert part.spending.tokens_in > 5000 - 2 * 900
        assert not part.is_complete and "max_cost" in str(part)
        more = judged(endpoint, evalset(50), path=file, max_cost=1.0, price="2,8")
        assert more.is_complete and more.known == part.answered
        cost = (2 * more.spending.tokens_in + 8 * more.spending.tokens_out) / 1e6
        assert more.spending.money == pytest.approx(cost)
        assert endpoint.tokens_answered <= more.spending.tokens_in + more.spending.tokens_out


def test_a_dry_run_sends_nothing() -> None:
    with SimulatedEndpoint() as endpoint:
        plan = wellput.judge(
            evalset(),
            model="sim",
            endpoint=endpoint.url,
            question="quality",
            dry_run=True,
            price="1,1",
        )
        assert endpoint.n_requests == 0
    assert isinstance(plan, JudgePlan)
    assert (plan.trials, plan.requests) == (20, 20)
    assert plan.most_money is not None and plan.money is not None
    assert 0 < plan.money < plan.most_money
    assert "text 0 of A" in plan.messages[1]["content"]
    assert "Nothing was sent" in str(plan)


@pytest.mark.parametrize("model", [None, "gpt-4o"])
def test_a_dry_run_needs_no_model(model: str | None) -> None:
    plan = wellput.judge(evalset(), model=model, question="quality", unit="answer", dry_run=True)
    assert isinstance(plan, JudgePlan)
    assert (plan.trials, plan.requests) == (20, 20)
    assert plan.judge == f"model:{model or 'unnamed'}"
    assert "this answer?" in plan.messages[1]["content"]
    with pytest.raises(wellput.InputError, match=r"dry_run|endpoint="):
        wellput.judge(evalset(), model=model, question="quality")


def test_orders_in_texts_are_measured() -> None:
    def quality(text: str) -> float:  # of the text as it was before the order
        return 0.3 + 0.4 * ("A" in text.partition("\n\nEND")[0])

    with SimulatedEndpoint(quality=quality, planted=Planted(obeys=True)) as endpoint:
        obeying = judged(endpoint, injection=10).injection
    with SimulatedEndpoint(quality=quality) as endpoint:
        deaf = judged(endpoint, injection=10).injection
    assert obeying is not None and deaf is not None
    assert obeying.low is not None and obeying.low > 0.5 and obeying.n == 10
    assert deaf.value == pytest.approx(0.0, abs=1e-9)


def all_files(folder: Path) -> str:
    return "".join(file.read_text("utf-8") for file in folder.rglob("*") if file.is_file())


@pytest.mark.parametrize("design", ["rating", "pairwise"])
def test_the_key_is_in_no_file_message_or_result(
    design: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("WELLPUT_API_KEY", KEY)
    caplog.set_level(0)
    file = tmp_path / "j.csv"
    # The simulated server repeats the key in its errors, as real ones do.
    with SimulatedEndpoint(key=KEY, faults=Faults(errors=0.3)) as endpoint:
        result = judged(endpoint, path=file, design=design)
        endpoint.key = "another"
        with pytest.raises(InputError) as refused:
            judged(endpoint, path=tmp_path / "other.csv")
    assert "[key]" in str(refused.value) and "WELLPUT_API_KEY" in str(refused.value)
    shown = [
        str(refused.value), repr(refused.value.__cause__), str(result), json.dumps(result.to_dict()),
        result._repr_html_(), caplog.text, repr(Endpoint(endpoint.url, "m")), all_files(tmp_path),
    ]  # fmt: skip
    assert "status 500" in all_files(tmp_path)
    for text in shown:
        assert KEY not in text


ESCAPED_KEY = 'Zm9v/SECRET+a"/9=='
ESCAPES: list[Callable[[str], str]] = [
    lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    lambda text: "".join(f"\\u{ord(c):04x}" for c in text),
    lambda text: json.dumps(json.dumps(text))[1:-1].replace("/", "\\/"),
    quote,
    lambda text: html.escape(text).replace("/", "&#x2F;"),
]


def json_response(status: int, text: str, field: str = "") -> bytes:
    """A response with `text`, which is put into the JSON as it is, so it must be escaped already: in
    the answer and the error message, or in the field that is named."""
    choice: dict[str, Any] = {"message": {"content": "TEXT"}, "finish_reason": "stop"}
    record: dict[str, Any] = {"choices": [choice], "error": {"message": "TEXT"}}
    if field == "logprob":
        choice["logprobs"] = {
            "content": [{"token": "5", "top_logprobs": [{"token": "5", "logprob": "TEXT"}]}]
        }
    elif field == "refusal":
        choice["message"] = {"content": None, "refusal": "TEXT"}
    elif field == "parts":
        half = len(text) // 2
        parts = [{"type": "text", "text": "FIRST"}, {"type": "text", "text": "SECOND"}]
        choice["message"]["content"] = parts
        content = json.dumps(record).replace("FIRST", text[:half]).replace("SECOND", text[half:])
        return _http(status, content)
    elif field == "tokens":
        pieces = [text[place : place + 4] for place in range(0, len(text), 4)]
        choice["logprobs"] = {"content": [{"token": one, "top_logprobs": []} for one in pieces]}
    elif field:
        record[field] = "TEXT"
    return _http(status, json.dumps(record).replace("TEXT", text))


def _http(status: int, content: str) -> bytes:
    head = f"HTTP/1.1 {status} S\r\nConnection: close\r\nContent-Length: {len(content)}\r\n\r\n"
    return (head + content).encode()


@pytest.mark.parametrize(
    ("status", "field", "escape"),
    [
        *((200, "", escape) for escape in ESCAPES),
        *((401, "", escape) for escape in ESCAPES),
        *((400, "", escape) for escape in ESCAPES),
        *(
            (200, field, ESCAPES[1])
            for field in ("logprob", "refusal", "model", "system_fingerprint")
        ),
        *((200, field, lambda text: text) for field in ("parts", "tokens")),
    ],
)
def test_a_key_that_the_server_repeats_in_an_escaped_form_is_written_nowhere(
    status: int,
    field: str,
    escape: Callable[[str], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    key = ESCAPED_KEY if escape(ESCAPED_KEY) != ESCAPED_KEY else KEY
    monkeypatch.setenv("WELLPUT_API_KEY", key)
    response = json_response(status, escape(key), field)
    text = ""
    with hostile_endpoint(lambda connection: connection.sendall(response)) as url:
        try:
            text = str(
                wellput.judge(
                    evalset(1), model="m", endpoint=url, question="quality", retries=0,
                    path=tmp_path / "j.csv", parallel=1,
                ).to_dict()
            )  # fmt: skip
        except wellput.WellputError as error:
            text = str(error)
    text += all_files(tmp_path)
    assert (tmp_path / "j.answers.jsonl").exists()
    for form in (key, escape(key), json.dumps(key)[1:-1]):
        assert form not in text
    if field == "tokens":
        assert '"tokens"' not in text
    elif status == 200:
        assert "[key]" in text


def test_the_key_of_openai_goes_to_openai_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert api_key("api.openai.com") == KEY
    assert api_key("127.0.0.1") is api_key("api.openai.com.example.org") is None
    monkeypatch.setenv("WELLPUT_API_KEY", "own")
    assert api_key("127.0.0.1") == api_key("api.openai.com") == "own"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("127.0.0.1:8000", "must be an address"),
        ("ftp://host/v1", "must be an address"),
        ("http://host:port/v1", "must be an address"),
        ("https://user:secret@host/v1", "no user, password or query"),
        ("https://host/v1?api-key=secret", "no user, password or query"),
        ("http://host.example/v1", "would travel unencrypted"),
    ],
)
def test_addresses_that_would_give_a_key_away_are_refused(
    url: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WELLPUT_API_KEY", KEY)
    with pytest.raises(InputError, match=message) as refused:
        Endpoint(url, "m")
    assert "secret" not in str(refused.value)


def test_more_questions_than_the_memory_holds_are_refused() -> None:
    with pytest.raises(InputError, match="more than 1,000,000 trials"):
        wellput.judge(evalset(), model="m", question="quality", repeats=10**9, dry_run=True)


def test_nothing_is_sent_without_an_endpoint(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Nothing is sent anywhere without it"):
        wellput.judge(evalset(), model="gpt-4o", question="quality")
    file = tmp_path / "m.gguf"
    with pytest.raises(InputError, match="Cannot read the model"):
        wellput.judge(evalset(), model=str(file), question="quality")
    file.write_bytes(b"not a model")
    with pytest.raises(InputError, match="not a GGUF file"):
        wellput.judge(evalset(), model=str(file), question="quality")


def test_the_time_that_an_endpoint_asks_to_wait() -> None:
    assert _seconds_to_wait({"retry-after": "1.5"}) == 1.5
    assert _seconds_to_wait({"retry-after": "soon"}) is None
    assert _seconds_to_wait({}) is _seconds_to_wait({"retry-after": "nan"}) is None
    assert _seconds_to_wait({"retry-after": "1e9"}) == 600
    assert _seconds_to_wait({"retry-after": "Mon, 01 Jan 2001 00:00:00 GMT"}) == 0
    assert _seconds_to_wait({"retry-after": "Mon, 01 Jan 9999999999 00:00:00 GMT"}) is None


@contextlib.contextmanager
def hostile_endpoint(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """The address of a server that answers each request as `answer` does, on a new connection."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection, contextlib.suppress(OSError):
                    received = b""
                    while b'"seed"' not in received and (piece := connection.recv(1 << 16)):
                        received += piece
                    answer(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        listening.shutdown(socket.SHUT_RDWR)
    thread.join(5)


HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("begin", "piece"),
    [
        (HEAD + b"Content-Length: 9999\r\n\r\n", b" "),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
        (HEAD, b"X-A: b\r\n"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
)
def test_an_answer_that_comes_in_drops_is_late(begin: bytes, piece: bytes) -> None:
    def answer(connection: socket.socket) -> None:
        connection.sendall(begin)
        for _ in range(50):
            time.sleep(0.1)
            connection.sendall(piece)

    with hostile_endpoint(answer) as url:
        endpoint = Endpoint(url, "drops", timeout=0.4)
        began = time.monotonic()
        with pytest.raises(TemporaryFailure, match="no answer within") as late:
            endpoint.complete({"messages": [], "seed": 1})
        assert late.value.may_cost
        assert time.monotonic() - began < 3


def test_a_response_that_breaks_the_protocol_is_a_failed_connection() -> None:
    def answer(connection: socket.socket) -> None:
        connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nabc")

    with (
        hostile_endpoint(answer) as url,
        pytest.raises(TemporaryFailure, match="connection failed"),
    ):
        Endpoint(url, "negative").complete({"messages": [], "seed": 1})


def test_hostile_names_and_counts_are_written_and_paid(tmp_path: Path) -> None:
    reply = {
        "choices": [{"message": {"content": "5"}}],
        "model": "\ud800\x1b[2J",
        "system_fingerprint": "\ud800",
        "usage": {"prompt_tokens": 10**3000, "completion_tokens": 1e308},
    }

    def answer(connection: socket.socket) -> None:
        content = json.dumps(reply).encode()
        connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(content) + content)

    with hostile_endpoint(answer) as url:
        out = tmp_path / "j.csv"
        found = wellput.judge(
            evalset(1), model="m", endpoint=url, question="quality", price="1,1", path=str(out)
        )
    assert isinstance(found, JudgeResult)
    assert found.answered == 2 and 0 < (found.spending.money or 0) < 1
    record = json.loads((tmp_path / "j.judge.json").read_text(encoding="utf-8"))
    assert record["models_that_answered"] == [reply["model"]]


def test_prices_and_limits() -> None:
    # 3 tokens read at 2 a million and 5 written at 8: (6 + 40) / 10⁶.
    assert Budget(1, Price.of("2,8")).worth(Cost(3, 5)) == pytest.approx(46e-6)
    assert Budget(1).worth(Cost(3, 5)) == 8
    budget = Budget(10)
    assert budget.reserve(Cost(4, 4))
    budget.settle(Cost(4, 4), Cost(3, 0))
    assert budget.reserve(Cost(7, 0))
    budget.settle(Cost(7, 0), Cost(7, 0))
    assert not budget.reserve(Cost(1, 0))
    for wrong in ("2", "a,b", "-1,2", "1,inf"):
        with pytest.raises(InputError, match="two numbers"):
            Price.of(wrong)


def test_a_log_that_was_cut_off_is_read_and_one_of_another_kind_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"asked":"x","n":0,"most":[10,2]}\n{"answer":"x","n":0,"co', encoding="utf-8")
    budget = Budget()
    log = AnswerLog(file, budget)
    assert log.answer_to("x") is None
    assert budget.spent == Cost(10, 2)  # sent, and perhaps paid for
    with pytest.raises(wellput.OutputError, match="in use by another run"):
        AnswerLog(file, Budget())
    log.close()
    file.write_text("id,text\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 1: not a line of a log"):
        AnswerLog(file, Budget())


@pytest.mark.parametrize(
    "content",
    [
        "my precious notes",
        '{"items": 3}',
        '{"answer":"42"}',
        "id,text",
        "{}",
        '{"n":1,"cost":[1,1]}',
    ],
)
@pytest.mark.parametrize("dry_run", [False, True])
def test_a_file_of_one_line_that_is_no_log_is_refused_and_not_changed(
    tmp_path: Path, content: str, dry_run: bool
) -> None:
    file = tmp_path / "notes.txt"
    file.write_text(content, encoding="utf-8")  # without a line break at its end
    with pytest.raises(InputError, match=r"notes\.txt, line 1: not a line of a log"):
        wellput.judge(
            evalset(1),
            model="m",
            endpoint="http://127.0.0.1:9/v1",
            question="quality",
            cache=file,
            dry_run=dry_run,
        )
    assert file.read_text(encoding="utf-8") == content


def test_a_dry_run_reads_a_log_that_another_run_writes_and_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "j.answers.jsonl"
    with SimulatedEndpoint() as endpoint:
        judged(endpoint, evalset(5), path=tmp_path / "j.csv")
        whole = file.read_bytes()
        cut_off = whole + b'{"answer":"7f","n":0,"co'
        file.write_bytes(cut_off)
        plan = wellput.judge(
            evalset(8), model="sim", endpoint=endpoint.url, question="quality", dry_run=True,
            cache=file,
        )  # fmt: skip
        assert isinstance(plan, JudgePlan) and (plan.known, plan.requests) == (10, 6)
        assert file.read_bytes() == cut_off
        log = AnswerLog(file, Budget())
        log.begin("8a", Cost(1, 1))
        in_use = file.read_bytes()
        assert in_use == whole + b'{"asked":"8a","n":10,"most":[1,1]}\n'
        plan = wellput.judge(
            evalset(8), model="sim", endpoint=endpoint.url, question="quality", dry_run=True,
            cache=file,
        )  # fmt: skip
        log.close()
    assert isinstance(plan, JudgePlan) and plan.known == 10
    assert file.read_bytes() == in_use


@pytest.mark.parametrize(
    "line",
    [
        '{"n":1e400,"cost":[1,1]}', '{"n":-1,"cost":[1,1]}', '{"n":1,"cost":[-5,1]}',
        '{"n":1,"cost":[1]}',
        '{"n":1,"asked":"x","most":[1e400,1]}', '{"n":1,"cost":[1,1],"answer":"x","reply":[1]}',
        '{"n":1,"cost":[1,1],"answer":"x","reply":{"text":5}}',
        '{"n":1,"cost":[1,1],"answer":"x","reply":{"text":"5","ms":"a"}}',
        '{"n":1,"cost":[1,1],"answer":"x","reply":{"text":"5","tokens":[["a",[["b","c"]]]]}}',
    ],
)  # fmt: skip
def test_a_forged_line_of_a_log_is_refused(tmp_path: Path, line: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"asked":"x","n":0,"most":[10,2]}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2: not a line of a log"):
        AnswerLog(file, Budget())


@pytest.mark.heavy
def test_a_run_that_was_killed_is_resumed_and_nothing_is_asked_twice(tmp_path: Path) -> None:
    """The small version of `make bench-judge-endpoint`."""
    wellput.write_evalset(evalset(100), tmp_path / "e.jsonl")
    parallel, limit = 8, 400_000
    faults = Faults(stalls=0.05, nonsense=0.05, limit_every=20, retry_after=0.02, stall_seconds=0.5)
    with SimulatedEndpoint(faults=faults) as endpoint:
        command = [
            sys.executable, "-m", "wellput", "judge", "e.jsonl", "--model", "sim", "--question",
            "quality", "--endpoint", endpoint.url, "--timeout", "0.25", "--parallel", str(parallel),
            "--max-cost", str(limit), "-o", "j.csv", "--format", "json",
        ]  # fmt: skip
        run = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)
        while sum(endpoint.answered.values()) < 70:
            assert run.poll() is None
            time.sleep(0.01)
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
        lines = (tmp_path / "j.answers.jsonl").read_text("utf-8").splitlines()
        n_before = sum(line.startswith('{"answer"') and line.endswith("}") for line in lines)
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, text=True)
        counts = endpoint.answered
    result = json.loads(done.stdout)
    assert 0 < n_before < 200 and result["known"] == n_before
    assert result["answered"] + result["unanswered"]["unparsable"] == result["trials"] == 200
    assert result["requests"] == 200 - n_before
    # Only what was under way at the kill may have been answered twice, or what a busy machine answered
    # after the time-out.
    twice = sum(n - 1 for n in counts.values())
    log = (tmp_path / "j.answers.jsonl").read_text("utf-8")
    n_late = max(0, log.count("no answer within") - endpoint.n_stalled)
    assert len(counts) == 200 and twice <= parallel + n_late
    assert result["cost"]["tokens_in"] + result["cost"]["tokens_out"] <= limit
    assert endpoint.tokens_answered <= result["cost"]["tokens_in"] + result["cost"]["tokens_out"]


def test_zeros_behind_a_log_are_a_line_that_was_cut_off() -> None:
    """Some file systems leave them at the end of a file after a power loss."""
    assert _is_cut_off(bytes(64))
    assert _is_cut_off(b'{"answer":"7f","n":0,"co' + bytes(8))
    assert not _is_cut_off(b"notes" + bytes(8))
