"""Every example of the documentation runs and prints what the page shows."""

from __future__ import annotations

import re
import shlex
import signal
from pathlib import Path

import click
import pytest

from tests.doc_examples import ROOT, RUNNABLE, Page, blocks, matches
from tests.programs import parameters
from wellput.cli import cli

PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    if not {"results", "_build"} & set(path.parts)
)

# The number of blocks per page that cannot be run. Each has `<!-- not run: REASON -->` in the page's
# source. A new one must be counted here, so that a reviewer notices it.
NOT_RUN = {
    "docs/adapters.md": 1,
    "docs/commands/displays.md": 2,
    "docs/commands/judge.md": 4,
    "docs/commands/runs.md": 1,
    "docs/commands/score.md": 1,
    "docs/commands/study.md": 4,
    "docs/commands/train.md": 3,
    "docs/displays.md": 4,
    "docs/external_scores.md": 4,
    "docs/interface_languages.md": 1,
    "docs/language/link-grammar.md": 1,
    "docs/language/other-languages.md": 1,
    "docs/language/xtag.md": 1,
    "docs/marking_errors.md": 2,
    "docs/metrics/bertscore.md": 1,
    "docs/metrics/fluency.md": 1,
    "docs/metrics/gleu-fluency.md": 1,
    "docs/metrics/perplexity.md": 1,
    "docs/realize.md": 1,
    "docs/studies.md": 2,
}

# Pages whose examples need an optional program.
NEEDS = {
    "docs/commands/paraphrase.md": "WordNet",
    "docs/language/link-grammar.md": "link grammar",
    "docs/language/wordnet.md": "WordNet",
    "docs/metrics/gleu-fluency.md": "link grammar",
    "docs/metrics/meteor.md": "WordNet",
}


@pytest.mark.heavy
@pytest.mark.parametrize("page", parameters(PAGES, NEEDS))
def test_examples_print_what_the_page_shows(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(120)  # an example that starts a server would never end
    try:
        differences = Page(ROOT / page).differences()
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert not differences, "\n\n".join(str(one) for one in differences)


def test_what_is_not_run_is_counted() -> None:
    counts = {
        page: sum(
            block.not_run is not None and block.language in RUNNABLE
            for block in blocks((ROOT / page).read_text(encoding="utf-8"))
        )
        for page in PAGES
    }
    assert {page: count for page, count in counts.items() if count} == NOT_RUN


@pytest.mark.parametrize("page", PAGES)
def test_every_command_line_can_be_parsed(page: str) -> None:
    """Those that are not run: in marked examples, in indented blocks, in prose. Each names a command
    and options that there are."""
    wrong = []
    for line in command_lines((ROOT / page).read_text(encoding="utf-8")):
        try:
            parse(line)
        except click.BadOptionUsage:
            pass  # `--option` by itself, in prose: it exists and wants a value
        except (click.ClickException, ValueError) as error:
            wrong.append(f"{line}: {error}")
    assert not wrong


def command_lines(text: str) -> list[str]:
    """Complete ones: a synopsis in brackets and what is shortened by `…` are left out."""
    joined = text.replace("\\\n", " ")
    found = re.findall(r"^(?: {2,}|\$ |)(wellput [a-z].*)$", "\n".join(code(joined)), re.MULTILINE)
    return [line for line in found if not re.search(r"[…\[\]]|\.\.\.| [A-Z]+$", line)]


def code(text: str) -> list[str]:
    left_out = (b for b in blocks(text) if b.not_run is not None or b.language not in RUNNABLE)
    fenced = [line for block in left_out for line in block.lines]
    indented = re.findall(r"^ {4}(wellput .*)$", text, re.MULTILINE)
    spans = re.findall(r"`(wellput [a-z][^`]*)`", text)
    return [*fenced, *indented, *(" ".join(span.split()) for span in spans)]


def parse(line: str) -> None:
    command: click.Command = cli
    words = shlex.split(re.split(r" [|;>&] | > ?| && |; ", line)[0], comments=True)[1:]
    context = click.Context(cli)
    while isinstance(command, click.Group):
        if not words:
            return
        found = command.get_command(context, words[0])
        if found is None:
            raise ValueError(f"no command {words[0]}")
        command, words = found, words[1:]
        context = click.Context(command, parent=context)
    given, _, _ = command.make_parser(context).parse_args(args=words)
    for option in command.params:
        if isinstance(option.type, click.Choice) and isinstance(
            value := given.get(option.name), str
        ):
            option.type.convert(value, option, context)


@pytest.mark.parametrize(
    ("expected", "got", "same"),
    [
        (["a", "b"], ["a", "b"], True),
        (["a  ", "b"], ["a", "b"], True),
        (["a"], ["a", "b"], False),
        (["a", "…"], ["a", "b", "c"], True),
        (["…", "c"], ["c"], True),
        (["took … s"], ["took 1.5 s"], True),
        (["took … s"], ["took 1.5 s", "and more"], False),
        (["version:wellput-0.1.0"], ["version:wellput-2.0.0"], True),
        ([], ["a"], False),
    ],
)
def test_an_ellipsis_stands_for_anything(expected: list[str], got: list[str], same: bool) -> None:
    assert matches(expected, got) is same


def test_a_wrong_example_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ cat a.txt\none\n$ wc -l < a.txt\n2\n$ wellput score -m bleuu\n```\n"
        "<!-- not run: it would fail -->\n```console\n$ false || echo no\n```\n"
        "```pycon\n>>> 1 + 1\n3\n```\n"
        "```python\nprint(1 + 1)  # 3\n```\n"
    )
    found = Page(page).differences()
    assert [(one.expected, one.got[-1].strip()) for one in found] == [
        (["2"], "1"),
        (
            [],
            "wellput: No metric 'bleuu'. Did you mean bleu? `wellput metrics`, in Python "
            "`wellput.list_metrics()`, lists them all.",
        ),
        (["3"], "2"),
        (["3"], "2"),
    ]


@pytest.mark.parametrize(
    "line", ["wellput scor x", "wellput score --nonsense", "wellput score --paired ttest"]
)
def test_a_wrong_command_line_is_refused(line: str) -> None:
    with pytest.raises((click.ClickException, ValueError)):
        parse(line)
