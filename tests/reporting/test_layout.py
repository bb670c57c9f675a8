"""Reports laid out for a terminal of a given width, and for LaTeX."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.programs import needs
from wellput.reporting.drawings import fold_drawing
from wellput.reporting.table import LATEX, Table, as_latex, as_terminal

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


def test_what_is_no_drawing_and_files_are_left_alone() -> None:
    assert fold_drawing(DRAWING, None) == DRAWING
    assert fold_drawing("bleu has nothing to explain.\n", 10) == "bleu has nothing to explain.\n"


def test_a_signature_stays_one_word() -> None:
    signature = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:wellput-0.1.0"
    table = Table(["system", "bleu"], [["A", "1.00"]], notes=[f"bleu: {signature}", "a b " * 20])
    text = as_terminal([table], width=30, color=False)
    assert signature in text.splitlines()
    assert all(len(line) <= 30 for line in text.splitlines() if line != signature)


def test_latex_gets_commands_for_what_pdflatex_cannot_set() -> None:
    table = Table(["system", "ter ↓", "κ", "α", "β", "χ²"], [["A_1", "−1.0", "", "", "", ""]])
    text = as_latex([table])
    assert r"ter $\downarrow$ & $\kappa$ & $\alpha$ & $\beta$ & $\chi$$^2$ \\" in text
    assert text.isascii()


def test_latex_has_a_short_caption_and_small_notes() -> None:
    table = Table(["system", "bleu"], [["A", "1.00"]], notes=["3 items.", "bleu: nrefs:1|tok:13a"])
    named = Table(["judge"], [["J"]], title="Judges", notes=["All of them."])
    first, second = as_latex([table, named]).split("\n\n")
    assert r"\caption{3 items.}" in first
    assert r"\footnotesize" in first.splitlines()[-3]
    assert first.splitlines()[-2] == r"bleu: nrefs:1\textbar\allowbreak{}tok:13a\par"
    assert r"\caption{Judges}" in second and r"All of them.\par" in second


@needs("LaTeX")
def test_pdflatex_sets_it(tmp_path: Path) -> None:
    cells = ["".join(LATEX), r"50% & a_b #1 {x} $y^2~\z | <i>", "é – ’q’ … “w”"]
    table = Table(["x", "y", "z"], [cells], notes=cells, best=frozenset({(0, 1)}))
    empty = Table(["x"], [], title="Nothing", notes=["at all"])
    document = "\\documentclass{article}\\begin{document}\n%s\\end{document}"
    (tmp_path / "a.tex").write_text(document % as_latex([table, empty]), encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"],
        cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-600:]
