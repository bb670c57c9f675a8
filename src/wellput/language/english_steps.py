"""The files of the shipped English model, in the order in which they are made."""

from __future__ import annotations

from wellput.language.english_training import Step

# A line for each file. Its function writes it and returns what was measured on dev.
STEPS: tuple[Step, ...] = (
    Step(
        "ngrams.wlm",
        "trigram model of words",
        "wellput.language.english_ngrams:make",
        roles=("treebank", "dev", "text"),
    ),
    Step("tagger.wpm", "part-of-speech tagger", "wellput.language.english_trees:make_tagger"),
    Step(
        "parser.wpm",
        "dependency parser",
        "wellput.language.english_trees:make_parser",
        needs=("tagger.wpm",),
    ),
    Step(
        "head_driven.wpm",
        "head-driven parser",
        "wellput.language.english_trees:make_head_driven",
        needs=("ngrams.wlm", "tagger.wpm", "parser.wpm"),
    ),
    Step(
        "tree.wpm",
        "supertags and tree model",
        "wellput.language.english_trees:make_tree_model",
        roles=("treebank",),
    ),
    Step(
        "realizer.wpm",
        "orders of sisters and the baseline LR for realizing",
        "wellput.language.realize.training:make",
        needs=("ngrams.wlm", "tree.wpm"),
    ),
    Step(
        "learned.wpm",
        "learned realizer",
        "wellput.language.realize.learned_training:make",
        needs=("ngrams.wlm",),
    ),
    Step(
        "words.wpm",
        "word list",
        "wellput.language.word_list:make",
        roles=("treebank", "text"),
    ),
    Step(
        "skeletons.wlm",
        "4-gram model of small words and parts of speech",
        "wellput.language.skeletons:make",
        roles=("treebank", "text"),
        needs=("tagger.wpm",),
    ),
    Step(
        "general.wlm",
        "trigram model of general English",
        "wellput.language.general_english:make",
        roles=("ngrams",),
    ),
    Step(
        "fluency.wpm",
        "weights of fluency",
        "wellput.metrics.fluency_training:fluency_step",
        roles=("real", "source"),
        needs=(
            *("ngrams.wlm", "tagger.wpm", "parser.wpm", "words.wpm", "skeletons.wlm"),
            "general.wlm",
        ),
    ),
    Step(
        "gleu-fluency.wpm",
        "plane of gleu-fluency",
        "wellput.metrics.fluency_training:gleu_step",
        roles=("real", "source"),
        needs=("ngrams.wlm", "tagger.wpm", "parser.wpm", "head_driven.wpm"),
    ),
)
