"""Rules that choose displays, as data: the first rule whose conditions a node meets decides.

`{"when": {"property": "*", "evaluation": ["positive"]}, "display": ["tn=r", "bw=u"]}`: a condition is a
value of a feature, a list of them, or `*` for any. A node that no rule fits has no display.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from wellput.core.displays import MOTIONS, display_code
from wellput.core.errors import InputError, did_you_mean
from wellput.displays.corpus import Corpus, Integers
from wellput.io.files import InputFile, check_readable

SHIPPED = ("foster2008", "foster2008-table1")
ANY = "*"


@dataclass(frozen=True)
class Rule:
    """`when` has the values that each feature may have, None for any."""

    when: Mapping[str, frozenset[Hashable] | None]
    display: int

    def fits(self, features: Mapping[str, Hashable]) -> bool:
        return all(
            features.get(name) is not None and (values is None or features[name] in values)
            for name, values in self.when.items()
        )


def read_rules(name: str) -> list[Rule]:
    """A shipped set of rules by its name, or those of a JSON file."""
    if name in SHIPPED:
        text = (files("wellput.displays") / "rules" / f"{name}.json").read_text(encoding="utf-8")
    else:
        if not name.endswith(".json"):
            raise InputError(
                f"No rules {name!r}.{did_you_mean(name, SHIPPED)} There are {', '.join(SHIPPED)}; a "
                "file of your own must end in .json."
            )
        file = InputFile(name)
        check_readable(file)
        text = b"".join(file.chunks()).decode("utf-8-sig", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is not JSON: {error}.") from None
    entries = value.get("rules") if isinstance(value, dict) else None
    if not isinstance(entries, list) or not entries:
        raise InputError(f'{name} has no rules: it needs "rules": [{{"when": …, "display": …}}].')
    problems: list[str] = []
    rules = [_rule(entry, f"rule {n}", problems) for n, entry in enumerate(entries, start=1)]
    if problems:
        raise InputError.collect(f"{name} has rules that cannot be used:", problems)
    return rules


def _rule(entry: Any, where: str, problems: list[str]) -> Rule:
    when = entry.get("when") if isinstance(entry, dict) else None
    display = entry.get("display") if isinstance(entry, dict) else None
    if not isinstance(when, dict):
        problems.append(f'{where}: "when" must be an object of features and values')
        when = {}
    if not isinstance(display, list):
        problems.append(f'{where}: "display" must be a list of motions')
        display = []
    for motion in display:
        if motion not in MOTIONS:
            hint = did_you_mean(str(motion), list(MOTIONS)) or f" There are {', '.join(MOTIONS)}."
            problems.append(f"{where}: unknown motion {motion!r}.{hint}")
    for name, value in when.items():
        if not all(isinstance(each, str | int | float | bool) for each in _listed(value)):
            problems.append(f"{where}: {name} must be a value, a list of values, or {ANY}")
            when = {}
    return Rule(conditions_of(when), display_code([m for m in display if m in MOTIONS]))


def conditions_of(when: Mapping[str, Any]) -> dict[str, frozenset[Hashable] | None]:
    """The values that each feature may have, None for any.

    >>> conditions_of({"property": "*", "evaluation": "positive"})
    {'property': None, 'evaluation': frozenset({'positive'})}
    """
    return {
        name: None if value == ANY else frozenset(_listed(value)) for name, value in when.items()
    }


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def choose_by_rules(corpus: Corpus, rules: Sequence[Rule]) -> Integers:
    """Each node's display."""
    names = list(dict.fromkeys(name for rule in rules for name in rule.when))
    contexts = corpus.contexts(names)
    chosen = [_first(rules, dict(zip(names, row, strict=True))) for row in contexts.values]
    return np.array(chosen, dtype=np.int64)[contexts.codes]


def _first(rules: Sequence[Rule], features: Mapping[str, Hashable]) -> int:
    return next((rule.display for rule in rules if rule.fits(features)), 0)
