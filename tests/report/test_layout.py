"""Reports laid out for a terminal of a given width."""

from __future__ import annotations

from wellput.report.drawings import fold_drawing
from wellput.report.table import Table, as_latex, as_terminal

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
