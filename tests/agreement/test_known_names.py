"""Judgments of systems and items that the evalset does not have are left out, and counted. Where
nothing would be left, they are refused."""

from __future__ import annotations

import shlex

import pytest

from wellput.agreement.exclusions import (
    known_answers,
    parse_exclusion,
    with_unknown_excluded,
    without_excluded,
)
from wellput.agreement.panel import KnownNames, names_of, refuse_unknown
from wellput.cli.agree import command
from wellput.cli.keyword_messages import keywords_as_options
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment, Preference

KNOWN = KnownNames(["careful", "hasty"], {"1", "2"})
RATINGS = [
    Judgment("J1", "1", "careful", "quality", 5),
    Judgment("J1", "1", "carefull", "quality", 4),
    Judgment("J2", "2", "carefull", "quality", 4),
    Judgment("J2", "2", "carefull", "fluency", 4),
    Judgment("J2", "9", "hasty", "fluency", 3),
]


def test_systems_are_looked_up() -> None:
    # In a list, each of a million judgments would be searched among all systems.
    items = [Item("1", {f"s{n}": "a" for n in range(3)}), Item("2", {"t": "b"})]
    known = names_of(EvalSet(items))
    assert list(known.systems) == ["s0", "s1", "s2", "t"]
    assert not isinstance(known.systems, list | tuple)


def test_the_refusal_says_what_to_type() -> None:
    with pytest.raises(InputError) as raised:
        refuse_unknown(RATINGS, KNOWN)
    assert str(raised.value).splitlines()[1:3] == [
        "  system 'carefull' (3 judgments). Did you mean careful? Write it as in the "
        "evalset, or leave it out: "
        "exclude='system=carefull: not in the evalset'",
        "  item '9' (1 judgment). Write it as in the evalset, or leave it out: "
        "exclude='item=9: not in the evalset'",
    ]


def test_where_no_name_is_known_both_sides_are_shown_once() -> None:
    ratings = [
        Judgment("J", item, system, "q", 1)
        for item in ("1.0", "2.0", "10.0")
        for system in ("careful", "hasty")
    ]
    with pytest.raises(InputError) as raised:
        refuse_unknown(ratings, KNOWN)
    assert str(raised.value).splitlines()[1:] == [
        "  none of the 3 items is in the evalset: the judgments have '1.0', '2.0'; the evalset has "
        "'1', '2'. Write them as in the evalset.",
    ]
    choices = [Preference("J", "1", "A", "B", "q", "a"), Preference("J", "9", "A", "B", "q", "a")]
    with pytest.raises(InputError) as raised:
        refuse_unknown(choices, KNOWN)
    assert str(raised.value).splitlines()[1:] == [
        "  none of the 2 systems is in the evalset: the judgments have 'A', 'B'; the evalset has "
        "'hasty', 'careful'. Write them as in the evalset.",
        "  item '9' (1 judgment). Write it as in the evalset, or leave it out: "
        "exclude='item=9: not in the evalset'",
    ]


@pytest.mark.parametrize("name", ["X", "a:b", "it's", 'say "so"', "$HOME", "a b"])
def test_the_exclusion_in_the_message_works(name: str) -> None:
    answer = Judgment("J", "1", name, "q", 1)
    with pytest.raises(InputError) as raised:
        refuse_unknown([answer], KNOWN)
    told = keywords_as_options(str(raised.value), command)
    line = told.splitlines()[1].partition("leave it out: ")[2]
    option, rule = shlex.split(line)
    assert option == "--exclude"
    assert known_answers([answer], [parse_exclusion(rule)], KNOWN)[0] == []


def test_exclusions_are_recorded_for_each_question() -> None:
    rules = [parse_exclusion("system=carefull: a typo"), parse_exclusion("item=9: a draft")]
    kept, left_out = known_answers(RATINGS, rules, KNOWN)
    assert kept == RATINGS[:1]
    assert [(one.system, one.item, one.question, one.n) for one in left_out] == [
        ("carefull", None, "quality", 2),
        ("carefull", None, "fluency", 1),
        (None, "9", "fluency", 1),
    ]


def test_exclusions_of_what_is_known_wait_for_the_panel() -> None:
    rules = [parse_exclusion("judge=J1: slept")]
    assert known_answers(RATINGS[:1], rules, KNOWN) == (RATINGS[:1], [])
    with pytest.raises(InputError, match=r"system 'carefull' \(2 judgments\)"):
        known_answers(RATINGS[:4], [parse_exclusion("system=carefull,judge=J1: slept")], KNOWN)


def test_an_excluded_system_takes_all_its_choices() -> None:
    choices = [
        Preference("J1", "1", "careful", "hasty", "better", "a"),
        Preference("J1", "1", "X", "hasty", "better", "a"),
        Preference("J2", "2", "careful", "X", "better", "tie"),
    ]
    kept, [left_out] = without_excluded(choices, [parse_exclusion("system=X: why")])
    assert kept == choices[:1] and left_out.n == 2
    with pytest.raises(InputError, match="nothing to exclude: no judgment is about Y"):
        without_excluded(choices, [parse_exclusion("system=Y: why")])


def test_a_reason_follows_a_colon_and_a_space() -> None:
    assert parse_exclusion("judge=model:gpt: not a person").judge == "model:gpt"
    assert parse_exclusion("judge=J3:slept").reason == "slept"


def test_the_names_of_an_evalset() -> None:
    items = [Item("1", {"A": "a"}), Item("2", {"A": "a", "B": "b"})]
    known = names_of(EvalSet(items))
    assert list(known.systems) == ["A", "B"] and set(known.items) == {"1", "2"}


def test_unknown_names_become_exclusions_that_are_counted() -> None:
    rules = with_unknown_excluded(RATINGS, [parse_exclusion("judge=J2,system=hasty: slept")], KNOWN)
    _, left_out = without_excluded(RATINGS, rules)
    assert [(one.system, one.item, one.question, one.n) for one in left_out[1:]] == [
        ("carefull", None, "quality", 2),
        ("carefull", None, "fluency", 1),
        (None, "9", "fluency", 1),
    ]
    with pytest.raises(InputError, match="system 'carefull'"):
        with_unknown_excluded(RATINGS[1:], [], KNOWN)
    assert with_unknown_excluded(RATINGS[:1], [], KNOWN) == []
