"""Numbers out of range end in a message, whichever option of whichever command they are given to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import wellput
from wellput.cli import cli
from wellput.core.errors import WellputError

TOO_LARGE = {"integer": ["1" + "0" * 20], "float": ["nan", "inf", "-inf", "1e308"]}
AT_THE_EDGE = ["-1", "0", "1e-320"]


def _commands(
    group: click.Group, context: click.Context, names: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _commands(command, click.Context(command, parent=context), (*names, name))
        else:
            yield (*names, name), command


COMMANDS = dict(_commands(cli, click.Context(cli)))
NUMBERS = [
    pytest.param(names, option, id=f"{' '.join(names)} {option.opts[-1]}")
    for names, command in COMMANDS.items()
    for option in command.params
    if isinstance(option.type, click.types.IntParamType | click.types.FloatParamType)
    and not (isinstance(option, click.Option) and option.hidden)
]
NEEDED = {
    ("power",): ["--difference", "0.2", "--simulations", "100", "--items", "10"],
    ("score",): ["none.jsonl"],
    ("probe",): ["none.txt"],
    ("demo",): ["-o", "none/none.json"],
    ("judge",): ["-o", "answers.csv"],
    ("study", "serve"): ["--open"],
    ("displays", "example"): ["-o", "none/none.jsonl"],
}
"""Options with which a command that could do without any file does little."""


@pytest.fixture(autouse=True)
def only_a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with nothing but the study `study.db`, which is never served."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("wellput.studies.app.serve", lambda *_, **__: None)
    evalset = wellput.EvalSet.of({"A": ["a cat sat"], "B": ["cat sat"]})
    wellput.Study.create(evalset, path=tmp_path / "study.db", design="rating").close()


def _call(names: tuple[str, ...], *words: str) -> str:
    """The message with which the command ends; files that it needs are missing."""
    needed = list(NEEDED.get(names, []))
    for parameter in COMMANDS[names].params:
        if not parameter.required:
            continue
        value = "study.db" if parameter.name == "study" else "none.csv"
        if isinstance(parameter.type, click.Choice):
            value = str(parameter.type.choices[0])
        needed += [parameter.opts[0], value] if isinstance(parameter, click.Option) else [value]
    result = CliRunner().invoke(cli, [*names, *needed, *words], standalone_mode=False)
    error = result.exception
    if isinstance(error, click.ClickException):
        return error.format_message()
    if error is not None and not isinstance(error, WellputError):
        raise error
    return str(error)


def _typed(option: click.Option, value: str) -> list[str]:
    name = option.opts[-1]
    return [f"{name}={value}"] if name.startswith("--") else [name, value]


@pytest.mark.parametrize(("names", "option"), NUMBERS)
def test_numbers_out_of_range_are_refused_by_name(
    names: tuple[str, ...], option: click.Option
) -> None:
    kind = "integer" if isinstance(option.type, click.types.IntParamType) else "float"
    for value in TOO_LARGE[kind]:
        message = _call(names, *_typed(option, value))
        assert option.opts[-1] in message, f"{value}: {message}"


@pytest.mark.parametrize(("names", "option"), NUMBERS)
def test_numbers_at_the_edge_end_in_no_traceback(
    names: tuple[str, ...], option: click.Option
) -> None:
    for value in AT_THE_EDGE:
        _call(names, *_typed(option, value))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (["power", "--difference", "1", "--items", "5,1" + "0" * 20], "--items 1000.* too large"),
        (["power", "--difference", "1", "--judges", "1" + "0" * 20], "--judges 1000.* too large"),
        (["score", "e.jsonl", "-m", "bleu", "--margin", "bleu=1e308"], r"--margin 1e\+308 is too"),
        (["rank", "j.csv", "--permutations", "1" + "0" * 20], "at most 1,000,000; more would take"),
        (
            ["train", "paraphrase", "e.jsonl", "-o", "m.wpm", "--negatives", "1e20"],
            r"--negatives 1e\+20 is too large: at most 1,000,000",
        ),
        (
            ["study", "create", "e.jsonl", "-o", "s.db", "--design", "rating", "--times", "1000000000",
             "--plan", "within-judge", "--judges", "2"],
            r"2,000,000,000 trials \(2 systems × 1000000000\), and 1 item cannot give it",
        ),
    ],
)  # fmt: skip
def test_numbers_in_texts_and_in_plans(call: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "e.jsonl").write_text(
        '{"id": "1", "references": ["a"], "outputs": {"A": "a", "B": "b"}}'
    )
    result = CliRunner().invoke(cli, call, standalone_mode=False)
    assert isinstance(result.exception, WellputError), result
    assert re.search(message, str(result.exception))


def test_python_refuses_the_same_numbers() -> None:
    with pytest.raises(wellput.InputError, match="sd_item=1e\\+308 is too large: at most 1e\\+100"):
        wellput.power(difference=0.2, sd_item=1e308)
    with pytest.raises(wellput.InputError, match="lease=nan is not a finite number"):
        wellput.Study.create("e.jsonl", path="s.db", lease=float("nan"))
