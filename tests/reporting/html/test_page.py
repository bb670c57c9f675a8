"""The page as a file: what it must hold, and what it must not."""

from __future__ import annotations

import base64
import gzip
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import wellput
from tests.reporting.html.evaluations import HOSTILE, small_evaluation
from wellput.core.errors import MissingExtra
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment
from wellput.reporting.html.answer import headline, references_sentence
from wellput.reporting.html.charts import altair
from wellput.reporting.html.evaluation import draw_shown_items, usual_metrics
from wellput.reporting.html.page import chart_library, content_policy, embedded_json, report_page
from wellput.reporting.html.sections import score_rows, sections_of


def data_of(page: str) -> Any:
    found = re.search(r'id="report-data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def items_of(page: str) -> Any:
    found = re.search(r'id="report-items">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


def test_the_page_holds_the_figures_and_every_item() -> None:
    page = report_page(small_evaluation(), "")
    data, items = data_of(page), items_of(page)
    assert data["systems"] == ["A", "B", "C"] and data["questions"] == ["quality"]
    assert [section["name"] for section in data["sections"]] == [
        "scores", "pairs", "agreement", "judges", "metrics",
    ]  # fmt: skip
    charts = [chart["name"] for section in data["sections"] for chart in section["charts"]]
    assert charts == [
        "scores", "pairs", "agreement", "scatter", "judges", "correlations", "length",
    ]  # fmt: skip
    assert [item["id"] for item in items] == ["i1", "i2", "i3", "i4", "i5", "i6"]


def test_hostile_names_and_texts_cannot_leave_their_data() -> None:
    item = Item("</script>" + HOSTILE, {HOSTILE: HOSTILE, "B": "b"}, (HOSTILE,), source=HOSTILE)
    answers = [Judgment(HOSTILE, item.id, s, HOSTILE, v) for s, v in ((HOSTILE, 1.0), ("B", 2.0))]
    answers += [Judgment("J", item.id, s, HOSTILE, v) for s, v in ((HOSTILE, 1.0), ("B", 3.0))]
    evaluation = small_evaluation(EvalSet([item]), answers, metrics="random", title=HOSTILE)
    page = report_page(evaluation, "")
    assert page.count("<script") == 4 and page.count("</script>") == 4
    assert "<img" not in page
    assert items_of(page)[0]["id"] == item.id
    assert data_of(page)["systems"] == [HOSTILE, "B"]


def test_no_number_that_json_does_not_know() -> None:
    assert embedded_json({"a": [float("nan"), float("inf"), 1.5]}) == '{"a":[null,null,1.5]}'


def test_the_policy_lets_only_the_embedded_scripts_run() -> None:
    # printf 'alert(1)' | openssl dgst -sha256 -binary | base64
    policy = content_policy("alert(1)")
    assert "'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='" in policy
    assert policy.startswith("default-src 'none';")


def test_a_page_asks_for_nothing() -> None:
    page = report_page(small_evaluation(), "")
    assert not re.search(r'\b(src|href)\s*=\s*"', page)
    assert not re.findall(r"url\(|@import|fetch\(|XMLHttpRequest|innerHTML", page)


def test_a_sample_takes_judged_items_first_and_keeps_their_order() -> None:
    evalset = EvalSet.of({"A": [str(n) for n in range(50)]}, [str(n) for n in range(50)])
    sample = draw_shown_items(evalset, size=10, seed=1, first={"7", "33"})
    assert len(sample.items) == 10 and sample.total == 50 and not sample.is_whole
    assert {"7", "33"} <= {item.id for item in sample.items}
    assert list(sample.places) == sorted(sample.places)
    assert [evalset.items[place] for place in sample.places] == list(sample.items)
    assert sample == draw_shown_items(evalset, size=10, seed=1, first={"7", "33"})
    assert sample != draw_shown_items(evalset, size=10, seed=2, first={"7", "33"})


def test_a_sampled_report_scores_all_items() -> None:
    data = data_of(report_page(small_evaluation(shown=2), ""))
    assert (data["shown"], data["total"]) == (2, 6)
    assert {row["n"] for row in data["sections"][0]["charts"][0]["rows"]} == {6}


def test_the_usual_metrics_are_those_that_the_items_allow() -> None:
    def usual(item: Item, *, has_judgments: bool = False) -> object:
        sample = draw_shown_items(EvalSet([item]), size=1, seed=1)
        (metrics,) = usual_metrics(sample, has_judgments=has_judgments)
        return metrics

    assert usual(Item("1", {"A": "a"}, ("a",))) == "bleu,chrf,ter,ssa,gsa"
    assert (
        usual(Item("1", {"A": "a"}), has_judgments=True) == "length,ttr,distinct,length-only,random"
    )
    assert str(usual(Item("1", {"A": {"n": ["nod"]}}))).startswith("display-f,")


def test_the_headline_says_who_leads_and_whether_it_is_real() -> None:
    # Of 6 items, A is the reference each time and B moves a word: with 2⁶ exchanges p is about .03
    # at best, and Holm's correction over three pairs leaves nothing below .05 with 50 resamples.
    result = small_evaluation(metrics="gsa,ter,random").result
    assert headline(result).startswith("A scores best under both metrics; its lead")
    alone = small_evaluation(EvalSet.of({"A": ["a"]}, ["a"]), [], metrics="gsa").result
    assert headline(alone) == "1 system under 1 metric."


def test_a_tie_has_no_leader() -> None:
    evalset = EvalSet.of({"A": ["a", "b"], "B": ["a", "b"]}, ["a", "b"])
    assert headline(small_evaluation(evalset, [], metrics="gsa").result) == (
        "No system is ahead under any metric."
    )


def test_references_are_compared_with_each_other() -> None:
    # a b c / a b c: identical. a b c / a x: one substituted, one deleted: 2 words apart.
    items = [
        Item("1", {}, ("a b c", "a b c")),
        Item("2", {}, ("a b c", "a x")),
        Item("3", {}, ("a",)),
    ]
    assert references_sentence(items) == (
        "2 items have several references. They are identical for 50% of the items; two references of "
        "an item differ in 1.0 words on average."
    )
    assert references_sentence(items[2:]) == ""


def test_sentinels_are_neither_good_nor_bad() -> None:
    evaluation = small_evaluation(metrics="gsa,length-only")
    rows = score_rows(evaluation.result)
    claims = {row["claim"] for row in rows if row["metric"] == "length-only"}
    assert claims <= {"baseline", "different", "no difference shown"}
    scores = sections_of(evaluation)[0].to_dict()["charts"][0]
    assert {row["metric"] for row in scores["rows"]} == {"gsa"}


@pytest.mark.parametrize(("package", "call"), [("vl_convert", chart_library), ("altair", altair)])
def test_a_missing_package_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, package: str, call: Callable[[], object]
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"wellput\[report\]"):
        call()


@pytest.mark.parametrize("name", ["page.html", "report.css", "page.js"])
def test_assets_are_where_the_page_looks_for_them(name: str) -> None:
    import wellput.reporting.html

    assert (Path(wellput.reporting.html.__file__).parent / "assets" / name).is_file()


def test_so_few_items_show_no_difference_whatever_p() -> None:
    evaluation = small_evaluation(answers=[], metrics="gsa,gta,ter,wer,ssa")
    (answer,) = evaluation.answers
    assert "real" not in answer.sentences[0]
    sections = {section.name: section for section in sections_of(evaluation)}
    assert sections["scores"].words == [
        "6 items are too few to claim a difference; at least 10 are needed."
    ]
    (matrix,) = sections["pairs"].to_dict()["charts"]
    assert {pair[3] for scorer in matrix["scorers"] for pair in scorer["pairs"]} == {0}


def test_of_a_single_judge_no_agreement_is_claimed() -> None:
    alone = [Judgment("J", f"i{n}", "A", "quality", float(n)) for n in range(1, 7)]
    (judges,) = [s for s in sections_of(small_evaluation(answers=alone)) if s.name == "judges"]
    assert judges.words == ["No two judges rated the same outputs: how far they agree is unknown."]
    assert not judges.charts
    (judges,) = [s for s in sections_of(small_evaluation()) if s.name == "judges"]
    assert not judges.words and judges.charts


def test_samples_of_an_output_are_numbered(tmp_path: Path) -> None:
    evalset = EvalSet.of({"A": [["first one", "second one"]] * 12}, ["first two"] * 12)
    wellput.report(evalset, metrics="chrf,gsa", path=tmp_path / "r.html")
    shown = items_of((tmp_path / "r.html").read_text())
    assert "(1) first one\\n(2) second one" in json.dumps(shown)
