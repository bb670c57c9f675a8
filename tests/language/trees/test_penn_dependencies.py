"""Penn brackets to dependencies with relations, worked by hand."""

from __future__ import annotations

import pytest

from wellput.core.errors import InputError
from wellput.io.trees import parse_constituent
from wellput.language.trees.penn_dependencies import labeled_dependencies
from wellput.language.trees.projectivity import is_projective


def relations(brackets: str) -> list[tuple[str, str, str]]:
    """Each word with its head word and its relation."""
    tree = labeled_dependencies(parse_constituent(brackets))
    assert is_projective(tree)
    forms = ["ROOT", *(word.form for word in tree.words)]
    return [(word.form, forms[word.head], word.relation) for word in tree.words]


def test_figure_2_of_the_paper() -> None:
    brackets = """(S (NP-SBJ (EX There)) (VP (VBD was) (NP-PRD (NP (DT no) (NN cost) (NN estimate))
        (PP (IN for) (NP (DT the) (JJ second) (NN phase))))))"""
    assert relations(brackets) == [
        ("There", "estimate", "expl"),
        ("was", "estimate", "cop"),
        ("no", "estimate", "det"),
        ("cost", "estimate", "compound"),
        ("estimate", "ROOT", "root"),
        ("for", "estimate", "nmod"),
        ("the", "phase", "det"),
        ("second", "phase", "amod"),
        ("phase", "for", "obj"),
    ]


@pytest.mark.parametrize(
    ("brackets", "expected"),
    [
        pytest.param(
            "(S (NP-SBJ (PRP They)) (VP (MD may) (RB not) (VP (VB have) (VP (VBN left)"
            " (NP-TMP (NN today))))))",
            "They<left nsubj, may<left aux, not<left advmod, have<left aux, left<ROOT root,"
            " today<left obl:tmod",
            id="auxiliaries hang on the verb",
        ),
        pytest.param(
            "(S (NP-SBJ (NN man) (, ,) (SBAR (WHNP-1 (WP who)) (S (NP-SBJ (-NONE- *T*-1))"
            " (VP (VBD sang))))) (VP (VBD gave) (NP (PRP us)) (NP (NNS songs))))",
            "man<gave nsubj, ,<man punct, who<sang nsubj, sang<man acl:relcl, gave<ROOT root,"
            " us<gave iobj, songs<gave obj",
            id="a relative pronoun's relation is that of its trace",
        ),
        pytest.param(
            "(S (NP-SBJ (NP (NNP Ann) (POS 's)) (NN dog)) (VP (VBZ wants) (S (NP-SBJ (-NONE- *))"
            " (VP (TO to) (VP (VB eat))))))",
            "Ann<dog nmod:poss, 's<Ann case, dog<wants nsubj, wants<ROOT root, to<eat mark,"
            " eat<wants xcomp",
            id="possessives, and clauses without a subject",
        ),
        pytest.param(
            "(S (NP-SBJ (PRP He)) (VP (VBD said) (SBAR (IN that) (S (NP-SBJ (PRP it)) (VP (VBD rained)"
            " (SBAR-TMP (IN while) (S (NP-SBJ (PRP he)) (VP (VBD slept)))))))))",
            "He<said nsubj, said<ROOT root, that<rained mark, it<rained nsubj, rained<said ccomp,"
            " while<slept mark, he<slept nsubj, slept<rained advcl",
            id="subordinate clauses head their subordinators",
        ),
        pytest.param(
            "(S (NP-SBJ (NP (NNS cats)) (, ,) (NP (JJ big) (NNS dogs)) (CC and) (NP (NNS birds)))"
            " (VP (VBP sing)))",
            "cats<sing nsubj, ,<cats punct, big<dogs amod, dogs<cats conj, and<birds cc,"
            " birds<cats conj, sing<ROOT root",
            id="the first conjunct is the head, a conjunction hangs on the next one",
        ),
        pytest.param(
            "(NP (NN bread) (CC and) (NN butter))",
            "bread<ROOT root, and<butter cc, butter<bread conj",
            id="conjoined words",
        ),
        pytest.param(
            "(S (NP-SBJ (DT This)) (VP (MD will) (VP (VB be) (ADJP-PRD (RB very) (JJ good)))))",
            "This<good nsubj, will<good aux, be<good cop, very<good advmod, good<ROOT root",
            id="a predicative adjective",
        ),
    ],
)
def test_relations(brackets: str, expected: str) -> None:
    found = relations(brackets)
    assert ", ".join(f"{form}<{head} {name}" for form, head, name in found) == expected


@pytest.mark.parametrize(
    ("brackets", "subjects"),
    [
        ("(S (NP (DT A) (NN dog)) (VP (VBZ barks)) (. .))", "dog"),
        ("(S (PP (IN On) (NP (NNP May))) (, ,) (NP (PRP she)) (VP (VBD saw) (NP (PRP him))))", "she"),
        ("(SBARQ (WHNP (WP What)) (SQ (VBD did) (NP (PRP he)) (VP (VB see))) (. ?))", "he"),
        ("(SBARQ (WHNP (WP Who)) (SQ (VP (VBD left))) (. ?))", "Who"),
        ("(S (NP (PRP I)) (VP (VBP know) (SBAR (WHNP (WP what)) (S (VP (TO to) (VP (VB do)))))))", "I"),
        ("(NP (NP (NNS dogs)) (SBAR (WHNP (WDT that)) (S (VP (VBP bark)))))", "that"),
        ("(SINV (ADVP (RB Here)) (VP (VBZ comes)) (NP (DT the) (NN bus)))", "bus"),
        ("(S (VP (VB Go)) (. !))", ""),
        # Where one subject is tagged, nothing is added.
        ("(S (NP (NN Today)) (NP-SBJ (-NONE- *)) (VP (VBD rained)))", ""),
    ],
)  # fmt: skip
def test_subjects_without_function_tags(brackets: str, subjects: str) -> None:
    found = [form for form, _, name in relations(brackets) if name == "nsubj"]
    assert " ".join(found) == subjects


def test_an_existential_there_needs_no_function_tag() -> None:
    found = relations("(S (NP (EX There)) (VP (VBD was) (NP (DT no) (NN cost))))")
    assert next((form, name) for form, _, name in found) == ("There", "expl")


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        # If the rules searched all parts for each part, each of these would take many seconds.
        ("(VP (VBD saw) {})", {"saw": "root", "a": "iobj", "last": "obj"}),
        ("(NP (NN b) {})", {"b": "root", "a": "appos", "last": "appos"}),
        ("(NP (NP (NN b)) (, ,) {})", {"b": "root", ",": "punct", "a": "appos", "last": "appos"}),
        ("(NP (NP (NN b)) (CC and) {})", {"b": "root", "and": "cc", "a": "conj", "last": "conj"}),
        ("(S (VP (VBZ is)) {} (CC or))", {"is": "root", "a": "iobj", "last": "obj", "or": "cc"}),
    ],
)  # fmt: skip
def test_phrases_of_many_parts(parts: str, expected: dict[str, str]) -> None:
    many = "(NP (NN a)) " * 6000 + "(NP (NN last))"
    found = relations(parts.format(many))
    assert len(found) > 6000
    assert {form: name for form, _, name in found} == expected


@pytest.mark.parametrize(
    ("brackets", "expected"),
    [
        pytest.param(
            "(VP (VB go) (, ,) (VB buy) (CC and) (RB then) (VB cook) (VB eat) (. .))",
            ",<go punct, buy<go conj, and<eat cc, then<eat advmod, cook<eat aux, eat<go conj,"
            " .<go punct",
            id="among words the last one is the conjunct",
        ),
        pytest.param(
            "(NP (NN bread) (CC or) (NP (NN salt)) (CC and) (JJ good) (NP (NN oil)))",
            "or<salt cc, salt<bread appos, and<oil cc, good<oil amod, oil<bread conj",
            id="each conjunction depends on the conjunct after it",
        ),
        pytest.param(
            "(VP (VB go) (CONJP (RB as) (RB well)) (RB now) (CC and) (, ,))",
            "as<well advmod, well<now cc, now<go conj, and<go cc, ,<go punct",
            id="a conjunction with only punctuation after it depends on the head",
        ),
    ],
)
def test_what_is_between_conjuncts(brackets: str, expected: str) -> None:
    found = [word for word in relations(brackets) if word[2] != "root"]
    assert ", ".join(f"{form}<{head} {name}" for form, head, name in found) == expected


def test_a_constituent_without_words_is_refused() -> None:
    with pytest.raises(InputError, match="no words"):
        labeled_dependencies(parse_constituent("(S (NP (-NONE- *)) (VP (-NONE- *)))"))
