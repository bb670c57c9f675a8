from __future__ import annotations

from unicodedata import normalize

import wellput
from wellput.text.scripts import count_in_other_form

TEXT = "un café crème à côté"


def test_outputs_in_another_form_are_counted() -> None:
    composed, apart = normalize("NFC", TEXT), normalize("NFD", TEXT)
    outputs = [composed, apart, "cafe", apart, ["a", "schedule"], apart]
    references = [[composed], [composed, "cafe"], [apart], [apart], [composed], []]
    assert count_in_other_form(outputs, references) == 1


def test_score_says_so() -> None:
    composed, apart = normalize("NFC", TEXT), normalize("NFD", TEXT)
    evalset = wellput.EvalSet.of({"A": [apart, "x"], "B": [composed, "x"]}, [[composed], ["x"]])
    result = wellput.score(evalset, "chrf")
    assert result["A", "chrf"].score < 70 < result["B", "chrf"].score
    [note] = result.notes
    assert note.startswith("1 output of A is in another Unicode form (NFC or NFD)")
    assert wellput.score(evalset, "length").notes == ()
