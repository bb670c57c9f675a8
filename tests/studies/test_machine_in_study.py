"""A machine as a judge of a study, against a SIMULATED endpoint: it sees what people see, and takes
none of their trials."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

import wellput
from tests.studies.served_study import client_of
from tests.studies.simulated_endpoint import Faults, Planted, SimulatedEndpoint
from wellput import __version__ as version
from wellput.cli import cli
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Preference
from wellput.studies.judge_turns import JudgeRef, machine_judge
from wellput.studies.machine_queue import MachineQueue
from wellput.studies.machines import signatures, study_judge
from wellput.studies.machines.judge_results import JudgeResult
from wellput.studies.queries import give_assignment
from wellput.studies.store import Store, UnknownTrial
from wellput.studies.study_transactions import StudyTransaction

EVALSET = EvalSet(
    [
        Item(
            f"item-{n}", outputs={s: f"text {n} {w}" for s, w in {"sysA": "x", "sysB": "y"}.items()}
        )
        for n in range(30)
    ]
)


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(tmp_path / "study.db")


def created(file: str, **options: Any) -> None:
    given = {"design": "rating", "judges": 2, "per_item": 2, **options}
    with wellput.Study.create(EVALSET, path=file, **given) as study:
        study.invite(names="Ann,Bob")


def judged(file: str, endpoint: SimulatedEndpoint, **options: Any) -> JudgeResult:
    result = wellput.judge(file, model="sim", endpoint=endpoint.url, timeout=5.0, **options)
    assert isinstance(result, JudgeResult)
    return result


@pytest.fixture
def endpoint() -> Iterator[SimulatedEndpoint]:
    with SimulatedEndpoint() as server:
        yield server


def answers_of(file: str) -> Counter[str]:
    with wellput.Study.open(file) as study:
        return Counter(one.judge for one in study.judgments())


def test_a_machine_answers_every_trial_and_none_of_peoples(
    file: str, endpoint: SimulatedEndpoint
) -> None:
    created(file, consent=True, practice=True, checks=1)
    result = judged(file, endpoint)
    assert (result.judge, result.answered) == ("model:sim", 120)  # 60 trials, 2 questions
    assert result.scores_from == {"text": 120}
    assert answers_of(file) == {"model:sim": 120}
    with wellput.Study.open(file) as study:
        status = study.status()
    assert (status.done, status.planned, status.unreachable) == (0, 120, 0)
    machine = next(judge for judge in status.judges if judge.name == "model:sim")
    assert (machine.state, machine.done, machine.total) == ("done", 60, 60)
    assert not machine.flags  # quick, but not hasty
    # People still have all their trials, with two of practice and a check.
    store = Store.open(file)
    assert {store.progress(store_judge(store, n)).total for n in (1, 2)} == {60 + 2 + 1}
    store.close()


def machine_of(store: Store, name: str) -> JudgeRef:
    with store.writing() as transaction:
        return machine_judge(transaction, name, store.clock())


def store_judge(store: Store, number: int) -> Any:
    """The judge with this number, as if they had come with their token."""
    return JudgeRef(number, "", has_consented=True, has_demographics=True, has_started=True)


def test_people_are_not_late_because_a_machine_is_quick(
    file: str, endpoint: SimulatedEndpoint
) -> None:
    created(file, questions="quality")
    store = Store.open(file)
    ann, bob = store_judge(store, 1), store_judge(store, 2)
    held = store.next_trial(ann)
    assert held is not None
    judged(file, endpoint)
    given = set()
    while (trial := store.next_trial(bob)) is not None:
        store.record(bob, trial.id, {"quality": 4}, ms=1500)
        given.add(trial.id)
    # Bob gets his own share of 60, and not the trial that Ann still holds.
    assert len(given) == 60
    assert store.next_trial(ann) == held
    store.close()


def test_a_machine_sees_no_names(file: str, endpoint: SimulatedEndpoint) -> None:
    created(file)
    judged(file, endpoint)
    words = str(endpoint.last_request["messages"])
    assert "text" in words and not any(name in words for name in ("sysA", "sysB", "item-"))


def test_pairs_are_shown_in_both_orders_and_stored_as_shown(file: str) -> None:
    created(file, design="pairwise")
    with SimulatedEndpoint(quality=lambda _: 0.5, planted=Planted(position=2.0)) as endpoint:
        judged(file, endpoint)
    with wellput.Study.open(file) as study:
        choices = [one for one in study.judgments() if isinstance(one, Preference)]
    assert {one.choice for one in choices} == {"a"} and len(choices) == 30
    n_first = Counter(one.system_a for one in choices)
    assert min(n_first["sysA"], n_first["sysB"]) >= 5


def test_a_page_is_answered_variant_by_variant(file: str) -> None:
    created(file, layout="page", questions="quality")
    with SimulatedEndpoint(quality=lambda text: 1.0 if text.endswith("x") else 0.0) as endpoint:
        judged(file, endpoint)
    with wellput.Study.open(file) as study:
        values = {(one.system, one.value) for one in study.judgments()}  # type: ignore[union-attr]
    assert values == {("sysA", 7.0), ("sysB", 1.0)}


def test_it_goes_on_where_it_was_stopped(file: str, endpoint: SimulatedEndpoint) -> None:
    created(file, questions="quality")
    part = judged(file, endpoint, max_cost=4000)
    n = answers_of(file)["model:sim"]
    assert 0 < n < 60 and part.left_out
    judged(file, endpoint)
    assert answers_of(file)["model:sim"] == 60
    assert endpoint.n_requests == 60
    judged(file, endpoint)
    assert endpoint.n_requests == 60


def test_trials_without_an_answer_stay_open(file: str) -> None:
    created(file, questions="quality")
    with SimulatedEndpoint(faults=Faults(refusals=0.3), seed=2) as endpoint:
        result = judged(file, endpoint)
    n = result.unanswered["refusal"]
    assert n > 5 and answers_of(file)["model:sim"] == 60 - n


def test_a_machine_can_be_invited_before_and_says_who_it_is(
    file: str, endpoint: SimulatedEndpoint, tmp_path: Path
) -> None:
    created(file, questions="quality")
    with wellput.Study.open(file) as study:
        assert [one.judge for one in study.invite(machine="sim,other")] == [
            "model:sim",
            "model:other",
        ]
        with pytest.raises(InputError, match="invite them by another call"):
            study.invite(machine="third", judges=2)
    result = judged(file, endpoint)
    with wellput.Study.open(file) as study:
        done = study.export(tmp_path / "j.csv")
    assert done.answers == 60 and done.design is not None
    assert f'"signature": "{result.signature}"' in Path(done.design).read_text("utf-8")


def described(file: str, name: str = "model:sim") -> str:
    """The signature that the study has of a machine."""
    store = Store.open(file)
    signature = store.all_demographics()[name]["signature"]
    store.close()
    return signature


def test_a_run_that_asks_nothing_leaves_the_description_as_it_is(
    file: str, endpoint: SimulatedEndpoint
) -> None:
    created(file, questions="quality")
    first = judged(file, endpoint)
    assert "|digest:fp_simulated|" in first.signature
    again = judged(file, endpoint)
    assert again.requests == 0
    assert (again.signature, again.digest) == (first.signature, "fp_simulated")
    wellput.judge(file, model="sim", endpoint="http://127.0.0.1:9/v1", retries=0)
    assert described(file) == first.signature


def test_another_way_of_asking_needs_another_name(file: str, endpoint: SimulatedEndpoint) -> None:
    created(file, questions="quality")
    first = judged(file, endpoint, max_cost=4000)
    assert 0 < first.answered < 60
    n = endpoint.n_requests
    message = (
        "model:sim has answers in this study that were asked for with temperature:0 and scores:auto; "
        "this run has temperature:0.5 and scores:text. Give this run another name=."
    )
    with pytest.raises(InputError, match=re.escape(message)):
        judged(file, endpoint, temperature=0.5, scores="text")
    options = ["--model", "other", "--endpoint", endpoint.url]
    done = CliRunner().invoke(cli, ["judge", file, *options, "--name", "sim"])
    assert done.exit_code != 0
    assert "with model:sim; this run has model:other" in str(done.exception)
    assert endpoint.n_requests == n and described(file) == first.signature
    assert answers_of(file)["model:sim"] == first.answered
    done = CliRunner().invoke(cli, ["judge", file, *options, "--name", "two"])
    assert done.exit_code == 0 and answers_of(file)["model:two"] == 60
    assert described(file, "model:two").startswith("model:other|digest:fp_simulated|")


def test_a_run_without_answers_does_not_bind_later_runs(
    file: str, endpoint: SimulatedEndpoint
) -> None:
    created(file, questions="quality")
    with pytest.raises(InputError, match="gives no answer"):
        wellput.judge(
            file, model="old", name="sim", endpoint="http://127.0.0.1:9/v1", retries=0, parallel=60
        )
    assert described(file).startswith("model:old|digest:unknown|")
    judged(file, endpoint)
    assert described(file).startswith("model:sim|digest:fp_simulated|")


def test_an_endpoint_that_was_updated_adds_its_digest(
    file: str, endpoint: SimulatedEndpoint
) -> None:
    created(file, questions="quality")
    judged(file, endpoint, max_cost=4000)
    for fingerprint, limit, digest in (
        ("fp_new", 8000, "fp_new+fp_simulated"),
        ("", None, "fp_new+fp_simulated"),  # this one does not say its version
    ):
        endpoint.fingerprint = fingerprint
        n = answers_of(file)["model:sim"]
        result = judged(file, endpoint, max_cost=limit)
        assert answers_of(file)["model:sim"] > n
        assert result.digest == digest and f"|digest:{digest}|" in result.signature
        assert described(file) == result.signature


def test_another_version_of_wellput_is_no_other_way_of_asking(
    file: str, endpoint: SimulatedEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    created(file, questions="quality")
    part = judged(file, endpoint, max_cost=4000)
    assert 0 < part.answered < 60 and part.signature.endswith(f"|version:wellput-{version}")
    monkeypatch.setattr(signatures, "__version__", "7.8.9")  # as after an update
    for _ in range(2):
        result = judged(file, endpoint)
        assert answers_of(file)["model:sim"] == 60
        assert result.signature == f"{part.signature}+wellput-7.8.9"


def test_of_many_digests_a_study_names_a_few(
    file: str, endpoint: SimulatedEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study_judge, "TRIALS_AT_A_TIME", 10)
    created(file, questions="quality")
    digests = [f"fp_{n}" for n in range(100, 300)]
    endpoint.fingerprint = iter(digests)
    part = judged(file, endpoint, max_cost=6000)
    n = part.requests
    assert 20 < n < 60 and answers_of(file)["model:sim"] == n
    assert part.digest == f"fp_100+fp_101+fp_102+{n - 3} more"
    # The study has no more than these names, so the others may be the same as before.
    endpoint.fingerprint = iter(digests[50:])
    whole = judged(file, endpoint)
    assert answers_of(file)["model:sim"] == 60
    assert whole.digest == f"fp_100+fp_101+fp_102+at least {n - 3} more"
    assert judged(file, endpoint).signature == whole.signature == described(file)


def test_a_machine_can_go_on_where_the_endpoint_does_not_know_a_parameter(file: str) -> None:
    created(file, questions="quality")
    with SimulatedEndpoint(unknown_parameters=("temperature", "logprobs")) as endpoint:
        part = judged(file, endpoint, max_cost=4000)
        whole = judged(file, endpoint)
        assert "|temperature:default|scores:text|" in whole.signature == part.signature
        assert judged(file, endpoint).signature == whole.signature


def test_an_answer_that_is_not_stored_does_not_change_the_description(file: str) -> None:
    created(file, questions="quality")
    with SimulatedEndpoint(faults=Faults(refusals=0.3), seed=2) as endpoint:
        first = judged(file, endpoint)
        n = answers_of(file)["model:sim"]
        assert n < 60
        # The trials that stayed open are asked again by another log, and refused again.
        endpoint.faults = Faults(refusals=1.0)
        endpoint.unknown_parameters = ("temperature",)
        endpoint.fingerprint = "fp_new"
        again = judged(file, endpoint, cache=f"{file}.log")
    assert again.requests == 60 - n and answers_of(file)["model:sim"] == n
    assert again.signature == first.signature == described(file)


def test_a_study_has_its_own_questions(file: str, endpoint: SimulatedEndpoint) -> None:
    created(file)
    for options, message in (
        ({"question": "quality"}, "leave out question="),
        ({"swap": True}, "leave out swap="),
        ({"path": "x.csv"}, "study export"),
    ):
        with pytest.raises(InputError, match=message):
            judged(file, endpoint, **options)
    assert endpoint.n_requests == 0


@pytest.fixture
def n_rows_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts in its only entry the values that are read from columns of JSON."""
    n_read, processor = [0], sa.JSON.result_processor

    def counting(self: sa.JSON, *about: Any) -> Any:
        read = processor(self, *about)
        assert read is not None

        def count(value: Any) -> Any:
            n_read[0] += 1
            return read(value)

        return count

    monkeypatch.setattr(sa.JSON, "result_processor", counting)
    return n_read


def test_an_answer_of_a_machine_costs_the_same_however_many_it_gave_before(
    file: str, n_rows_read: list[int]
) -> None:
    created(file, questions="quality")
    store = Store.open(file)
    (invitation,) = store.invite(1, ["model:sim"])
    client, api = client_of(store), f"/api/judge/{invitation.token}"
    costs = []
    while (trial := client.get(f"{api}/next").json()["trial"]) is not None:
        body = {"trial": trial["id"], "answers": {"quality": 4}, "ms": 1}
        assert client.post(f"{api}/answers", json=body).status_code == 201
        costs.append(n_rows_read[0])
        n_rows_read[0] = 0
    assert len(costs) == 60
    assert max(costs[10:]) <= max(costs[1:10])
    assert store.progress(machine_of(store, "model:sim")).done == 60

    machine = machine_of(store, "model:other")
    costs = []
    while shown := store.next_trials(machine, 6):
        for each in shown:
            store.record(machine, each.id, {"quality": 4}, ms=1)
        costs.append(n_rows_read[0])
        n_rows_read[0] = 0
    assert len(costs) == 10
    assert max(costs[2:]) <= costs[1]
    store.close()


def test_a_machine_leaves_trials_open_and_gets_others(file: str) -> None:
    created(file, questions="quality")
    store = Store.open(file)
    machine = machine_of(store, "model:sim")
    first = store.next_trials(machine, 5)
    assert not store.next_trials(machine, 0)
    # Those it was never given come first, then the latest of those it has left open.
    others = store.next_trials(machine, 57)
    assert len({each.id for each in first + others[:55]}) == 60
    assert others[55:] == first[4:2:-1]
    assert store.next_trials(machine, 100, skip=55) == first[::-1]
    assert store.next_trials(machine, 2, skip=57) == first[2:0:-1]
    store.close()


def test_a_machine_gets_the_trials_of_a_transaction_that_was_undone(file: str) -> None:
    created(file, questions="quality")
    store = Store.open(file)
    machine = machine_of(store, "model:sim")

    def give_and_fail() -> None:
        with store.database.write() as connection:
            transaction = StudyTransaction(connection, 60)
            for _ in range(20):
                queue = MachineQueue(store.setup, transaction, machine.id)
                for given in queue.new_trials(1):
                    give_assignment(transaction, queue, given, 1.0)
            raise LookupError

    with pytest.raises(LookupError):
        give_and_fail()
    assert len(store.next_trials(machine, 100)) == 60
    store.close()


def test_a_machine_can_look_at_a_trial_again(file: str) -> None:
    created(file, questions="quality")
    store = Store.open(file)
    machine = machine_of(store, "model:sim")
    first = store.next_trial(machine)
    assert first is not None
    store.record(machine, first.id, {"quality": 4}, ms=1)
    assert store.undo(machine) is not None
    again = store.next_trial(machine)
    assert again is not None and again.id == first.id
    assert store.progress(machine).done == 0
    with pytest.raises(UnknownTrial):
        store.record(machine, "\0", {"quality": 4}, ms=1)
    store.close()
