"""Requests that a SIMULATED endpoint rejects: they do not end a run of a model that has answered
before, and come last the next time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import wellput
from tests.studies.simulated_endpoint import SimulatedEndpoint
from wellput.core.errors import WellputError
from wellput.core.evalset import EvalSet, Item
from wellput.studies.machines.judge_results import JudgeResult

REJECTS_EVERY_REQUEST = r"^The model rejects every request: status 400: this text is too long\.$"


def all_texts(n: int) -> set[str]:
    return {f"text number {k}" for k in range(n)}


def items(n: int) -> EvalSet:
    return EvalSet([Item(f"i{k}", outputs={"A": f"text number {k}"}) for k in range(n)])


def created(file: Path, n: int) -> str:
    options: dict[str, Any] = {"design": "rating", "questions": "quality", "judges": 1}
    with wellput.Study.create(items(n), path=str(file), per_item=1, **options):
        return str(file)


def judged(source: str | EvalSet, endpoint: SimulatedEndpoint, **options: Any) -> JudgeResult:
    # With one request at a time, requests come in the order of asking.
    options = {"model": "sim", "timeout": 5.0, "parallel": 1, **options}
    result = wellput.judge(source, endpoint=endpoint.url, **options)
    assert isinstance(result, JudgeResult)
    return result


class Texts:
    """Notes the texts that an endpoint is asked about, and says which of them it rejects."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.rejected: set[str] = set()

    def __call__(self, text: str) -> bool:
        self.asked.append(text)
        return text in self.rejected

    def take(self) -> list[str]:
        """The texts since the last call."""
        asked, self.asked = self.asked, []
        return asked


@pytest.fixture
def texts() -> Texts:
    return Texts()


def test_trials_that_were_rejected_do_not_end_the_next_run(tmp_path: Path, texts: Texts) -> None:
    file = created(tmp_path / "s.db", 100)
    texts.rejected = all_texts(50)
    with SimulatedEndpoint(rejects=texts) as endpoint:
        part = judged(file, endpoint, max_cost=5000)
        first = texts.take()
        n_rejected = part.unanswered["rejected"]
        assert n_rejected >= 5 and part.answered >= 5 and len(first) < 64
        # Another log, as without a log in PostgreSQL: it does not say what was asked before.
        again = judged(file, endpoint, cache=tmp_path / "other.jsonl")
        second = texts.take()
        assert part.answered + again.answered == 50 and again.unanswered == {"rejected": 50}
        # What was never asked comes first.
        assert set(second[-n_rejected:]) == set(first) & texts.rejected
        texts.rejected.clear()
        assert judged(file, endpoint, cache=tmp_path / "other.jsonl").answered == 50


def test_batches_of_rejected_trials_do_not_end_a_run(tmp_path: Path, texts: Texts) -> None:
    file = created(tmp_path / "s.db", 200)
    with SimulatedEndpoint(rejects=texts) as endpoint:
        answered = judged(file, endpoint, max_cost=5000).answered
        texts.rejected = all_texts(200) - set(texts.take())
        rejected = judged(file, endpoint, cache=tmp_path / "other.jsonl")
    # The study has answers, the log has none.
    assert 0 < answered < 64 and rejected.answered == 0
    assert rejected.unanswered == {"rejected": 200 - answered}


@pytest.mark.parametrize(("n", "with_log"), [(20, True), (200, True), (200, False)])
def test_a_model_that_never_answered_is_asked_about_other_trials(
    tmp_path: Path, texts: Texts, n: int, with_log: bool
) -> None:
    file = created(tmp_path / "s.db", n)
    texts.rejected = all_texts(n)
    asked: set[str] = set()
    with SimulatedEndpoint(rejects=texts) as endpoint:
        for run in range(3):
            log = tmp_path / f"{0 if with_log else run}.jsonl"
            if run < 2:
                with pytest.raises(WellputError, match=REJECTS_EVERY_REQUEST):
                    judged(file, endpoint, cache=log)
                assert len(texts.asked) == 5 and asked.isdisjoint(texts.asked)
            else:
                result = judged(file, endpoint, cache=log)
            asked |= set(texts.take())
            if run == 1:
                texts.rejected = set(asked)
    assert result.answered == n - 10 and result.unanswered == {"rejected": 10}


def test_requests_that_were_rejected_come_last(tmp_path: Path, texts: Texts) -> None:
    options = {"question": "quality", "path": tmp_path / "j.csv"}
    texts.rejected = {f"text number {k}" for k in range(5)}
    with SimulatedEndpoint(rejects=texts) as endpoint:
        with pytest.raises(WellputError, match=REJECTS_EVERY_REQUEST):
            judged(items(20), endpoint, **options)
        assert set(texts.take()) == texts.rejected
        result = judged(items(20), endpoint, **options)
        assert set(texts.take()[-5:]) == texts.rejected
    assert result.answered == 15 and result.unanswered == {"rejected": 5}


def test_answers_of_another_model_in_the_log_do_not_count(tmp_path: Path, texts: Texts) -> None:
    """A mistyped model= is noticed after a few requests, also beside a log of a good one."""
    options = {"question": "quality", "path": tmp_path / "j.csv", "cache": tmp_path / "log.jsonl"}
    with SimulatedEndpoint(rejects=texts) as endpoint:
        assert judged(items(20), endpoint, **options).answered == 20
        texts.take()
        texts.rejected = {f"text number {k}" for k in range(20)}
        with pytest.raises(WellputError, match=REJECTS_EVERY_REQUEST):
            judged(items(20), endpoint, **options, model="typo")
    assert len(texts.asked) == 5
