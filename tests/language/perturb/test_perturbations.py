"""Every kind of change, on sentences whose right result is plain."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from wellput.core.errors import InputError
from wellput.language.perturb.catalog import (
    PERTURBATIONS,
    SEVERITIES,
    KindAndSeverity,
    chosen_perturbations,
    perturbed,
)
from wellput.language.perturb.passage import (
    Edit,
    Passage,
    PassageSentence,
    PlacedWord,
    Surroundings,
    parse_passages,
)
from wellput.language.perturb.word_lists import spellings, table_lines, word_pairs

FERRY = "The old ferry to the island leaves from the second pier at noon today."

ONE_RESULT = [
    ("negation", "She has paid the bill.", "She has not paid the bill."),
    ("negation", "We can help you.", "We cannot help you."),
    ("negation", "The ferry left the harbor.", "The ferry did not leave the harbor."),
    ("negation", "They did not agree to the plan.", "They did agree to the plan."),
    ("negation", "He won't come today.", "He will come today."),
    ("antonym", "It was a safe bridge.", "It was a dangerous bridge."),
    ("antonym", "He saw a new boat.", "He saw an old boat."),
    ("antonym", "It was a GOOD idea.", "It was a BAD idea."),
    ("pronoun", "He lost his key.", "She lost her key."),
    ("swapped-arguments", "The police arrested the driver.", "The driver arrested the police."),
    ("omitted-subject", "The old man left early.", "Left early."),
    ("omitted-verb", "The ferry leaves the harbor at noon.", "The ferry the harbor at noon."),
    ("omitted-adverb", "The ferry quickly left the harbor.", "The ferry left the harbor."),
    ("omitted-phrase", "The ferry left the harbor at noon.", "The ferry left the harbor."),
    ("agreement", "The boats are late.", "The boats is late."),
    ("agreement", "She walks to work.", "She walk to work."),
    ("empty", "Any text.", ""),
    ("synonym", "The big ship arrived.", "The large ship arrived."),
    (
        "passive",
        "The committee approved the plan in May.",
        "The plan was approved by the committee in May.",
    ),
    (
        "passive",
        "The company will publish the results.",
        "The results will be published by the company.",
    ),
    ("passive", "Madagascar signed the contract.", "The contract was signed by Madagascar."),
    (
        "clause-order",
        "We stayed at home because it rained.",
        "Because it rained, we stayed at home.",
    ),
    ("clause-order", "If it rains, we stay at home.", "We stay at home if it rains."),
    ("spelling", "The colour of the harbor is grey.", "The color of the harbour is gray."),
    ("contraction", "I do not know the answer.", "I don't know the answer."),
    ("contraction", "They're late for dinner.", "They are late for dinner."),
    ("quotes", 'He said "yes" and didn\'t stop.', "He said “yes” and didn’t stop."),
    ("quotes", "He said “yes” and didn’t stop.", 'He said "yes" and didn\'t stop.'),
    ("casing", "The Ferry left.", "the ferry left."),
    ("number-words", "We saw 3 boats.", "We saw three boats."),
    ("number-words", "About 5% of them were late.", "About 5 percent of them were late."),
    ("number-words", "We counted 1,000 birds.", "We counted 1000 birds."),
    ("list-comma", "We bought apples, pears and plums.", "We bought apples, pears, and plums."),
]


@pytest.fixture(scope="module")
def passages() -> dict[str, Passage]:
    texts = [text for _, text, *_ in [*ONE_RESULT, *NO_PLACE]]
    return dict(zip(texts, parse_passages(texts), strict=True))


def changed(kind: str, passage: Passage) -> str | None:
    one = PERTURBATIONS[kind]
    return one.apply(one.severities[0], passage, Surroundings(), np.random.default_rng(1))


@pytest.mark.parametrize(("kind", "text", "expected"), ONE_RESULT)
def test_a_change_with_one_possible_result(
    kind: str, text: str, expected: str, passages: dict[str, Passage]
) -> None:
    assert changed(kind, passages[text]) == expected


NO_PLACE = [
    ("negation", "Will she come?"),
    ("number", "No number is here."),
    ("number", "2. Open the lid."),
    ("pronoun", "They lost their key."),
    ("negation", '"The price is right," the mayor said.'),  # what was said would stay as it is
    ("swapped-arguments", "The witness alleges Young flew to Rome."),  # a clause is no object
    ("swapped-arguments", "The president cut short a visit to Rome."),  # "short" is no part of it
    ("swapped-arguments", "The government said nothing in public."),
    ("swapped-arguments", "Congress passed restrictions."),  # restrictions pass Congress, too
    ("passive", "The company sent the users a letter."),  # two objects
    ("clause-order", "The tower in the fog before the bridge was built."),  # no main verb
    ("swapped-arguments", "The meeting took place."),  # no meaning of its own when swapped
    ("swapped-arguments", "The museum opens this week."),  # a time is no object
    ("passive", "The boat has a mast."),  # verbs of having are not made passive
    ("passive", "The committee approved the plan of May."),  # May may belong to the verb
    ("antonym", "He visited his first cousins."),
    ("antonym", "We met him last Saturday."),
    ("clause-order", "If John comes, he will stay."),  # he would no longer be John
    ("list-comma", "According to a report from Reuters, Harry and Meghan have left."),
    ("list-comma", "The story was told to Reuters, by Mao Siqian and Bai Yu."),
    ("clause-order", "The rate was the highest since last October when sales fell."),
    ("clause-order", "I love it when it rains."),
    ("clause-order", "The experts were divided on when the bank would act."),
    ("clause-order", "Horizon shares fell because the bank failed."),  # a name, or not
    ("clause-order", "The trial began just months before the bank failed."),
    ("clause-order", "Although rates are low, economists warned."),
    ("passive", "The board approved the purchase of the bank by Laidlaw."),
    ("passive", "The accident caused the highway to close for two hours."),
    ("passive", "The host attacked the guest, and the latter left."),
    ("agreement", "He's late."),
    ("contraction", "I know who they are."),
    ("quotes", "The board is 5' long."),
    ("pronoun", "Every pilot knows what he or she has to do."),  # the order says nothing
    ("negation", 'They sang "Can\'t Stop" twice.'),  # a title
    ("antonym", "He was under suspicion."),
    ("antonym", "The team lost 0:3."),  # a score that is won or gained is another one
    ("omitted-verb", "The town is located in Iowa."),  # "The town is in Iowa" says the same
    ("omitted-adverb", "She also sang a song."),  # too little is lost
    ("omitted-adverb", "The boat left ahead of us."),
    ("omitted-adverb", "The last song was Universally Speaking."),
    ("omitted-phrase", "At least three people sang."),
    ("omitted-phrase", "The ferry was billed as a hotel."),
    ("omitted-phrase", "The song looks like a hymn."),
    ("agreement", "The US has won."),  # "the US have" is also right
    ("passive", "The company opened more stores than the bank."),
    ("passive", "Each side attacked the port."),
    ("clause-order", "The warning was canceled soon after the storm made landfall."),
    ("clause-order", "The minister may only stay if the house supports the plan."),
    ("clause-order", "It grants the officials a payment if they leave."),
    ("clause-order", "The comment came after ministers endorsed the plan."),
    ("swapped-arguments", "The rise represents the increase."),  # both sentences say the same
    ("swapped-arguments", "The company agreed this weekend to sell it."),
    ("list-comma", "The ships were sold to Goldman, Sachs and Co."),
    ("list-comma", "They bought the stock, subject to approval and other factors."),
    ("casing", "The US won."),
    ("source-copy", "There is no source."),
    ("unrelated", "There is no other text."),
]


@pytest.mark.parametrize(("kind", "text"), NO_PLACE)
def test_a_change_that_cannot_be_made_is_left_out(
    kind: str, text: str, passages: dict[str, Passage]
) -> None:
    assert changed(kind, passages[text]) is None


def test_numbers_and_names_become_others_of_their_kind() -> None:
    kinds = [PERTURBATIONS["number"], PERTURBATIONS["name"]]
    for made in perturbed(["Anna paid 30 euros."] * 20, kinds):
        words = made[KindAndSeverity("number", "critical")].split()
        assert words[:2] == ["Anna", "paid"]
        assert words[2].isdecimal()
        assert words[2] != "30"
        assert words[3] == "euros."
        name = made[KindAndSeverity("name", "critical")].split()[0]
        assert name != "Anna"
        assert any(name in group and "Anna" in group for group in table_lines("names.tsv"))


def test_a_name_outside_the_lists_becomes_another_name_of_the_corpus() -> None:
    texts = ["We sailed to Gull Island.", "We sailed to Thorn Island."] * 2
    made = perturbed(texts, [PERTURBATIONS["name"]])
    assert [list(own.values()) for own in made[:2]] == [[texts[1]], [texts[0]]]


def test_a_person_never_becomes_a_place() -> None:
    texts = [
        "Kovac died last year.",
        "They saw Kovac at noon.",
        "They live in Eggenfelden.",
        "They saw Eggenfelden at noon.",
        "Miranchuk died last week.",
        "They saw Miranchuk at noon.",
        "They saw Fuenlabrada at noon.",
        "They saw Fuenlabrada again.",
    ]
    for seed in range(10):
        made = perturbed(texts, [PERTURBATIONS["name"]], seed=seed)
        assert [list(own.values()) for own in made] == [
            ["Miranchuk died last year."],
            ["They saw Miranchuk at noon."],
            [],
            [],
            ["Kovac died last week."],
            ["They saw Kovac at noon."],
            [],  # nothing shows what it is
            [],
        ]


def test_a_phrase_with_one_bracket_stays() -> None:
    text = "The accident occurred at noon (13:25 in Moscow) near the village."
    for seed in range(10):
        (made,) = perturbed([text], [PERTURBATIONS["omitted-phrase"]], seed=seed)
        left = made[KindAndSeverity("omitted-phrase", "major")]
        assert left.count("(") == left.count(")")


def words(text: str) -> list[str]:
    return text.lower().rstrip(".").split()


def test_degrees_do_more_and_more_harm() -> None:
    kinds = [PERTURBATIONS[kind] for kind in ("word-order", "truncation", "misspelling")]
    text = f"{FERRY[:-1]} because another vessel blocked the entrance."
    (made,) = perturbed([text], kinds)
    original = words(text)
    moved = [
        sum(
            a != b
            for a, b in zip(
                original, words(made[KindAndSeverity("word-order", degree)]), strict=True
            )
        )
        for degree in ("minor", "major", "critical")
    ]
    assert moved[0] == 2
    assert 3 <= moved[1] <= 4
    assert moved[2] >= 0.7 * len(original)
    for degree in ("minor", "major", "critical"):
        assert sorted(words(made[KindAndSeverity("word-order", degree)])) == sorted(original)
    cut = [
        len(words(made[KindAndSeverity("truncation", d)])) for d in ("minor", "major", "critical")
    ]
    # 20 words: 85, 60 and 30 percent of them are kept.
    assert len(original) == 20
    assert cut == [17, 12, 6]
    wrong = [
        len(set(words(made[KindAndSeverity("misspelling", d)])) - set(original))
        for d in ("minor", "major", "critical")
    ]
    assert wrong == [1, 3, 6]


def test_repetition_and_addition_only_add() -> None:
    kinds = [PERTURBATIONS["repetition"], PERTURBATIONS["addition"]]
    (made, _) = perturbed([FERRY, "Nobody came."], kinds)
    added = {str(variant): len(text.split()) - len(FERRY.split()) for variant, text in made.items()}
    assert added["repetition/minor"] == 1
    assert added["repetition/major"] == 3
    assert added["repetition/critical"] == 16
    assert made[KindAndSeverity("addition", "critical")] == f"{FERRY} Nobody came."
    assert made[KindAndSeverity("addition", "major")].startswith(f"{FERRY[:-1]}, ")


def test_the_source_and_other_texts_are_used() -> None:
    kinds = [PERTURBATIONS["source-copy"], PERTURBATIONS["unrelated"]]
    made = perturbed(["One.", "Two."], kinds, sources=["Eins.", "Two."])
    assert [{str(v): t for v, t in own.items()} for own in made] == [
        {"source-copy/base": "Eins.", "unrelated/base": "Two."},
        {"unrelated/base": "One."},
    ]


def test_the_same_seed_gives_the_same_texts_whatever_else_is_asked_for() -> None:
    alone = perturbed([FERRY], [PERTURBATIONS["misspelling"]], seed=3)
    together = perturbed([FERRY], list(PERTURBATIONS.values()), seed=3)
    assert alone[0].items() <= together[0].items()
    assert alone != perturbed([FERRY], [PERTURBATIONS["misspelling"]], seed=4)


HOSTILE = [
    "",
    " ",
    "...",
    "!!!",
    "😀 😀",
    "a",
    "\n\n",
    "中文没有空格。",
    "x" * 500,
    "I'm 'I' \"I",
    "-- - /",
]


def test_no_text_breaks_a_change() -> None:
    made = perturbed(HOSTILE, list(PERTURBATIONS.values()), sources=["s"] * len(HOSTILE))
    for text, own in zip(HOSTILE, made, strict=True):
        assert text not in own.values()
        if not text.strip():
            assert own == {}


def test_everything_else_in_the_text_stays() -> None:
    text = "First line.\n\nHe  left\tat 8:30.  \n"
    (made,) = perturbed([text], [PERTURBATIONS["number"]])
    assert list(made.values()) == [text.replace("8:30", "6:30")]


def test_words_know_their_places() -> None:
    (passage,) = parse_passages(["It's “late”.  Don't wait."])
    for word in passage.words:
        assert passage.text[word.begin : word.end] == word.form
    assert passage.edited([Edit(0, 2, "That")]) == "That's “late”.  Don't wait."


def test_names_choose_kinds_and_groups() -> None:
    assert [one.name for one in chosen_perturbations(["casing", "casing"])] == ["casing"]
    harmless = chosen_perturbations(["harmless"])
    harmful = chosen_perturbations(["harmful"])
    assert {one.name for one in harmless + harmful} == set(PERTURBATIONS)
    assert all(one.is_harmless for one in harmless)
    assert chosen_perturbations([]) == list(PERTURBATIONS.values())
    with pytest.raises(InputError, match="Did you mean negation"):
        chosen_perturbations(["negatoin"])


def test_word_lists_are_in_order() -> None:
    for name in ("antonyms.tsv", "synonyms.tsv"):
        pairs = word_pairs(name)
        assert all(word not in others for (word, _), others in pairs.items())
    assert all(spellings()[other] == word for word, other in spellings().items())
    assert all(set(one.severities) <= set(SEVERITIES) for one in PERTURBATIONS.values())


PAGE = Path(__file__).parents[3] / "docs" / "perturbations.md"


def rows_of_the_page() -> list[tuple[str, str, str, str]]:
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
    ]
    return [
        (kind.strip("`"), severity, before, after) for kind, severity, before, after, _ in cells
    ]


def test_the_page_has_every_kind_and_true_examples() -> None:
    rows = rows_of_the_page()
    assert {kind for kind, *_ in rows} == set(PERTURBATIONS)
    passages = parse_passages([before for _, _, before, _ in rows])
    given = Surroundings("Die Fähre ist weg.", ["It rained all day."])
    for (kind, severity, _, after), passage in zip(rows, passages, strict=True):
        one = PERTURBATIONS[kind]
        (own,) = [known for known in one.severities if known == severity]
        made = {one.apply(own, passage, given, np.random.default_rng(seed)) for seed in range(300)}
        assert (after if after != "(nothing)" else "") in made, (kind, made)


def test_half_a_name_and_an_exclamation_are_no_names() -> None:
    """*Coca* of *Coca-Cola* replaces no name; *Jackass.* is replaced by none."""
    texts = [
        "We met Kovac at the pier.",
        "We met Dortmund at the pier.",
        "Dortmund saw Kovac at noon.",
        "Everybody drinks Coca-Cola here.",
        "They sell Coca-Cola here.",
        "Jackass.",
    ]
    for seed in range(20):
        made = perturbed(texts, [PERTURBATIONS["name"]], seed=seed)
        assert KindAndSeverity("name", "critical") not in made[-1]
        assert not any("Coca" in text for own in made[:3] for text in own.values())


@pytest.mark.parametrize("kind", ["negation", "agreement"])
def test_a_verb_with_a_wrong_lemma_is_left_alone(kind: str) -> None:
    """*did not repeate* would be no English; a parser may give such a lemma."""
    forms = [("He", "PRP", "he", 1, "nsubj"), ("repeats", "VBZ", "repeate", -1, "root"),
             ("it", "PRP", "it", 1, "obj")]  # fmt: skip

    def passage(lemma: str) -> Passage:
        words, begin = [], 0
        for form, tag, own, head, relation in forms:
            used = lemma if own == "repeate" else own
            words.append(PlacedWord(form, begin, begin + len(form), tag, used, head, relation))
            begin += len(form) + 1
        return Passage("He repeats it", (PassageSentence(tuple(words)),))

    assert changed(kind, passage("repeate")) is None
    assert changed(kind, passage("repeat")) is not None
