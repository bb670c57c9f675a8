"""Several runs of `judge` at the same moment under one name, against SIMULATED endpoints: runs with the
same settings join their signatures, others are refused."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import wellput
from tests.studies.simulated_endpoint import Faults, SimulatedEndpoint
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment
from wellput.studies.judge_turns import machine_judge
from wellput.studies.machines import signatures, study_judge
from wellput.studies.machines.judge_results import JudgeResult
from wellput.studies.machines.machine_judge import Answered, ask_trials
from wellput.studies.store import Store
from wellput.studies.study_transactions import StudyTransaction

N_TRIALS = 60
EVALSET = EvalSet(
    [Item(f"i{n}", outputs={s: f"text {n} {s}" for s in ("A", "B")}) for n in range(N_TRIALS // 2)]
)
THEIR_SETTINGS = [
    ({"temperature": 1.0}, "temperature:1", "temperature:0"),
    ({"model": "llama", "name": "sim"}, "model:llama", "model:sim"),
]

Judge = Callable[..., JudgeResult]


@pytest.fixture
def low() -> Iterator[SimulatedEndpoint]:
    """An endpoint that always answers 1."""
    with SimulatedEndpoint(quality=lambda _: 0.0) as server:
        yield server


@pytest.fixture
def high() -> Iterator[SimulatedEndpoint]:
    """An endpoint that always answers 7."""
    with SimulatedEndpoint(quality=lambda _: 1.0) as server:
        yield server


@pytest.fixture
def study(url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A study whose trials a machine answers 10 at a time."""
    monkeypatch.setattr(study_judge, "TRIALS_AT_A_TIME", 10)
    wellput.Study.create(
        EVALSET, path=url, design="rating", questions="quality", judges=1, per_item=1
    ).close()
    return url


@pytest.fixture
def judge(study: str, tmp_path: Path) -> Judge:
    """Judges the study. Every run has a log of its own, because a log serves one run at a time."""
    numbers = count(1)

    def run(endpoint: SimulatedEndpoint, **options: Any) -> JudgeResult:
        log = tmp_path / f"log{next(numbers)}.jsonl"
        given = {"model": "sim", "timeout": 5.0, "cache": log, **options}
        result = wellput.judge(study, endpoint=endpoint.url, **given)
        assert isinstance(result, JudgeResult)
        return result

    return run


def stored(study: str) -> tuple[list[float], str]:
    """The answers of model:sim in the study, and their signature."""
    store = Store.open(study)
    answers = [one for one in store.judgments() if one.judge == "model:sim"]
    signature = store.all_demographics()["model:sim"]["signature"]
    store.close()
    return [one.number for one in answers if isinstance(one, Judgment)], signature


def before_batches(
    monkeypatch: pytest.MonkeyPatch, steps: Mapping[int, Callable[[], object]]
) -> None:
    """Takes a step when the run has asked this batch of trials (1, 2, ...) and not stored it. The runs
    that a step begins take no steps."""
    n_asked, is_in_step = 0, False

    def asked(*arguments: Any, **options: Any) -> Answered:
        nonlocal n_asked, is_in_step
        answered = ask_trials(*arguments, **options)
        if not is_in_step:
            n_asked += 1
            if n_asked in steps:
                is_in_step = True
                steps[n_asked]()
                is_in_step = False
        return answered

    monkeypatch.setattr(study_judge, "ask_trials", asked)


@pytest.mark.parametrize(("options", "theirs", "own"), THEIR_SETTINGS)
@pytest.mark.parametrize("is_invited", [False, True])
def test_the_first_answers_decide_how_a_machine_is_asked(
    study: str,
    judge: Judge,
    low: SimulatedEndpoint,
    high: SimulatedEndpoint,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, Any],
    theirs: str,
    own: str,
    is_invited: bool,
) -> None:
    if is_invited:
        with wellput.Study.open(study) as opened:
            opened.invite(machine="sim")
    others: list[JudgeResult] = []
    before_batches(monkeypatch, {1: lambda: others.append(judge(high, **options))})
    message = (
        f"model:sim has answers in this study that were asked for with {theirs}; this run has {own}. "
        "Give this run another name=."
    )
    with pytest.raises(InputError, match=re.escape(message)):
        judge(low)
    assert theirs in others[0].signature.split("|")
    assert stored(study) == ([7.0] * N_TRIALS, others[0].signature)


def test_a_refused_run_stores_nothing_and_keeps_its_log(
    study: str,
    judge: Judge,
    low: SimulatedEndpoint,
    high: SimulatedEndpoint,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    log = tmp_path / "refused.jsonl"
    others: list[JudgeResult] = []
    step = {1: lambda: others.append(judge(high, temperature=1.0, max_cost=4000))}
    before_batches(monkeypatch, step)
    with pytest.raises(InputError, match="temperature:1; this run has temperature:0"):
        judge(low, cache=log)
    n = others[0].answered
    assert 0 < n < N_TRIALS and stored(study) == ([7.0] * n, others[0].signature)
    # The other run gets the trials that the refused one was given.
    whole = judge(high, temperature=1.0)
    assert stored(study) == ([7.0] * N_TRIALS, whole.signature)
    assert low.n_requests == 10
    assert judge(low, cache=log, name="other").known == 10 and low.n_requests == N_TRIALS


def test_a_run_without_an_answer_to_store_is_refused_too(
    study: str, judge: Judge, high: SimulatedEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    before_batches(monkeypatch, {1: lambda: judge(high, temperature=1.0)})
    with (
        SimulatedEndpoint(faults=Faults(refusals=1.0)) as refusing,
        pytest.raises(InputError, match="temperature:1; this run has temperature:0"),
    ):
        judge(refusing)
    assert refusing.n_requests == 10


def test_digests_and_versions_are_joined_with_what_is_stored_now(
    study: str, judge: Judge, low: SimulatedEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    low.fingerprint = "fp_a"
    joined: list[JudgeResult] = []

    def judge_a_part() -> None:
        low.fingerprint = "fp_b"
        with monkeypatch.context() as newer:
            newer.setattr(signatures, "__version__", "99.0.0")
            joined.append(judge(low, max_cost=4000))
        low.fingerprint = "fp_a"

    # Once while the run has stored nothing, and once while it has.
    for batch, digest in ((1, "fp_b"), (2, "fp_a+fp_b")):
        before_batches(monkeypatch, {batch: judge_a_part})
        if batch == 2:
            with wellput.Study.open(study) as opened:
                opened.forget("model:sim")
        result = judge(low)
        assert 0 < joined[-1].answered < N_TRIALS and joined[-1].digest == digest
        assert result.digest == "fp_a+fp_b"
        versions = f"wellput-{wellput.__version__}+wellput-99.0.0"
        assert result.signature.endswith(f"|version:{versions}")
        assert stored(study) == ([1.0] * N_TRIALS, result.signature)


def test_a_run_counts_its_own_digests_once_where_no_other_run_adds_any(
    judge: Judge, low: SimulatedEndpoint
) -> None:
    low.fingerprint = iter([f"fp_{n}" for n in range(100, 200)])
    assert judge(low).digest == f"fp_100+fp_101+fp_102+{N_TRIALS - 3} more"


def test_a_run_describes_the_machine_in_the_transaction_that_finds_no_answers(
    study: str,
    judge: Judge,
    low: SimulatedEndpoint,
    high: SimulatedEndpoint,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    writing = Store.writing
    others: list[JudgeResult] = []

    @contextmanager
    def then_the_other(store: Store) -> Iterator[StudyTransaction]:
        with writing(store) as transaction:
            yield transaction
        monkeypatch.setattr(Store, "writing", writing)
        others.append(judge(high, temperature=1.0))

    # The other run does all its work right after the first transaction of this run.
    monkeypatch.setattr(Store, "writing", then_the_other)
    with pytest.raises(InputError) as refused:
        judge(low)
    assert_one_of_two_was_refused(study, refused.value, *others)


def assert_one_of_two_was_refused(study: str, *outcomes: JudgeResult | InputError) -> None:
    results = [one for one in outcomes if isinstance(one, JudgeResult)]
    errors = [one for one in outcomes if not isinstance(one, JudgeResult)]
    assert len(results) == len(errors) == 1
    assert "asked for with temperature:" in str(errors[0])
    is_high = "temperature:1" in results[0].signature.split("|")
    assert stored(study) == ([7.0 if is_high else 1.0] * N_TRIALS, results[0].signature)


def test_of_two_runs_at_the_same_moment_one_is_refused(
    study: str, judge: Judge, low: SimulatedEndpoint, high: SimulatedEndpoint
) -> None:
    both_are_here = threading.Barrier(2)

    def run(endpoint: SimulatedEndpoint, temperature: float) -> JudgeResult | InputError:
        both_are_here.wait()
        try:
            return judge(endpoint, temperature=temperature)
        except InputError as error:
            return error

    with ThreadPoolExecutor(2) as threads:
        outcomes = [threads.submit(run, low, 0.0), threads.submit(run, high, 1.0)]
    assert_one_of_two_was_refused(study, *(one.result() for one in outcomes))


def test_a_machine_that_several_runs_need_is_invited_once(study: str) -> None:
    n_runs = 6
    all_are_here = threading.Barrier(n_runs)

    def invited(_: int) -> int:
        store = Store.open(study)
        all_are_here.wait()
        with store.writing() as transaction:
            id = machine_judge(transaction, "model:sim", store.clock()).id
        store.close()
        return id

    with ThreadPoolExecutor(n_runs) as threads:
        assert set(threads.map(invited, range(n_runs))) == {1}


def test_a_machine_that_is_erased_while_it_answers_stays_erased(
    study: str, judge: Judge, low: SimulatedEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forget() -> None:
        with wellput.Study.open(study) as opened:
            opened.forget("model:sim")

    before_batches(monkeypatch, {2: forget})
    with pytest.raises(InputError, match="model:sim was erased from this study while it answered"):
        judge(low)
    with wellput.Study.open(study) as opened:
        assert opened.judgments() == []
        assert [one.name for one in opened.status().judges if one.name == "model:sim"] == []


@pytest.mark.parametrize("can_change", [False, True])
def test_two_runs_with_the_same_settings_answer_the_same_trials(
    study: str,
    judge: Judge,
    low: SimulatedEndpoint,
    high: SimulatedEndpoint,
    monkeypatch: pytest.MonkeyPatch,
    can_change: bool,
) -> None:
    store = Store.open(study)
    monkeypatch.setattr(type(store.setup.design), "can_undo", can_change)
    store.close()
    low.fingerprint, high.fingerprint = "fp_low", "fp_high"
    # The other run answers all trials, also the ten that this run was given.
    before_batches(monkeypatch, {1: lambda: judge(high)})
    result = judge(low)
    answers, signature = stored(study)
    assert sorted(answers) == [1.0] * (10 * can_change) + [7.0] * (N_TRIALS - 10 * can_change)
    assert result.digest == ("fp_high+fp_low" if can_change else "fp_high")
    assert signature == result.signature
