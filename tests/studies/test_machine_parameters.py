"""Parameters that an endpoint does not know: when they are left out, and what the log and the
signature say of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import wellput
from tests.studies.simulated_endpoint import SimulatedEndpoint
from wellput.core.evalset import EvalSet, Item
from wellput.studies.machines.answer_log import AnswerLog
from wellput.studies.machines.budget import Budget
from wellput.studies.machines.endpoint import Endpoint, Rejected, TemporaryFailure
from wellput.studies.machines.judge_results import JudgeResult

PARAMETERS = {"temperature": 0.0, "max_tokens": 16, "seed": 1, "logprobs": True, "top_logprobs": 20}
PROMPT = """Text to judge:
<<<5f
Sow the seed in April, at a low temperature and in moist soil.
5f>>>
How fluent is this text? Answer with one whole number from 1 to 7 and nothing else."""
ANSWER = {"choices": [{"message": {"content": "5"}, "finish_reason": "stop"}]}


def error(message: str, param: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": param}}


class Answers:
    """An endpoint without a network: `answer` gives the status and the content for a request, `sent`
    has the requests."""

    def __init__(
        self,
        answer: Callable[[dict[str, Any]], tuple[int, Any]],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        self.endpoint = Endpoint("http://127.0.0.1:9/v1", "m")
        self.sent: list[dict[str, Any]] = []

        def post(body: bytes) -> tuple[int, dict[str, str], bytes]:
            self.sent.append(json.loads(body))
            status, content = answer(self.sent[-1])
            return status, {}, json.dumps(content).encode()

        monkeypatch.setattr(self.endpoint, "_post", post)

    def ask(self, prompt: str = PROMPT) -> Any:
        messages = [{"role": "user", "content": prompt}]
        return self.endpoint.complete({"messages": messages, **PARAMETERS})

    def without(self) -> list[set[str]]:
        """For each request, the parameters that it did not have."""
        return [set(PARAMETERS) - set(body) for body in self.sent]


@pytest.mark.parametrize(
    "message",
    [
        f"bad input: {PROMPT}",
        f"bad input: {json.dumps(PROMPT)}",
        "bad input: 'Text to judge:\\n<<<5f\\nSow the seed in April, at a low temp... else.'",
        "1 validation error: input_value='Sow the seed in April, at a low temperature an...'",
        "cannot judge '… seed in April, at a low temperature and in moist soil.'",
    ],
)
def test_a_parameter_in_a_quote_of_the_prompt_is_not_left_out(
    monkeypatch: pytest.MonkeyPatch, message: str
) -> None:
    answers = Answers(lambda _: (400, error(message)), monkeypatch)
    with pytest.raises(Rejected, match=r"^status 400: "):
        answers.ask()
    assert answers.without() == [set()]
    assert answers.endpoint.refused_parameters == set()


@pytest.mark.parametrize(
    "response",
    [
        error("Unsupported parameter: 'temperature' is not supported with this model."),
        error("This value is not supported", "temperature"),
        error("body.temperature: extra field", "body.temperature"),
        error("temperature is not supported", "None"),  # as LiteLLM writes it
        error(f"temperature is not supported in: {PROMPT}"),
        error(f"{PROMPT} cannot be judged with this temperature"),
        {"object": "error", "message": "unknown field temperature", "param": None, "code": 400},
        {"detail": [{"loc": ["body", "temperature"], "msg": "Extra inputs are not permitted"}]},
        {"error": "temperature: unknown field"},
    ],
)
def test_a_parameter_that_the_endpoint_does_not_know_is_left_out_of_later_requests(
    monkeypatch: pytest.MonkeyPatch, response: dict[str, Any]
) -> None:
    answers = Answers(
        lambda body: (400, response) if "temperature" in body else (200, ANSWER), monkeypatch
    )
    assert answers.ask().without == ("temperature",)
    assert answers.ask("another text").without == ("temperature",)
    assert answers.without() == [set(), {"temperature"}, {"temperature"}]


def test_a_parameter_comes_back_if_the_second_try_is_rejected_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def answer(body: dict[str, Any]) -> tuple[int, Any]:
        if "seed" not in body:
            return 422, error("this text is not for me")
        return (422, error("no seed here")) if "Sow" in str(body["messages"]) else (200, ANSWER)

    answers = Answers(answer, monkeypatch)
    message = "^status 422: no seed here; without seed: this text is not for me$"
    with pytest.raises(Rejected, match=message):
        answers.ask()
    assert answers.ask("another text").without == ()
    assert answers.without() == [set(), {"seed"}, set()]


def test_a_failure_of_the_second_try_says_nothing_about_a_parameter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = Answers(
        lambda body: (400, error("no seed")) if "seed" in body else (503, error("busy")),
        monkeypatch,
    )
    with pytest.raises(TemporaryFailure):
        answers.ask()
    assert answers.endpoint.refused_parameters == set()


def test_an_error_about_another_part_of_the_request_leaves_nothing_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    message = "a message with temperature is too hot"
    answers = Answers(lambda _: (400, error(message, "messages.[0].content")), monkeypatch)
    with pytest.raises(Rejected):
        answers.ask()
    assert answers.without() == [set()]


VLLM = (
    "'max_tokens' or 'max_completion_tokens' is too large: 16. This model's maximum context length is "
    "2048 tokens and your request has 2040 input tokens (16 > 2048 - 2040)."
)
OPENAI = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
    "'max_completion_tokens' instead."
)


@pytest.mark.parametrize("param", [None, "max_tokens", "input_tokens"])
def test_a_prompt_that_is_too_long_leaves_the_limit_of_tokens_in_place(
    monkeypatch: pytest.MonkeyPatch, param: str | None
) -> None:
    """Without this limit the costs would have none, and the endpoint may not know the other name."""

    def answer(body: dict[str, Any]) -> tuple[int, Any]:
        is_too_long = "max_tokens" in body and "Sow" in str(body["messages"])
        return (400, error(VLLM, param)) if is_too_long else (200, ANSWER)

    answers = Answers(answer, monkeypatch)
    with pytest.raises(Rejected, match="is too large"):
        answers.ask()
    answers.ask("another text")
    assert answers.without() == [set(), set()]


def test_an_endpoint_with_another_name_for_the_limit_of_tokens_gets_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = Answers(
        lambda body: (400, error(OPENAI, "max_tokens")) if "max_tokens" in body else (200, ANSWER),
        monkeypatch,
    )
    assert answers.ask().without == ("max_tokens",)
    assert "max_completion_tokens" not in answers.sent[0]
    assert answers.sent[1]["max_completion_tokens"] == 16
    # A name that the endpoint does not know either is no reason to do without a limit.
    answers = Answers(
        lambda _: (400, error("no max_tokens, no max_completion_tokens")), monkeypatch
    )
    with pytest.raises(Rejected):
        answers.ask()
    assert answers.endpoint.refused_parameters == set()


def items(n: int) -> EvalSet:
    return EvalSet([Item(f"i{k}", outputs={"A": f"text number {k}"}) for k in range(n)])


def judged(endpoint: SimulatedEndpoint, file: Path, n: int, **options: Any) -> JudgeResult:
    found = wellput.judge(
        items(n), model="sim", question="quality", endpoint=endpoint.url, path=file, **options
    )
    assert isinstance(found, JudgeResult)
    return found


def test_a_run_with_known_answers_has_the_signature_of_the_first(tmp_path: Path) -> None:
    file = tmp_path / "j.csv"
    with SimulatedEndpoint(unknown_parameters=("temperature", "logprobs")) as endpoint:
        first = judged(endpoint, file, 10)
        written = file.read_bytes()
        again = judged(endpoint, file, 10)
        assert (again.requests, again.known) == (0, 10)
    assert "|temperature:default|scores:text|" in first.signature
    assert again.signature == first.signature
    assert file.read_bytes() == written


def test_answers_with_and_without_a_parameter_have_both_in_their_signature(tmp_path: Path) -> None:
    file = tmp_path / "j.csv"
    with SimulatedEndpoint(unknown_parameters=("temperature", "logprobs")) as endpoint:
        judged(endpoint, file, 5, temperature=0.5)
        endpoint.unknown_parameters = ()
        mixed = judged(endpoint, file, 10, temperature=0.5)
        assert "|temperature:0.5+default|scores:auto+text|" in mixed.signature
        assert judged(endpoint, file, 10, temperature=0.5).signature == mixed.signature
        # Only the answers that are used count.
        first = judged(endpoint, file, 5, temperature=0.5)
    assert "|temperature:default|scores:text|" in first.signature


def test_many_digests_do_not_make_the_table_grow(tmp_path: Path) -> None:
    file = tmp_path / "j.csv"
    with SimulatedEndpoint(fingerprint=(f"fp_{n}" for n in range(5000, 9000))) as endpoint:
        few = judged(endpoint, file, 3, parallel=1)
        assert few.digest == "fp_5000+fp_5001+fp_5002"
        result = judged(endpoint, file, 300, parallel=1)
        assert result.digest == "fp_5000+fp_5001+fp_5002+297 more"
        written = file.read_bytes()
        assert len(written) < 300 * 300
        assert judged(endpoint, file, 300).signature == result.signature
        assert file.read_bytes() == written


def test_a_log_of_earlier_versions_stays_readable(tmp_path: Path) -> None:
    file = tmp_path / "j.csv"
    log = tmp_path / "j.answers.jsonl"
    with SimulatedEndpoint(unknown_parameters=("temperature",)) as endpoint:
        judged(endpoint, file, 5)
        lines = log.read_text("utf-8")
        assert lines.count(',"without":["temperature"]') == 5
        log.write_text(lines.replace(',"without":["temperature"]', ""), encoding="utf-8")
        again = judged(endpoint, file, 5)
    assert (again.requests, again.known) == (0, 5)
    assert "|temperature:0|" in again.signature


@pytest.mark.parametrize("without", ['"seed"', "[1]", '{"seed":1}'])
def test_a_forged_list_of_parameters_is_refused(tmp_path: Path, without: str) -> None:
    file = tmp_path / "a.jsonl"
    reply = f'"reply":{{"text":"5","without":{without}}}'
    file.write_text(f'{{"answer":"x","n":0,"cost":[1,1],{reply}}}\n', encoding="utf-8")
    with pytest.raises(wellput.InputError, match="line 1: not a line of a log"):
        AnswerLog(file, Budget())
