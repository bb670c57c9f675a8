"""A local model: what llama.cpp is asked. A stand-in takes the place of the package `xllamacpp`; the
real one is used by `make bench-judge-local`."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import wellput
from wellput.core.errors import MissingExtra
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment
from wellput.studies.machines.judge_results import JudgeResult

FILE = b"GGUF and so on"


class StandIn:
    """Answers 5 to everything, and refuses texts with the word `long`."""

    def __init__(self, params: Any) -> None:
        self.params = params
        self.requests: list[dict[str, Any]] = []
        StandIn.last = self

    last: StandIn

    def handle_chat_completions(self, request: dict[str, Any]) -> dict[str, Any]:
        self.requests.append(request)
        if "long" in request["messages"][1]["content"]:
            return {"error": {"code": 400, "message": "exceeds the available context size"}}
        alternatives = [{"token": "5", "logprob": -0.6931}, {"token": "3", "logprob": -0.6931}]
        return {
            "choices": [
                {
                    "message": {"content": "5"},
                    "logprobs": {"content": [{**alternatives[0], "top_logprobs": alternatives}]},
                }
            ],
            "usage": {"prompt_tokens": 10, "completion_tokens": 1},
        }


def params() -> SimpleNamespace:
    return SimpleNamespace(
        model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace()
    )


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    package = SimpleNamespace(CommonParams=params, Server=StandIn)
    monkeypatch.setitem(sys.modules, "xllamacpp", package)
    file = tmp_path / "tiny.gguf"
    file.write_bytes(FILE)
    return str(file)


EVALSET = EvalSet([Item("1", outputs={"A": "one", "B": "two"}), Item("2", outputs={"A": "long"})])


def test_a_local_model_is_a_judge_with_its_digest(model: str) -> None:
    result = wellput.judge(EVALSET, model=model, question="quality", threads=1)
    assert isinstance(result, JudgeResult)
    values = [one.value for one in result if isinstance(one, Judgment)]
    assert values == [pytest.approx(4.0)] * 2  # half 5, half 3
    assert result.unanswered == {"rejected": 1}
    assert result.judge == "model:tiny"
    assert result.digest == hashlib.sha256(FILE).hexdigest()
    assert f"digest:{result.digest[:12]}|" in result.signature


def test_every_request_begins_after_the_same_instructions(model: str) -> None:
    wellput.judge(EVALSET, model=model, question="quality,fluency", threads=1)
    requests = StandIn.last.requests
    short, real = requests[::2], requests[1::2]
    assert len(real) == 6
    assert all(one["messages"][1]["content"] == "." for one in short)
    assert [a["messages"][0] for a in short] == [b["messages"][0] for b in real]
    # What llama.cpp has kept is used only where the instructions are the same as before.
    assert [one["cache_prompt"] for one in short] == [False, *[True] * 5]


def test_the_port_of_llama_cpp_is_shut_and_nothing_is_downloaded(model: str) -> None:
    wellput.judge(EVALSET, model=model, question="quality", threads=3)
    given = StandIn.last.params
    assert len(given.api_keys[0]) > 20 and given.offline
    assert given.cpuparams.n_threads == 3


def test_without_the_package_the_extra_is_named(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(MissingExtra, match=r"wellput\[local\]"):
        wellput.judge(EVALSET, model=model, question="quality", path=tmp_path / "j.csv")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["tiny.gguf"]  # no log of nothing
