"""Who reads a path: readers of other packages, wellput's own, tables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import wellput
from tests.plugins import install, project_text
from wellput.core.errors import InputError
from wellput.core.evalset import BLOCK_ITEMS, EvalSet
from wellput.core.judgment import Judgment
from wellput.io import readers

CARDS = '''
"""Items a line: ID|REFERENCE|OUTPUT OF A|OUTPUT OF B."""
from pathlib import Path
from wellput import EvalSet, EvalSource, InputError, Item, Judgment, Preference

def knows(path):
    return path.endswith((".cards", ".cards.jsonl", ".json")) or path.startswith("cards://")

def item(line):
    identifier, reference, *outputs = line.split("|")
    return Item(identifier, dict(zip("AB", outputs)), (reference,))

class Cards(EvalSource):
    def __init__(self, path):
        self.path = path

    def blocks(self):
        for line in Path(self.path).read_text().splitlines():
            yield [item(line)]

def open_evalset(path):
    if path.startswith("cards://"):
        return EvalSet([Item("1", {"A": path})])
    if "held" in path:
        return EvalSet(map(item, Path(path).read_text().splitlines()))
    if "list" in path:
        return [item("1|a|b")]
    if "refused" in path:
        raise InputError("line 7: no bar.")
    return Cards(path)

def read_judgments(path):
    text = Path(path).read_text()
    if "mixed" in text:
        return [Judgment("j", "1", "A", "q", 1.0), Preference("j", "1", "A", "B", "q", "a")]
    rows = (line.split() for line in text.splitlines())
    return [Judgment("cards", item, system, "good", float(value)) for item, system, value in rows]
'''

BROKEN = """
class Fails:
    def knows(self, path):
        raise OSError("cannot look")

    def open_evalset(self, path):
        raise AssertionError("never asked")

class Needless:
    def knows(self, path):
        raise AssertionError("it opens nothing: it is not asked")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with the reader `cards` is installed; the current folder is another one."""
    package, here = tmp_path / "package", tmp_path / "here"
    package.mkdir()
    here.mkdir()
    points = ('cards = "reader_of_cards"', 'needless = "broken_reader:Needless"')
    (package / "pyproject.toml").write_text(project_text("wellput.readers", *points))
    (package / "reader_of_cards.py").write_text(CARDS)
    (package / "broken_reader.py").write_text(BROKEN)
    install(package)
    monkeypatch.syspath_prepend(package)
    monkeypatch.chdir(here)
    return package


def install_more(package: Path, *points: str) -> None:
    text = project_text("wellput.readers", *points).replace("wellput-test", "wellput-more")
    (package / "pyproject.toml").write_text(text)
    install(package)


@pytest.mark.usefixtures("folder")
def test_a_reader_of_another_package() -> None:
    Path("a.cards").write_text("x|a cat|a cat\ny|a dog|a frog\n")
    assert [item.id for item in wellput.read_evalset("a.cards")] == ["x", "y"]
    # 0 and 1 of 2 tokens are wrong: 1 − 1/4
    assert wellput.score(Path("a.cards"), "ssa")["A", "ssa"].score == 0.75
    Path("held.cards").write_text("x|a cat|a cat\n")
    assert isinstance(wellput.open_evalset("held.cards"), EvalSet)
    (item,) = wellput.read_evalset("cards://anywhere")
    assert item.outputs == {"A": "cards://anywhere"}


@pytest.mark.usefixtures("folder")
def test_it_comes_before_the_tables_and_before_other_formats() -> None:
    Path("a.cards.jsonl").write_text("x|a|b\n")
    assert wellput.read_evalset("a.cards.jsonl").items[0].references == ("a",)
    Path("b.jsonl").write_text('{"id": "1", "outputs": {"B": "b"}}\n')
    assert wellput.read_evalset("b.jsonl").systems == ("B",)
    Path("c.json").write_text("x|a|b\n")  # else a log of inspect_ai
    assert wellput.read_evalset("c.json").items[0].references == ("a",)


@pytest.mark.usefixtures("folder")
def test_judgments_by_a_reader_of_another_package() -> None:
    Path("a.cards").write_text("1 A 3\n2 B 4\n")
    assert wellput.read_judgments("a.cards") == [
        Judgment("cards", "1", "A", "good", 3.0),
        Judgment("cards", "2", "B", "good", 4.0),
    ]
    Path("empty.cards").write_text("")
    with pytest.raises(InputError, match=r"The reader cards .* found no judgments in empty.cards"):
        wellput.read_judgments("empty.cards")
    Path("mixed.cards").write_text("mixed")
    with pytest.raises(InputError, match="must return a list of Judgment or a list of Preference"):
        wellput.read_judgments("mixed.cards")
    Path("bad.cards").write_text("1 A")
    with pytest.raises(
        InputError, match=r"The reader cards .* cannot read bad.cards. ValueError: "
    ):
        wellput.read_judgments("bad.cards")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "list.cards",
            "",
            "must return an EvalSource, such as an EvalSet, for list.cards, not list",
        ),
        ("refused.cards", "", "cannot read refused.cards. line 7: no bar."),
        ("held.cards", "x", "cannot read held.cards. ValueError: not enough values to unpack"),
        ("gone.cards", None, "cannot read gone.cards. FileNotFoundError: "),
        ("late.cards", "x|a|b\nx\n", "cannot read late.cards. ValueError: not enough values"),
        ("twice.cards", "x|a|b\ny|a|b\nx|a|b\n", "twice.cards. Item ids must be unique; these are"),
    ],
)
def test_errors_name_the_reader(name: str, text: str | None, message: str) -> None:
    if text is not None:
        Path(name).write_text(text)
    with pytest.raises(InputError) as caught:
        wellput.read_evalset(name)
    assert str(caught.value).startswith("The reader cards of the package wellput-test 1.0 ")
    assert message in str(caught.value)


@pytest.mark.usefixtures("folder")
def test_blocks_are_cut_to_the_usual_size() -> None:
    Path("a.cards").write_text("".join(f"{i}|a|b\n" for i in range(BLOCK_ITEMS + 2)))
    source = wellput.open_evalset("a.cards")
    assert [len(block) for block in source.blocks()] == [BLOCK_ITEMS, 2]
    assert [len(block) for block in source.blocks()] == [BLOCK_ITEMS, 2]  # as often as it is asked
    (partition,) = source.partitions()
    assert sum(len(block) for block in partition.blocks()) == BLOCK_ITEMS + 2


def test_a_broken_reader_is_left_out_with_a_warning(folder: Path) -> None:
    install_more(folder, 'fails = "broken_reader:Fails"', 'away = "no_such_module"')
    Path("b.jsonl").write_text('{"id": "1", "outputs": {"B": "b"}}\n')
    with pytest.warns(UserWarning) as warned:
        assert len(wellput.read_evalset("b.jsonl")) == 1
    away, fails = (str(one.message) for one in warned)
    assert away.startswith(
        "The reader away of the package wellput-more 1.0 cannot be loaded (Module"
    )
    assert fails == (
        "The reader fails of the package wellput-more 1.0 fails to say whether it knows b.jsonl "
        "(OSError: cannot look). It is left out."
    )


@pytest.mark.usefixtures("folder")
def test_patterns_and_pipes_are_tables() -> None:
    Path("a.jsonl").write_text('{"id": "1", "outputs": {"B": "b"}}\n')
    with pytest.raises(InputError, match="No file matches"):
        wellput.open_evalset("*.cards")
    os.mkfifo("pipe.cards.jsonl")
    writer = subprocess.Popen(["cp", "a.jsonl", "pipe.cards.jsonl"])
    assert wellput.read_evalset("pipe.cards.jsonl").systems == ("B",)
    assert writer.wait() == 0


def test_judgments_from_a_pipe(tmp_path: Path) -> None:
    """No reader may look at the first line: it would be gone."""
    path = tmp_path / "j.csv"
    path.write_text("judge,item,system,question,value\nj,1,A,q,3\n")
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    writer = subprocess.Popen(["cp", path, pipe])
    assert wellput.read_judgments(pipe) == [Judgment("j", "1", "A", "q", 3.0)]
    assert writer.wait() == 0


@pytest.mark.heavy
@pytest.mark.usefixtures("folder")
def test_commands_take_it() -> None:
    outputs = ["the cat sat here {}", "the cat {}", "{}"]
    rows = [[outputs[i % 3].format(i), outputs[(i + 1) % 2].format(i)] for i in range(30)]
    text = "".join(f"{i}|the cat sat here {i}|{a}|{b}\n" for i, (a, b) in enumerate(rows))
    Path("a.cards").write_text(text)
    ratings = [
        (i, s, len(t.split())) for i, row in enumerate(rows) for s, t in zip("AB", row, strict=True)
    ]
    Path("ratings.cards").write_text("".join(f"{i} {s} {value}\n" for i, s, value in ratings))
    run = [sys.executable, "-c", "from wellput.cli import main; main()"]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}

    def output(*arguments: str) -> str:
        done = subprocess.run([*run, *arguments], env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert json.loads(output("score", "a.cards", "-m", "ssa", "--format", "json"))["items"] == 30
    agreed = output("agree", "a.cards", "ratings.cards", "-m", "ssa", "--format", "json")
    assert '"n": 60' in agreed
    output("report", "a.cards", "ratings.cards", "-m", "ssa", "-o", "report.html")
    assert Path("report.html").stat().st_size
    refused = subprocess.run(
        [*run, "score", "refused.cards", "-m", "ssa"], env=env, capture_output=True, text=True
    )
    assert refused.returncode == 2
    assert refused.stderr == (
        "wellput: The reader cards of the package wellput-test 1.0 cannot read refused.cards. "
        "line 7: no bar.\n"
    )


@pytest.mark.parametrize(
    ("table", "job"),
    [(readers.EVALSET_READERS, "open_evalset"), (readers.JUDGMENT_READERS, "read_judgments")],
)
def test_the_tables_name_readers(table: dict[str, tuple[str, ...]], job: str) -> None:
    for module in map(import_module, table):
        assert callable(module.knows) and callable(getattr(module, job))


def test_scoring_a_table_loads_no_reader_of_another_format(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "1", "references": ["a"], "outputs": {"B": "b"}}\n')
    program = (
        "import sys; from wellput.cli import cli; "
        "cli(['score', 'a.jsonl', '-m', 'bleu'], standalone_mode=False); "
        "print(*[name for name in sys.modules if name.split('.')[0] == 'wellput'], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    loaded = set(done.stderr.split())
    unused = "tables trees lines segment_scores"
    others = {
        *readers.EVALSET_READERS,
        *readers.JUDGMENT_READERS,
        *(f"wellput.io.{n}" for n in unused.split()),
    }
    assert not loaded & others
    assert not [name for name in loaded if "displays" in name or name.endswith("output_kinds")]
    assert len(loaded) <= 60
