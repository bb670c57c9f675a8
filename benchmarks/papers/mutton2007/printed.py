"""What the paper prints, and the names of its scorers and of ours."""

from __future__ import annotations

from benchmarks.papers.mutton2007.figures import GLEU, SCORERS

NAMES = {
    "log_probability": "Collins / head-driven parser",
    "fragments": "Connexor / transition parser",
    "nulls": "link grammar, nulled tokens",
    "invalid": "link grammar, invalid parses",
    GLEU: "GLEU",
}
BRIEF = {
    "log_probability": "log probability",
    "fragments": "fragments",
    "nulls": "nulled tokens",
    "invalid": "invalid parses",
    GLEU: "GLEU",
}
FEATURES = tuple(scorer for scorer in SCORERS if scorer != GLEU)
TABLE_2 = {
    "log_probability": 0.3101,
    "fragments": -0.2332,
    "nulls": -0.3204,
    "invalid": 0.1776,
    GLEU: 0.4144,
}
TABLE_4 = {
    "log_probability": 0.4057,
    "fragments": -0.3804,
    "nulls": -0.3310,
    "invalid": 0.1619,
    GLEU: 0.4606,
}
TABLE_5 = {
    "log_probability": 0.3057,
    "fragments": -0.3445,
    "nulls": -0.2939,
    "invalid": 0.1854,
    GLEU: 0.4014,
}
TABLE_8 = {
    "log_probability": 0.1898,
    "fragments": -0.3632,
    "nulls": -0.4803,
    "invalid": 0.1774,
    GLEU: 0.4738,
}
TABLE_9 = {
    "log_probability": 0.2313,
    "fragments": -0.2042,
    "nulls": -0.1289,
    "invalid": -0.0084,
    GLEU: 0.4312,
}
TABLE_6 = {
    "log_probability": (0.52, 0.48, 0.41, 0.60, 0.57, 0.36),
    "fragments": (0.12, 0.16, 0.24, 0.26, 0.25, 0.43),
    "nulls": (0.02, 0.06, 0.10, 0.09, 0.11, 0.18),
    "invalid": (0.78, 0.67, 0.56, 0.62, 0.66, 0.53),
    GLEU: (1.07, 0.32, -0.96, 0.28, -0.06, -2.48),
}
KINDS = ("24", "8", "1", "pos", "supertag", "cfg")
FIRST_TRIAL = ("1", "2", "4", "8", "24")
BETWEEN = {"first": (0.8749, 0.4710, 0.7040, 0.0813), "second": (0.9048, 0.3318, 0.7250, 0.0980)}
