"""No function replaces a file that it reads: every argument that may name a file is checked."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

import wellput
from wellput.core.errors import OutputError

SOURCES = Path(wellput.__file__).parent
NAMES_FILES = re.compile(
    r"PathLike|Paths\b|Texts\b|\bItems\b|Answers\b|Metrics?\b|Sentences|Trees\b|Treebanks|Brackets"
    r"|RubricSource|ProbeCorpus"
)
"""The types of arguments that may be the names of files."""
LISTS_OF_METRICS = {"covariates", "predictors", "paraphrase"}
"""Arguments with names that may be files, too."""
NOT_READ = {"resume", "work"}
"""Folders with a function's own unfinished work."""


def functions_with_a_check() -> list[tuple[str, ast.FunctionDef, ast.Call]]:
    """The functions that check the files they write, with the call that does so."""
    files = [*SOURCES.glob("api/*.py"), *SOURCES.glob("displays/*.py")]
    functions = [
        (f"{file.stem}.{function.name}", function)
        for file in files
        for function in ast.parse(file.read_text()).body
        if isinstance(function, ast.FunctionDef) and not function.name.startswith("_")
    ]
    return [
        (name, function, node)
        for name, function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "check_files"
        and ast.unparse(node.args[0]) != "[]"
    ]


def names_in(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def checked_names(function: ast.FunctionDef, call: ast.Call) -> set[str]:
    """The names in the call, and the names from which they were made."""
    names = names_in(call)
    for statement in reversed(function.body):
        if isinstance(statement, ast.Assign) and names & {
            name for target in statement.targets for name in names_in(target)
        }:
            names |= names_in(statement.value)
    return names


CHECKS = functions_with_a_check()


@pytest.mark.parametrize(("name", "function", "call"), CHECKS, ids=[name for name, *_ in CHECKS])
def test_every_argument_that_may_name_a_file_is_checked(
    name: str, function: ast.FunctionDef, call: ast.Call
) -> None:
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    of_files = {
        argument.arg
        for argument in arguments
        if argument.arg in LISTS_OF_METRICS
        or (argument.annotation and NAMES_FILES.search(ast.unparse(argument.annotation)))
    }
    assert of_files - checked_names(function, call) - NOT_READ == set()


def test_the_functions_with_a_check_are_found() -> None:
    names = {name for name, *_ in CHECKS}
    assert {"score.score", "estimate.estimate", "judge.judge", "selection.select"} <= names


def test_a_metric_that_is_also_an_output_is_refused_in_python(tmp_path: Path) -> None:
    item = {"id": "1", "references": ["a b"], "outputs": {"A": "a", "B": "b"}}
    (tmp_path / "e.jsonl").write_text(json.dumps(item))
    scores = tmp_path / "own.csv"
    scores.write_text("system,item,metric,score\nA,1,own,1\nB,1,own,2\n")
    before = scores.read_text()
    for metrics in (f"ssa,{scores}", [f"{scores}:metric=own:higher=false", "ssa"]):
        with pytest.raises(OutputError, match=f"it is the input {re.escape(str(scores))}"):
            wellput.score(tmp_path / "e.jsonl", metrics, segments=scores)
    with pytest.raises(OutputError, match="it is the input"):
        wellput.score(tmp_path / "e.jsonl", wellput.metric(str(scores)), path=scores)
    with pytest.raises(OutputError, match="it is the input"):
        evalset = wellput.open_evalset(tmp_path / "e.jsonl")
        wellput.score(evalset, "ssa", segments=tmp_path / "e.jsonl")
    assert scores.read_text() == before
