"""Reports laid out for a terminal of a given width, and for LaTeX."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import wellput
from tests.programs import needs
from wellput.reporting.table import Table
from wellput.reporting.table_formats import (
    LATEX_ESCAPES,
    as_latex,
    as_markdown,
    as_terminal,
    fold_drawing,
)

DRAWING = """\
reference  If the ferry is late , bus 7 waits                      .
           d  m   m     m  m    d s   . .     i  m   m     m  m    .
output                            Bus 7 waits if the ferry is late .
treelet of waits: 1 moved"""


def test_a_drawing_is_cut_where_all_three_lines_are_blank() -> None:
    assert fold_drawing(DRAWING, 40).split("\n") == [
        "reference  If the ferry is late , bus 7",
        "           d  m   m     m  m    d s   .",
        "output                            Bus 7",
        "",
        "reference  waits                      .",
        "           .     i  m   m     m  m    .",
        "output     waits if the ferry is late .",
        "treelet of waits: 1 moved",
    ]


def test_no_word_is_lost_at_any_width() -> None:
    words = sorted(word for line in DRAWING.split("\n")[:3] for word in line.split())
    for width in range(1, 80):
        folded = fold_drawing(DRAWING, width).split("\n")[:-1]
        found = [word for line in folded for word in line.split()]
        repeats = folded.count("") + 1
        assert sorted(found) == sorted(words + ["reference", "output"] * (repeats - 1))


def test_other_text_and_files_stay_as_they_are() -> None:
    assert fold_drawing(DRAWING, None) == DRAWING
    assert fold_drawing("bleu has nothing to explain.\n", 10) == "bleu has nothing to explain.\n"


def test_a_signature_stays_one_word() -> None:
    signature = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:wellput-0.1.0"
    table = Table(["system", "bleu"], [["A", "1.00"]], notes=[f"bleu: {signature}", "a b " * 20])
    text = as_terminal([table], width=30, color=False)
    assert signature in text.splitlines()
    assert all(len(line) <= 30 for line in text.splitlines() if line != signature)


HOSTILE_NAMES = {
    "<img src=x onerror=alert(1)>": r"\<img src=x onerror=alert(1)>",
    "</td>": r"\</td>",
    "<!-- x": r"\<!-- x",
    "[x](javascript:alert(1))": r"[x]\(javascript:alert(1))",
    "![t](http://e.x/p.png)": r"![t]\(http://e.x/p.png)",
    "a\n| B | 99.00": r"a \| B \| 99.00",
    r"\<b>": r"\\\<b>",
    "p < 0.001 [1, 2] (3)": "p < 0.001 [1, 2] (3)",
}


def test_markdown_shows_hostile_names_as_text() -> None:
    rows = [[name, "1.00"] for name in HOSTILE_NAMES]
    text = as_markdown([Table(["system", "bleu"], rows, title="<b>")])
    assert text.splitlines() == [
        r"**\<b>**",
        "",
        "| system | bleu |",
        "| --- | ---: |",
        *(f"| {shown} | 1.00 |" for shown in HOSTILE_NAMES.values()),
    ]


def test_latex_keeps_a_bracket_a_star_and_a_line_feed_in_their_row() -> None:
    rows = [["[2cm]", "1"], ["*", "2"], ["a\n\nb", "3"], ["x [1]", "4"]]
    text = as_latex([Table(["[system]", "bleu"], rows)])
    for row in ("{}[system] & bleu", "{}[2cm] & 1", "{}* & 2", "a  b & 3", "x [1] & 4"):
        assert f"\n{row} \\\\\n" in text


def test_latex_gets_commands_for_what_pdflatex_cannot_set() -> None:
    table = Table(["system", "ter ↓", "κ", "α", "β", "χ²"], [["A_1", "−1.0", "", "", "", ""]])
    text = as_latex([table])
    assert r"ter $\downarrow$ & $\kappa$ & $\alpha$ & $\beta$ & $\chi$$^2$ \\" in text
    assert text.isascii()


def test_latex_has_a_caption_in_words_a_label_and_small_notes() -> None:
    table = Table(
        ["system", "bleu"],
        [["A", "1.00"]],
        notes=["3 items.", "bleu: nrefs:1|tok:13a"],
        best=frozenset({(0, 1)}),
        bold_meaning="no system is better",
        caption="Scores of 1 system on 3 items",
        name="scores",
    )
    named = Table(["judge"], [["J"]], title="Judges: 100%", notes=["All of them."])
    preamble, first, second, third = as_latex([table, named, named]).split("\n\n")
    assert preamble == r"% Needs \usepackage{booktabs} in the preamble."
    assert first.splitlines() == [
        r"\begin{table}",
        r"\centering",
        r"\caption{Scores of 1 system on 3 items; bold: no system is better.}",
        r"\label{tab:scores}",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"system & bleu \\",
        r"\midrule",
        r"A & \textbf{1.00} \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\par\smallskip\footnotesize\raggedright",
        r"3 items.\par",
        r"bleu: nrefs:1\textbar\allowbreak{}tok:13a\par",
        r"\end{table}",
    ]
    assert second.splitlines()[2:4] == [r"\caption{Judges: 100\%.}", r"\label{tab:judges-100}"]
    assert r"All of them.\par" in second
    assert r"\label{tab:judges-100-2}" in third  # no label twice in a document


def test_every_table_says_what_it_shows() -> None:
    """A table of a report has a title or a caption: without them LaTeX has nothing to refer to."""
    package = Path(wellput.__file__).parent
    sources = [*package.glob("reporting/**/*.py"), *package.glob("displays/*.py")]
    calls = [
        (f"{path.name}:{call.lineno}", call)
        for path in sources
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "Table"
    ]
    assert len(calls) > 30
    lacking = [
        place
        for place, call in calls
        if len(call.args) < 3
        and not {"title", "caption"} & {keyword.arg for keyword in call.keywords}
    ]
    assert not lacking


@needs("LaTeX")
def test_pdflatex_sets_it(tmp_path: Path) -> None:
    cells = ["".join(LATEX_ESCAPES), r"50% & a_b #1 {x} $y^2~\z | <i>", "é – ’q’ … “w”"]
    bold = frozenset({(0, 1)})
    table = Table(
        ["x", "y", "z"], [cells], notes=cells, best=bold, bold_meaning="p < 0.05", caption=cells[1]
    )
    empty = Table(["x"], [], title="Nothing", notes=["at all"])
    document = (
        "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n%s"
        "Tables \\ref{tab:50-a-b-1-x-y-2-z-i} and \\ref{tab:nothing}.\\end{document}"
    )
    (tmp_path / "a.tex").write_text(document % as_latex([table, empty]), encoding="utf-8")
    for _ in range(2):  # the second time references are known
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"],
            cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-600:]
    assert "undefined" not in done.stdout  # neither a command nor a reference
