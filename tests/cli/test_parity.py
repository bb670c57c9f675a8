"""Every command has a function, and every option a keyword with the same default."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest

import wellput
import wellput.api
from tests.cli.conftest import Run
from tests.cli.test_fluency import corpus as tales
from tests.cli.test_train_fergus import TREES
from tests.language.paraphrase.tiny_wordnet import write_wordnet
from wellput.cli import cli
from wellput.example.harbor import harbor_example, simulated_judgments

NO_FUNCTION = {"completion", "help"}
"""Commands about the shell alone."""

OTHER_NAMES = {"output": "path"}
"""Options whose keyword has another name; `docs/python.md` has the same table."""
NO_KEYWORD = {
    "format",
    "level of score",
    "resample of agree",
    "name of study forget",
    "new_owner_token of study serve",
    "threads of study import",
}
OF_A_STUDY = {
    "study invite",
    "study serve",
    "study status",
    "study export",
    "study backup",
    "study replicate",
    "study datasheet",
    "study forget",
}
"""Methods of the study that the command names first; nothing in them is random or shared by threads."""
NO_KEYWORD |= {
    f"{option} of {name}" for name in OF_A_STUDY for option in ("study", "seed", "threads")
}
PYTHON_ONLY = {"on_phase", "on_ready", "on_segments", "on_step", "keep_rows", "command"}
"""Keywords that a command line has no use for."""

FUNCTIONS = {
    "metrics": "list_metrics",
    "study create": "Study.create",
    "study import": "Study.from_judgments",
    **{name: name.replace("study ", "Study.") for name in OF_A_STUDY},
}
"""Commands whose function has another name than they."""


def commands() -> Iterator[tuple[str, click.Command]]:
    def below(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            if isinstance(command, click.Group):
                yield from below(command, f"{path}{name} ")
            else:
                yield f"{path}{name}", command

    yield from below(cli, "")


def function_of(name: str) -> Callable[..., Any]:
    value: Any = wellput
    for part in FUNCTIONS.get(name, name.replace(" ", ".")).split("."):
        value = getattr(value, part)
    assert callable(value)
    return value  # type: ignore[no-any-return]


WITH_FUNCTION = {name: command for name, command in commands() if name not in NO_FUNCTION}


@pytest.mark.parametrize("name", WITH_FUNCTION)
def test_a_command_has_a_function_with_its_options(name: str) -> None:
    keywords = inspect.signature(function_of(name)).parameters
    options = {
        OTHER_NAMES.get(option.name or "", option.name or ""): option
        for option in WITH_FUNCTION[name].params
        if option.name not in NO_KEYWORD and f"{option.name} of {name}" not in NO_KEYWORD
    }
    assert options.keys() == keywords.keys() - PYTHON_ONLY - {"self"}
    for keyword, option in options.items():
        if isinstance(option, click.Option) and not option.required and keyword != "path":
            assert usual(keywords[keyword].default) == usual(option.get_default(EMPTY)), keyword


EMPTY = click.Context(click.Command("none"))


def usual(default: Any) -> Any:
    """A default in one form: None if nothing is given, lists as the command line writes them."""
    nothing: tuple[Any, ...] = (None, (), [], False, "", inspect.Parameter.empty)
    if default in nothing or str(default) == "Sentinel.UNSET":
        return None
    return ",".join(map(str, default)) if isinstance(default, list | tuple) else default


FEW = "--resamples 50 --threads 1"
SAME_JSON: dict[str, tuple[str, Callable[[], Any]]] = {
    "rerank": (
        "rerank n.jsonl -m ttr",
        lambda: wellput.rerank([["a a", "a b"], ["", ""]], "ttr"),
    ),
    "columns": (
        "columns e.jsonl --column tags=id",
        lambda: wellput.columns("e.jsonl", column=["tags=id"]),
    ),
    "score": (
        "score e.jsonl -m bleu,ssa --all-pairs --confidence 0.9 --margin bleu=5 --margin ssa=0.1 "
        "--generalize items --threads 1",
        lambda: wellput.score(
            "e.jsonl",
            "bleu,ssa",
            all_pairs=True,
            confidence=0.9,
            margin={"bleu": 5, "ssa": 0.1},
            generalize="items",
            threads=1,
        ),
    ),
    "agree": (
        f"agree e.jsonl j.csv -m bleu,ssa --coefficient pearson,kendall {FEW}",
        lambda: wellput.agree(
            "e.jsonl",
            "j.csv",
            "bleu,ssa",
            coefficient=["pearson", "kendall"],
            resamples=50,
            threads=1,
        ),
    ),
    "rank": (
        "rank j.csv --against template --correction none --confidence 0.9 --permutations 20",
        lambda: wellput.rank(
            "j.csv", against="template", correction="none", confidence=0.9, permutations=20
        ),
    ),
    "vet": (
        "vet j.csv --judge ssa --min-items 2 --epsilon 0.2 --confidence 0.9 --evalset e.jsonl",
        lambda: wellput.vet(
            "j.csv", "ssa", min_items=2, epsilon=0.2, confidence=0.9, evalset="e.jsonl"
        ),
    ),
    "probe": (
        "probe -m ssa,chrf e.jsonl --perturbations negation,casing --system careful -n 5 "
        "--confidence 0.9",
        lambda: wellput.probe(
            "ssa,chrf",
            "e.jsonl",
            perturbations=["negation", "casing"],
            system="careful",
            n=5,
            confidence=0.9,
        ),
    ),
    "estimate": (
        "estimate e.jsonl j.csv --proxy ssa --confidence 0.9 --threads 1",
        lambda: wellput.estimate("e.jsonl", "j.csv", "ssa", confidence=0.9, threads=1),
    ),
    "judge": (  # the answers themselves are compared in tests/studies
        "judge e.jsonl --model m --endpoint http://127.0.0.1:9/v1 --question fluency,quality "
        "--points 5 --repeats 2 --price 1,2 --dry-run",
        lambda: wellput.judge(
            "e.jsonl",
            model="m",
            endpoint="http://127.0.0.1:9/v1",
            question=["fluency", "quality"],
            points=5,
            repeats=2,
            price="1,2",
            dry_run=True,
        ),
    ),
    "demo": ("demo --no-report", lambda: wellput.demo(no_report=True)),
    "fit": (
        "fit e.jsonl j.csv --question quality --predictors ssa,length --stepwise aic "
        "--generalize items",
        lambda: wellput.fit(
            "e.jsonl",
            "j.csv",
            question="quality",
            predictors="ssa,length",
            stepwise="aic",
            generalize="items",
        ),
    ),
    "report": (
        f"report e.jsonl j.csv -m ssa -o r.html {FEW}",
        lambda: wellput.report(
            "e.jsonl", "j.csv", metrics="ssa", path="r.html", resamples=50, threads=1
        ),
    ),
    "realize": (
        "realize s.txt --from-text --model fergus --nbest 2 --evaluate",
        lambda: wellput.realize(
            wellput.parse("s.txt").trees, model="fergus", nbest=2, evaluate=True
        ),
    ),
    "degrade": (
        "degrade s.txt --size 2 --length 2 -n 3 --boundary literal",
        lambda: wellput.degrade(
            ["The cat sat on the mat.", "It rained."], size=2, length=2, n=3, boundary="literal"
        ),
    ),
    "parse": (
        "parse s.txt -o t.conllu",
        lambda: wellput.parse(["The cat sat on the mat.", "It rained."]),
    ),
    "power": (
        "power --difference 0.2 --items 50,100 --judges 1,3 --simulations 200",
        lambda: wellput.power(difference=0.2, items=[50, 100], judges=(1, 3), simulations=200),
    ),
    "metrics": ("metrics", lambda: wellput.list_metrics()),
    "paraphrase": (
        "paraphrase e.jsonl --candidates table:t.csv --explain -o p.jsonl",
        lambda: wellput.paraphrase("e.jsonl", candidates="table:t.csv", explain=True),
    ),
    "runs list": (
        "runs list --metric ssa --last 1",
        lambda: wellput.runs.list(metric="ssa", last=1),
    ),
    "runs show": ("runs show @2", lambda: wellput.runs.show("@2")),
    "runs diff": (
        "runs diff @2 @1 --rename hasty=careful",
        lambda: wellput.runs.diff("@2", "@1", rename={"hasty": "careful"}),
    ),
    "displays example": (
        "displays example -n 3 --noise 0.1 -o c.jsonl",
        lambda: wellput.displays.example(n=3, noise=0.1, path="c.jsonl"),
    ),
    "displays convert": (
        "displays convert corpus.jsonl --system original -o c.bml",
        lambda: wellput.displays.convert("corpus.jsonl", system="original", path="c.bml"),
    ),
    "displays select": (
        "displays select corpus.jsonl --strategy rule,weighted --context label,evaluation --folds 3"
        " -o s.jsonl",
        lambda: wellput.displays.select(
            "corpus.jsonl", strategy=["rule", "weighted"], context="label,evaluation", folds=3
        ),
    ),
    "displays evaluate": (
        "displays evaluate all.jsonl -m display-f,display-ttr --confidence --resamples 50",
        lambda: wellput.displays.evaluate(
            "all.jsonl", metrics=["display-f", "display-ttr"], confidence=True, resamples=50
        ),
    ),
    "displays preview": (
        "displays preview all.jsonl --system rule -n 1 -o p.html",
        lambda: wellput.displays.preview("all.jsonl", system="rule", n=1, path="p.html"),
    ),
    "train lm": (
        "train lm corpus.txt --order 2 --tokenize 13a --prune 1e-3 --compact -o m.wlm",
        lambda: wellput.train.lm("corpus.txt", order=2, tokenize="13a", prune=1e-3, compact=True),
    ),
    "train fergus": (
        "train fergus trees.conllu -o m",
        lambda: wellput.train.fergus("trees.conllu"),
    ),
    "convert": ("convert t.mrg -o c.conllu", lambda: wellput.convert(["t.mrg"])),
    "train parser": (
        "train parser trees.conllu --dev trees.conllu --epochs 2 -o .",
        lambda: wellput.train.parser("trees.conllu", dev="trees.conllu", epochs=2),
    ),
    "train realizer": (
        "train realizer --treebank trees.conllu --dev trees.conllu -o a",
        lambda: wellput.train.realizer(treebank="trees.conllu", dev="trees.conllu", path="b"),
    ),
    "train english": (
        "train english --treebank trees.conllu --dev trees.conllu --only ngrams.wlm -o a",
        lambda: wellput.train.english(
            treebank="trees.conllu", dev="trees.conllu", only="ngrams.wlm", path="b"
        ),
    ),
    "train fluency": (
        "train fluency --text tales.txt --no-gleu -o a",
        lambda: wellput.train.fluency(text=["tales.txt"], gleu=False, path="b"),
    ),
    "train paraphrase": (
        "train paraphrase corpus.txt --wordnet . --min-occurrences 2 --vocabulary 50 --features 9"
        " --dimensions 3 --classes 4 -o m.wpm",
        lambda: wellput.train.paraphrase(
            "corpus.txt",
            wordnet=".",
            min_occurrences=2,
            vocabulary=50,
            features=9,
            dimensions=3,
            classes=4,
        ),
    ),
}


@pytest.fixture
def example_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo's evalset with four systems and fifteen items, and its judgments; two sentences."""
    monkeypatch.chdir(tmp_path)
    kept = ("careful", "template", "smooth", "hasty")
    whole = harbor_example()
    items = [
        item._replace(outputs={s: text for s, text in item.outputs.items() if s in kept})
        for item in whole.items[:15]
    ]
    evalset = wellput.EvalSet(items)
    wellput.write_evalset(evalset, "e.jsonl")
    answers = [replace(one, question="quality") for one in simulated_judgments(evalset)]
    wellput.write_judgments(answers, "j.csv")
    Path("t.csv").write_text("word,replacement\ncrossing,ferry\nferry,crossing\n")
    for metrics in ("ssa", "ssa,gsa"):
        wellput.score(evalset, metrics, runs="runs")
    lists = [{"id": 1, "candidates": ["a a", "a b"]}, {"id": 2, "candidates": ["", ""]}]
    Path("n.jsonl").write_text("\n".join(map(json.dumps, lists)))
    Path("s.txt").write_text("The cat sat on the mat.\nIt rained.\n")
    lines = [f"{reference} A quick reply came." for item in items for reference in item.references]
    Path("corpus.txt").write_text("\n".join(lines), encoding="utf-8")
    Path("t.mrg").write_text("(S (NP-SBJ (NNS dogs)) (VP (VBP bark)))\n")
    Path("trees.conllu").write_text(TREES * 3, encoding="utf-8")
    Path("tales.txt").write_text("\n\n".join(tales().split("\n\n")[:440]), encoding="utf-8")
    write_wordnet(Path())
    corpus = wellput.displays.example(n=12, path="corpus.jsonl").evalset
    wellput.displays.select(corpus, strategy="rule", folds=2, path="all.jsonl")


@pytest.mark.heavy
@pytest.mark.usefixtures("example_files")
@pytest.mark.parametrize("name", SAME_JSON)
def test_the_json_of_the_command_is_to_dict_of_the_result(name: str, run: Run) -> None:
    command, call = SAME_JSON[name]
    outcome = run(*command.split(), "--format", "json")
    assert outcome.code == 0, outcome.err
    result = call()
    assert outcome.json == json.loads(json.dumps(result.to_dict()))
    assert str(result).strip()
    assert "<" in result._repr_html_()
    assert len(result.to_pandas()) == len(result.to_polars()) == len(result.records())


def test_every_command_is_compared() -> None:
    # In test_study.py, and in tests/studies/test_imported_studies.py.
    of_studies = {"study create", "study import", *OF_A_STUDY}
    assert SAME_JSON.keys() | of_studies == WITH_FUNCTION.keys()
