"""A user's script with every verb, for the type checker: it is checked as strictly as the package, and
never run."""

from __future__ import annotations

from pathlib import Path

import wellput as wp


def whole_loop(folder: Path) -> None:
    shown: wp.Demo = wp.demo(no_report=True)
    evalset, judgments = shown.evalset, shown.judgments
    wp.write_evalset(evalset, folder / "evalset.jsonl")
    wp.write_judgments(judgments, folder / "judgments.csv")
    scores: wp.ScoreResult = wp.score(evalset, "bleu,chrf", paired="ar", confidence=0.9)
    best: float = scores["careful", "bleu"].score
    ranked: wp.RankResult = wp.rank(judgments, question="quality", against="careful")
    answer: wp.AgreementResult = wp.agree(
        folder / "evalset.jsonl", wp.read_judgments(folder / "judgments.csv"), ["bleu", "chrf"]
    )
    leaders: list[str] = answer.ranking[0].leaders
    fitted: wp.Fit = wp.fit(evalset, judgments, question="quality", predictors=["gsa", "length"])
    fitted.save(folder / "quality.json")
    page: wp.HtmlReport = wp.report(evalset, judgments, path=folder / "report.html")
    needed: wp.PowerTable = wp.power(difference=0.2, items=[50, 100], judges=(1, 3))
    trees: wp.ParseResult = wp.parse(["The ferry leaves at noon."])
    sentences: wp.RealizationResult = wp.realize(trees.trees, model="learned")
    worse: wp.DegradedSentences = wp.degrade(["The ferry leaves at noon."] * 40, size=4)
    chosen: wp.RerankResult = wp.rerank([["a b", "b a"]], "fluency")
    rewritten: wp.ParaphraseResult = wp.paraphrase(evalset, method="wordnet")
    every: wp.MetricList = wp.list_metrics()
    runs: wp.RunList = wp.runs.list(runs=folder / "runs")
    model: wp.Result = wp.train.lm([folder / "text.txt"], path=folder / "model.arpa")
    displays: wp.Result = wp.displays.example(path=folder / "corpus.jsonl")
    study = wp.Study.create(evalset, path=folder / "study.db", design="rating", questions="quality")
    study.invite(judges=2)
    results: list[wp.Result] = [
        ranked,
        scores, answer, fitted, page, needed, trees, sentences, worse, chosen, rewritten, every, runs,
        model, displays, study.status(),
    ]  # fmt: skip
    for result in results:
        print(result, result.to_dict(), best, leaders)
