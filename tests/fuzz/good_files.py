"""A good file for every reader, small and written here, to be damaged."""

from __future__ import annotations

import gzip
import json
import lzma
import zipfile
from pathlib import Path
from typing import Any

from tests.displays.test_annotations import TEXTGRID, eaf
from tests.io.test_annotation_tools import potato_line, result, task
from tests.io.test_appraise import BATCHES
from tests.io.test_bad_input import EVALSET, RATINGS, TREE
from tests.io.test_eval_logs import inspect_log, promptfoo_row, sample
from tests.io.test_model_logs import RAGAS_CSV, RAGAS_ROWS, chosen, deepeval_run, generated
from tests.language.models.test_wordnet import YAML
from tests.language.paraphrase.tiny_wordnet import write_wordnet
from tests.language.trees.tiny_tag import write_grammar
from tests.metrics.test_fitted import EQUATION_4
from wellput.core.evalset import EvalSet, Item
from wellput.io import format_tree, write_evalset, write_judgments

DERIVATION = {
    "id": "n0", "label": "S", "features": {"tense": "past", "level": 2},
    "children": [{"id": "n1", "word": "tiles"}, {"id": "n2", "word": "fell", "features": {}}],
}  # fmt: skip
DISPLAYS = EvalSet([Item("1", {"A": {"n1": ["nd=d", "bw=u"]}, "B": {}}, derivation=DERIVATION)])

TEXTS = {
    "a.txt": "a\nb é\n\n“c” d\n",
    "b.txt": "a\nb\nc\nd\n",
    "judgments.pairs.csv": "judge,item,system_a,system_b,question,choice\nj,1,A,B,q,tie\n",
    "evalica.csv": "left,right,winner\nA,B,left\nB,A,tie\n",
    "appraise.csv": "eng1,A,2,TGT,eng,deu,70,d#A,False,"
    '"[{""start_i"":4,""end_i"":6,""severity"":""minor""}]",50.5,52\n',
    "pairs.csv": "reference,better,worse,perturbation,severity\na b,a b,a,omission,minor\n",
    "long.csv": "item,system,output,reference\n1,A,a b,a b c\n1,B,a c,a b c\n",
    "screening.toml": '[[screening]]\ntext = "Old?"\nchoices = ["yes", "no"]\naccepted = ["yes"]\n',
    "categories.toml": '[categories]\naccuracy = ["omission", "addition"]\nother = ""\n\n'
    "[weights]\nminor = 1\nmajor = 5\n",
    "language.toml": '[language]\ncode = "de"\nname = "Deutsch"\ndirection = "ltr"\n\n'
    '[reasons]\nempty = "Die Antwort ist leer"\n',
    "mqm.tsv": "system\trater\tcategory\tseverity\tseg_id\nA\tr\tStyle\tMinor\t1\n",
    "segments.csv": "system,item,metric,score\nA,1,bleu,0.5\nB,1,bleu,\n",
    "comet.csv": "system,item,metric,score,version\nA,1,COMET,0.5,2.2\nB,1,COMET,,2.2\n",
    "comet.jsonl": '{"system": "A", "item": 1, "comet": 0.5}\n{"system": "B", "item": 1, "comet": 1}\n',
    "ragas.csv": RAGAS_CSV,
    "samples_capitals.jsonl": json.dumps(generated(0, "Paris", "none", 1.0))
    + "\n"
    + json.dumps(chosen(1, ("-0.5", "-0.1"), 1.0))
    + "\n",
    "quality.seg.score": "A\t1.5\nA\tNone\nB\t-2\n",
    "trees.conllu": f"# sent_id = 1\n{format_tree(TREE)}"
    "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n1\tdo\tdo\tAUX\tVBP\tMood=Ind\t2\taux\t_\t_\n"
    "2\tn't\tnot\tPART\tRB\t_\t0\troot\t_\tSpaceAfter=No\n2.1\tgo\t_\t_\t_\t_\t_\t_\t2:x\t_\n\n",
    "trees.mrg": "( (S (NP (DT the) (NN cat)) (VP (VBD sat))))\n(X y)\n",
    "nbest.jsonl": '{"id": "7", "candidates": ["a b", "b"], "references": ["a"], "source": "s"}\n',
    "replacements.csv": "word,replacement,weight\ncat,dog,0.5\nold,aged,\n",
    "judged.jsonl": '{"text": "a cat", "start": 2, "word": "cat", "replacement": "Cat", "right": 1}\n'
    '{"text": "a cat", "start": 0, "word": "a", "replacement": "an", "right": false, "tag": "DT"}\n',
    "inputs.jsonl": '{"word": "sat", "children": [{"words": ["cat", "dog"]}, {"word": "."}]}\n',
    "rules.json": '{"rules": [{"when": {"property": "*", "value": ["good"]}, "display": ["bw=u"]}]}',
    "settings.toml": 'title = "T"\npoints = 5\n[[questions]]\nname = "q"\ntext = "Q?"\n'
    'labels = {1 = "bad", 5 = "good"}\n[[checks]]\ntext = "x"\nexpected = {q = 1}\n',
    "talk.TextGrid": TEXTGRID,
    "testbed.xml": '<regression><item numOfParses="1" string="the fern_H* likes LH% shade .">'
    '<lf><node id="l:like" pred="like" info="rh"><rel name="Actor"><node id="f" pred="fern"/></rel>'
    "</node></lf></item></regression>",
    "entries-a.yaml": YAML,
    "lexicon.xml": '<LexicalResource><Lexicon id="x"><LexicalEntry id="e"><Lemma writtenForm="car" '
    'partOfSpeech="n"/><Form writtenForm="cars"/><Sense id="s" synset="y"><Count>3</Count></Sense>'
    "</LexicalEntry></Lexicon></LexicalResource>",
    "model.arpa": "\\data\\\nngram 1=4\nngram 2=2\n\n\\1-grams:\n-1.0\t<unk>\n-99\t<s>\t-0.3\n"
    "-0.5\t</s>\n-0.7\ta\t-0.2\n\n\\2-grams:\n-0.2\t<s> a\n-0.3\ta </s>\n\n\\end\\\n",
}
VALUES: dict[str, Any] = {
    "pairs.json": [
        {
            "eng_sent": "a b",
            "mt_sent": "a b",
            "pert_sent": "a",
            "pert_name": "x",
            "severity": "minor",
        }
    ],
    "inspect.json": inspect_log("m", [sample(1, "yes", "C"), sample(2, "no", {"tone": 3})]),
    "promptfoo.json": {
        "results": {"version": 3, "results": [promptfoo_row(0, "p:a", {"x": 1}, 1)]}
    },
    "deepeval.json": deepeval_run(["Paris", "Rome"], hyperparameters={"model": "m"}),
    "ragas.json": RAGAS_ROWS,
    "appraise_batches.json": BATCHES,
    "label_studio.json": [
        task({"item": 7, "system": "A"}, result("quality", "rating", {"rating": 4})),
        task({"item": 7, "system": "B"}, result("f", "choices", {"choices": ["3 – so-so"]})),
    ],
}
MT_METRICS_EVAL = {
    "sources/de-en.txt": "eins\nzwei\n",
    "references/de-en.refA.txt": "one\ntwo\n",
    "system-outputs/de-en/sys.v1.txt": "uno\n[No translation supplied]\n",
    "documents/de-en.docs": "news doc1\nchat doc2\n",
    "human-scores/de-en.mqm.seg.score": "sys.v1 -1.5\nsys.v1 None\n",
}


def write_good_files(folder: Path) -> None:
    """All of them, each by a name of its own; those that belong together in a folder of their own."""
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    for name, value in VALUES.items():
        (folder / name).write_text(json.dumps(value), encoding="utf-8")
    for suffix in ("jsonl", "csv", "tsv", "parquet"):
        write_evalset(EVALSET, folder / f"evalset.{suffix}")
        write_judgments(RATINGS, folder / f"judgments.{suffix}")
    write_evalset(DISPLAYS, folder / "displays.jsonl")
    (folder / "a.txt.gz").write_bytes(gzip.compress((folder / "a.txt").read_bytes(), mtime=0))
    (folder / "a.txt.xz").write_bytes(lzma.compress((folder / "a.txt").read_bytes()))
    eaf(folder)
    with zipfile.ZipFile(folder / "log.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        log = VALUES["inspect.json"]
        archive.writestr("header.json", json.dumps({**log, "samples": None}))
        archive.writestr("samples/1_epoch_1.json", json.dumps(log["samples"][0]))
    (folder / "fitted.json").write_text(EQUATION_4.to_json(), encoding="utf-8")
    for name, text in MT_METRICS_EVAL.items():
        path = folder / "wmt99" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "ann").mkdir()
    (folder / "ann" / "annotated_instances.jsonl").write_text(
        potato_line("7::A", {"quality": {"scale_4": "4"}})
    )
    (folder / "dict").mkdir()
    write_wordnet(folder / "dict")
    (folder / "xtag").mkdir()
    write_grammar(folder / "xtag")
