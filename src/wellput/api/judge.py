"""`judge`: lets a language model answer the questions that people answer in a study."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wellput.api.inputs import Columns, Items, check_files, paths_in
from wellput.api.study_creation import read_items, store_class
from wellput.core.errors import InputError
from wellput.core.judgment import MACHINE_PREFIX
from wellput.core.options import checks_options
from wellput.core.work import OnPhase, ignore_phase
from wellput.io import check_table
from wellput.io.files import PathLike
from wellput.io.judgments import SQLITE_MAGIC
from wellput.io.output import path_beside
from wellput.studies.machines.asking import ChatModel
from wellput.studies.machines.budget import Budget, Price
from wellput.studies.machines.endpoint import Endpoint
from wellput.studies.machines.error_spans import SPANS_TOKENS, SpansDesign
from wellput.studies.machines.injection import injected_trials, injection_effect
from wellput.studies.machines.judge_results import JudgePlan, JudgeResult
from wellput.studies.machines.judge_run import (
    JudgeRun,
    PlannedModel,
    StoredJudgments,
    files_beside,
    opened_log,
)
from wellput.studies.machines.local_model import LocalModel, import_llama_cpp
from wellput.studies.machines.machine_judge import AskingOptions, ScoresOption, ask_trials
from wellput.studies.machines.rubrics import RubricSource, machine_trials, make_rubric
from wellput.studies.machines.signatures import signature_of
from wellput.studies.wording import DEFAULT_UNIT

if TYPE_CHECKING:
    from wellput.studies.designs.base import Design

LOCAL_SUFFIX = ".gguf"
ANSWER_TOKENS = 16
"""The largest number of tokens of an answer by default."""


@checks_options
def judge(
    evalset: Items,
    *,
    column: Columns = (),
    model: str | None = None,
    question: RubricSource = (),
    endpoint: str | None = None,
    design: str | Design | None = None,
    points: int | None = None,
    ties: bool = False,
    show_source: bool = False,
    show_reference: bool = False,
    unit: str = DEFAULT_UNIT,
    repeats: int = 1,
    swap: bool = False,
    scores: ScoresOption = "auto",
    temperature: float = 0.0,
    max_tokens: int | None = None,
    injection: int = 0,
    max_cost: float | None = None,
    price: str | None = None,
    parallel: int = 8,
    timeout: float = 60.0,
    retries: int = 8,
    name: str | None = None,
    cache: PathLike | None = None,
    dry_run: bool = False,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> JudgeResult | JudgePlan:
    """Lets a language model answer the questions that people answer in a study, on the same scales.

    Parameters
    ----------
    evalset
        The outputs to judge: an evalset in memory, or the path of a file. Or the path of a study: the
        model then answers the trials of the study, as people do, and its answers are stored there.
    column
        Names the columns of the evalset's file, as for `score`.
    model
        The path of a GGUF file, which llama.cpp runs on this machine (the extra `local`); or the name
        of a model at the `endpoint`. It may be left out in a dry run only.
    question
        Names of questions (`"quality"`, `"fluency,adequacy"`), or a TOML file with wording, labels and
        instructions, as for `Study.create(settings=…)`; or a dictionary with its contents. A study has
        its own questions.
    endpoint
        The address of a server that speaks the OpenAI protocol, such as `"https://api.openai.com/v1"`
        or `"http://127.0.0.1:8080/v1"`. The key is read from the environment variable WELLPUT_API_KEY,
        for api.openai.com also from OPENAI_API_KEY. Without an endpoint nothing leaves the machine.
    design
        `"rating"` (the default), `"slider"`, `"magnitude"`, `"pairwise"`, or `"spans"`: errors, each
        with its place in the output.
    points, ties
        Options of the designs rating and pairwise.
    show_source, show_reference
        Also shows the model the item's source, or its references.
    unit
        What the outputs are called in wellput's own wording: `"text"`, `"answer"`, `"summary"`,
        `"sentence"`. If you give another wording, it is not changed.
    repeats
        How often every question is asked.
    swap
        Shows each pair in both orders. Without it, half of the pairs are shown in each order.
    scores
        `"auto"`: the expected value of the answer, computed from the probabilities of tokens; if the
        model does not give these, the answer as written. `"text"`: always the answer as written.
    temperature, max_tokens
        The temperature of the model, and the largest number of tokens of an answer (default: 16, for
        spans 512).
    injection
        Judges this many outputs again after an instruction to the judge was added to them, and
        measures how much better they are judged then.
    max_cost
        The limit of costs: money if there is a `price`, else tokens. It is never exceeded, and it
        limits the sum of all runs with the same `cache`.
    price
        `"2.5,10"`: the price of a million tokens read, and of a million written.
    parallel, timeout, retries
        Requests at a time, seconds to wait for an answer, and tries after a failure.
    name
        The judge is named `model:NAME`. Default: the name of the model, or of its file.
    cache
        The file of the log of answers. A question with an answer in the log is not asked again, so that
        the same call resumes a run that was stopped.
        Default: in the folder of `path`, such as `judgments.answers.jsonl` for `judgments.csv`.
    dry_run
        Asks nothing; the result has the first prompt and the estimated cost.
    path
        Writes the judgments to this file (CSV, TSV, JSONL or Parquet), and two more files:
        `judgments.judge.json` says how they were made, `judgments.unanswered.csv` has the trials
        without an answer.
    seed
        Seed of the order of pairs, and of the model if it takes one.
    threads
        Threads of a local model.
    on_phase
        As for `score`.

    Returns
    -------
    JudgeResult
        `judgments`, `signature`, and the outcome of the requests; or a `JudgePlan` for a dry run. A
        result can be given to `wellput.rank` and `wellput.agree` as judgments.

    Raises
    ------
    InputError
        The model cannot be asked, or the evalset has nothing to judge.
    """
    max_answer_tokens = ANSWER_TOKENS if max_tokens is None else max_tokens
    _check_numbers(repeats, parallel, retries, max_answer_tokens, injection, timeout, temperature)
    chat: ChatModel
    if dry_run and not can_be_asked(model, endpoint):
        chat = PlannedModel(model, endpoint)
    else:
        chat = chat_model(model, endpoint, timeout=timeout, threads=threads)
    options = AskingOptions(temperature, max_answer_tokens, scores, parallel, retries, seed)
    if isinstance(chat, LocalModel):
        if not dry_run:
            import_llama_cpp()  # if it is missing, fail before a large file is hashed
        options = replace(options, parallel=1, retries=0)
    budget = Budget(max_cost, None if price is None else Price.of(price))
    judge_name = MACHINE_PREFIX + (name or chat.model)
    if is_study(evalset):
        refuse_with_study(
            question=question, design=design, points=points, ties=ties, show_source=show_source,
            show_reference=show_reference, unit=unit != DEFAULT_UNIT, repeats=repeats > 1, swap=swap,
            injection=injection, dry_run=dry_run, path=path, column=column,
        )  # fmt: skip
        return _judge_study(str(evalset), chat, options, budget, judge_name, cache, on_phase)
    log_file = log_path(cache, path)
    check_files(
        [path, log_file, *files_beside(path).values()],
        [evalset, *paths_in(model), *paths_in(question)],
    )
    if path is not None:
        check_table(path)
    on_phase("reading items")
    # The questions as the model is asked them, and what it sees besides the outputs.
    rubric = make_rubric(
        question,
        design=design,
        points=points,
        ties=ties,
        show_source=show_source,
        show_reference=show_reference,
        unit=unit,
    )
    if rubric.questionnaire.kind == SpansDesign.name:
        options = replace(options, max_tokens=max_tokens or SPANS_TOKENS, scores="text")
    trials = machine_trials(
        rubric, read_items(evalset, column), repeats=repeats, swap=swap, seed=seed
    )
    run = JudgeRun(chat, rubric, options, budget, judge_name)
    if dry_run:
        return run.plan(trials, log_file)
    with opened_log(log_file, budget) as log:
        progress = on_phase("asking the model", len(trials))
        answered = ask_trials(chat, rubric, trials, log, options, on_progress=progress)
        effect = None
        if injection:
            pairs = injected_trials(trials, injection, seed)
            progress = on_phase("asking with instructions in the text", 2 * len(pairs))
            paired_trials = [trial for pair in pairs for trial in pair]
            injected_answers = ask_trials(
                chat, rubric, paired_trials, log, options, on_progress=progress
            )
            effect = injection_effect(pairs, injected_answers)
    return run.result(answered, effect, path, log_file, on_phase)


def is_study(evalset: Items) -> bool:
    """Whether `evalset` is the path or the URL of the database of a study."""
    if not isinstance(evalset, str | Path):
        return False
    if str(evalset).startswith(("postgresql:", "postgresql+", "postgres:", "sqlite:")):
        return True
    try:
        with Path(evalset).open("rb") as file:
            return file.read(len(SQLITE_MAGIC)) == SQLITE_MAGIC
    except OSError:
        return False


def refuse_with_study(**options: object) -> None:
    """Raises InputError if options are set that the study itself decides."""
    set_options = [name for name, value in options.items() if value]
    if set_options == ["path"]:
        raise InputError(
            "A study keeps its answers: `wellput study export` writes them, not path=."
        )
    if set_options:
        raise InputError(f"A study has its own questions and plan: leave out {set_options[0]}=.")


def _judge_study(
    study: str,
    model: ChatModel,
    options: AskingOptions,
    budget: Budget,
    judge: str,
    cache: PathLike | None,
    on_phase: OnPhase,
) -> JudgeResult:
    """Lets the model answer the trials of a study, and stores the answers there."""
    store = store_class().open(study)
    from wellput.studies.machines.study_judge import answer_study, stored_signature, study_rubric

    try:
        is_path = "://" not in study
        log_file = log_path(cache, study if is_path else None)
        check_files([log_file], store.database.files)
        with opened_log(log_file, budget) as log:
            progress = on_phase("asking the model", len(store.setup.trials))
            answered = answer_study(store, model, judge, log, options, on_progress=progress)
        judgments: list[Any] = [one for one in store.judgments() if one.judge == judge]
        rubric = study_rubric(store)
        signature = stored_signature(store, judge) or signature_of(model, rubric, options)
        stored = StoredJudgments(judgments, signature)
        run = JudgeRun(model, rubric, options, budget, judge)
        return run.result(answered, None, None, log_file, on_phase, stored)
    finally:
        store.close()


def can_be_asked(model: str | None, endpoint: str | None) -> bool:
    """Whether `model` is the name of a model at an endpoint, or the file of a local model."""
    if not model or not model.strip():
        return False
    return endpoint is not None or model.endswith(LOCAL_SUFFIX) or Path(model).is_file()


def chat_model(
    model: str | None, endpoint: str | None, *, timeout: float, threads: int | None
) -> ChatModel:
    """The model at an endpoint, or the local model of a file."""
    if model is None:
        raise InputError(
            "model= is needed: a GGUF file, or the name of a model at endpoint=. Only dry_run=True can "
            "do without."
        )
    if endpoint is not None:
        if not model.strip():
            raise InputError("model= is empty: give the name of a model at the endpoint.")
        return Endpoint(endpoint, model, timeout)
    if model.endswith(LOCAL_SUFFIX) or Path(model).is_file():
        return LocalModel(model, threads=threads)
    raise InputError(
        f"model={model!r} is not a GGUF file of this machine. For a model behind a server, name the "
        "server: endpoint='https://…/v1'. Nothing is sent anywhere without it."
    )


def log_path(cache: PathLike | None, path: PathLike | None) -> Path | None:
    """The file of the log of answers: `cache` or, by default, beside the file of judgments. None if the
    judgments are not written to a file."""
    if cache is not None:
        return Path(cache)
    return None if path is None or str(path) == "-" else path_beside(path, "answers.jsonl")


def _check_numbers(
    repeats: int,
    parallel: int,
    retries: int,
    max_tokens: int,
    injection: int,
    timeout: float,
    temperature: float,
) -> None:
    for name, value, lowest in (
        ("repeats", repeats, 1),
        ("parallel", parallel, 1),
        ("retries", retries, 0),
        ("max_tokens", max_tokens, 1),
        ("injection", injection, 0),
    ):
        if value < lowest:
            raise InputError(f"{name}={value} must be at least {lowest}.")
    if not 0 < timeout < float("inf"):
        raise InputError(f"timeout={timeout:g} must be a number of seconds above 0.")
    if not 0 <= temperature <= 2:
        raise InputError(f"temperature={temperature:g} must be between 0 and 2.")
