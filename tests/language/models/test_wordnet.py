"""On a WordNet of a few words written by the test, and on Debian's WordNet 3.0."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.programs import WORDNET, needs
from wellput.core.errors import InputError
from wellput.language.models.inflection import LemmaAnalysis
from wellput.language.models.wordnet import WordNet, open_wordnet, with_capitals_of
from wellput.language.models.wordnet_files import CATEGORIES, Category, lines_beginning

LICENSE = "  1 Whatever stands here is indented.  \n"
# Category → synsets; a word's senses rank in the order of its synsets.
SYNSETS: dict[Category, list[list[str]]] = {
    "noun": [["car", "auto", "automobile"], ["car", "railway_car"], ["child", "kid"], ["Paris"]],
    "verb": [["walk", "go_on_foot"], ["take", "choose"], ["saw", "cut"], ["see", "behold"]],
    "adj": [["happy", "glad(p)", "felicitous"]],
    "adv": [["quickly", "fast"]],
}
EXCEPTIONS = {
    "noun": "children child\n",
    "verb": "saw see\nseen see\nwent_on_foot go_on_foot\n",
    "adj": "happier happy\n",
}
# Sense keys, rank, count. The second sense of "car" was never met.
COUNTS = "automobile%1:06:00:: 1 15\ncar%1:06:00:: 1 71\nglad%3:00:00:: 1 4\nkid%1:18:00:: 1 5\n"


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A WNDB folder as wndb(5WN) describes it."""
    folder = tmp_path_factory.mktemp("dict")
    for category, synsets in SYNSETS.items():
        data, offsets = LICENSE, dict[str, list[str]]()
        for members in synsets:
            offset = f"{len(data):08}"
            words = " ".join(f"{word} 0" for word in members)
            data += f"{offset} 06 {category[0]} {len(members):02x} {words} 000 | a gloss  \n"
            for word in members:
                offsets.setdefault(word.partition("(")[0].lower(), []).append(offset)
        index = "".join(
            f"{lemma} {category[0]} {len(of)} 1 @ {len(of)} 0 {' '.join(of)}  \n"
            for lemma, of in sorted(offsets.items())
        )
        (folder / f"data.{category}").write_text(data)
        (folder / f"index.{category}").write_text(LICENSE + index)
    for name, exceptions in EXCEPTIONS.items():
        (folder / f"{name}.exc").write_text(exceptions)
    (folder / "cntlist.rev").write_text(COUNTS)
    return folder


@pytest.fixture(scope="session")
def tiny(folder: Path) -> WordNet:
    return open_wordnet(folder)


@pytest.fixture(scope="session")
def debian() -> WordNet:
    return open_wordnet(WORDNET)


def texts(wordnet: WordNet, word: str, category: Category) -> list[str]:
    return [synonym.text for synonym in wordnet.synonyms(word, category)]


def test_synonyms_come_sense_by_sense_in_the_form_of_the_word(tiny: WordNet) -> None:
    assert texts(tiny, "cars", "noun") == ["autos", "automobiles", "railway cars"]
    assert texts(tiny, "Children", "noun") == ["Kids"]
    assert texts(tiny, "WALKING", "verb") == ["GOING ON FOOT"]
    assert texts(tiny, "happier", "adj") == ["gladder", "more felicitous"]
    assert texts(tiny, "quickly", "adv") == ["fast"]
    assert texts(tiny, "Paris", "noun") == []
    assert texts(tiny, "xyzzy", "noun") == []


def test_the_inflection_says_which_reading_is_meant(tiny: WordNet) -> None:
    # "saw" is a lemma and a past; "walked" a past or a participle.
    assert texts(tiny, "saw", "verb") == ["cut", "beheld"]
    [cut] = tiny.synonyms("saw", "verb", inflection="base")
    [beheld] = tiny.synonyms("saw", "verb", inflection="past")
    assert (cut.text, beheld.text) == ("cut", "beheld")
    assert texts(tiny, "walked", "verb") == ["went on foot"]
    [gone] = tiny.synonyms("walked", "verb", inflection="participle")
    assert gone.text == "gone on foot"
    [chosen] = tiny.synonyms("taken", "verb")
    assert (chosen.text, chosen.inflection) == ("chosen", "participle")


def test_analyses_name_lemma_and_inflection(tiny: WordNet) -> None:
    assert tiny.analyses("saw", "verb") == [
        LemmaAnalysis("saw", "base"),
        LemmaAnalysis("see", "past"),
    ]
    assert tiny.lemmas("went on foot", "verb") == ["go on foot"]
    assert tiny.lemmas("walks", "verb") == ["walk"]
    assert tiny.lemmas("walks", "noun") == []


def test_tag_counts_of_the_word_and_of_its_synonym(tiny: WordNet) -> None:
    counts = {
        synonym.lemma: (synonym.sense.rank, synonym.sense.tag_count, synonym.tag_count)
        for synonym in tiny.synonyms("car", "noun")
    }
    assert counts == {"auto": (1, 71, 0), "automobile": (1, 71, 15), "railway car": (2, 0, 0)}


def test_without_count_files_counts_are_unknown(folder: Path, tmp_path: Path) -> None:
    for file in folder.iterdir():
        if file.name != "cntlist.rev":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    assert {sense.tag_count for sense in open_wordnet(tmp_path).senses("car", "noun")} == {None}
    # index.sense: key, offset, rank, count
    (tmp_path / "index.sense").write_text("car%1:06:00:: 00000039 1 71\n")
    assert [sense.tag_count for sense in open_wordnet(tmp_path).senses("car", "noun")] == [71, 0]


@given(st.text(), st.sampled_from(CATEGORIES))
def test_any_text_has_some_synonyms_or_none(tiny: WordNet, word: str, category: Category) -> None:
    for synonym in tiny.synonyms(word, category):
        assert synonym.text


@given(st.lists(st.text("ab%\x01é", min_size=1)), st.text("ab%\x01é", min_size=1))
def test_bisection_finds_what_a_scan_finds(lines: list[str], prefix: str) -> None:
    rows = sorted(line.encode("latin-1") + b"\n" for line in lines)
    expected = [row for row in rows if row.startswith(prefix.encode("latin-1"))]
    found = list(lines_beginning(b"".join(rows), prefix))
    assert [line.encode("latin-1") for line in found] == expected


def test_capitals_are_taken_over() -> None:
    assert with_capitals_of("Car", "railway car") == "Railway car"
    assert with_capitals_of("CAR", "auto") == "AUTO"
    assert with_capitals_of("car", "Ford") == "Ford"
    assert with_capitals_of("I", "me") == "Me"


def test_a_folder_is_found_where_people_have_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wellput.language.models.wordnet.SYSTEM_FOLDERS", ())
    monkeypatch.delenv("WNHOME", raising=False)
    monkeypatch.setenv("WNSEARCHDIR", str(folder))
    assert open_wordnet().name == str(folder)
    monkeypatch.delenv("WNSEARCHDIR")
    # NLTK leaves its download zipped.
    (tmp_path / "corpora").mkdir()
    with zipfile.ZipFile(tmp_path / "corpora" / "wordnet.zip", "w") as archive:
        for file in folder.iterdir():
            archive.write(file, f"wordnet/{file.name}")
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    assert texts(open_wordnet(), "kids", "noun") == ["children"]


def test_where_there_is_none_the_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wellput.language.models.wordnet.SYSTEM_FOLDERS", ())
    monkeypatch.setattr("wellput.language.models.wordnet.NLTK_NAMES", ())
    monkeypatch.delenv("WNHOME", raising=False)
    monkeypatch.setenv("WNSEARCHDIR", str(tmp_path))
    with pytest.raises(InputError, match="wordnet-base"):
        open_wordnet()
    with pytest.raises(InputError, match=r"is not a WordNet folder: it has no index\.noun"):
        open_wordnet(tmp_path)
    with pytest.raises(InputError, match="no such WordNet"):
        open_wordnet(tmp_path / "absent")


def test_damaged_files_are_reported(folder: Path, tmp_path: Path) -> None:
    for file in folder.iterdir():
        content = file.read_bytes()
        if file.name == "data.noun":
            content = content.replace(b"\n", b"\r\n")
        (tmp_path / file.name).write_bytes(content)
    with pytest.raises(InputError, match=r"data\.noun: no synset at byte .* line ends"):
        open_wordnet(tmp_path).synonyms("auto", "noun")
    for name, content in (("x.zip", b"PK"), ("x.xml", b"<a>"), ("x.xml.gz", b"x"), ("x.txt", b"")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=name):
            open_wordnet(tmp_path / name)


YAML = """\
'''tween':
  r:
    sense:
    - id: '''tween%4:02:00::'
      synset: 00252367-r
between:
  r:
    sense:
    - id: 'between%4:02:00::'
      synset: 00252367-r
lie:
  n:
    sense:
    - derivation:
      - 'lie%2:32:00::'
      id: 'lie%1:10:00::'
      synset: 06769542-n
  v-1:
    form:
    - lain
    - lay
    pronunciation:
    - value: laɪ
    sense:
    - id: 'lie%2:42:00::'
      synset: 02696503-v
prevarication:
  n:
    sense:
    - id: 'prevarication%1:10:00::'
      synset: 06769542-n
rest:
  v:
    sense:
    - id: 'rest%2:42:00::'
      synset: 02696503-v
"""


def test_open_english_wordnet_yaml(tmp_path: Path) -> None:
    (tmp_path / "src" / "yaml").mkdir(parents=True)
    (tmp_path / "src" / "yaml" / "entries-a.yaml").write_text(YAML, encoding="utf-8")
    wordnet = open_wordnet(tmp_path)
    assert texts(wordnet, "lies", "noun") == ["prevarications"]
    assert texts(wordnet, "lain", "verb") == ["rested"]
    assert texts(wordnet, "between", "adv") == ["'tween"]
    assert [sense.tag_count for sense in wordnet.senses("lie", "noun")] == [None]


LMF = """\
<?xml version="1.0" encoding="UTF-8"?>
<LexicalResource><Lexicon id="tiny" language="en">
  <LexicalEntry id="e1"><Lemma writtenForm="goose" partOfSpeech="n"/><Form writtenForm="geese"/>
    <Sense id="s1" synset="y1"><Count>3</Count></Sense></LexicalEntry>
  <LexicalEntry id="e2"><Lemma writtenForm="honker" partOfSpeech="n"/>
    <Sense id="s2" synset="y1"/></LexicalEntry>
  <LexicalEntry id="e3"><Lemma writtenForm="of" partOfSpeech="p"/></LexicalEntry>
  <Synset id="y1" partOfSpeech="n"/>
</Lexicon></LexicalResource>
"""


@pytest.mark.parametrize("name", ["tiny.xml", "tiny.xml.gz"])
def test_wn_lmf(name: str, tmp_path: Path) -> None:
    content = LMF.encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    wordnet = open_wordnet(tmp_path / name)
    assert texts(wordnet, "geese", "noun") == ["honkers"]
    [synonym] = wordnet.synonyms("honker", "noun")
    assert (synonym.text, synonym.tag_count, synonym.sense.tag_count) == ("goose", 3, None)


@needs("WordNet")
def test_debian_wordnet_3_0(debian: WordNet) -> None:
    # grep "^car%1" cntlist.rev: 71 and 2 for the first two of 5 senses in index.noun.
    senses = debian.senses("cars", "noun")
    assert [sense.tag_count for sense in senses] == [71, 2, 0, 0, 0]
    assert senses[0].members == ("car", "auto", "automobile", "machine", "motorcar")
    assert debian.lemmas("admitted", "verb") == ["admit"]
    assert texts(debian, "chose", "verb") == [
        "took",
        "selected",
        "picked out",
        "preferred",
        "opted",
    ]
    assert debian.lemmas("better", "adj") == ["better", "good", "well"]


@needs("WordNet")
@given(st.text())
def test_debian_wordnet_bears_any_word(debian: WordNet, word: str) -> None:
    for category in CATEGORIES:
        debian.synonyms(word, category)


def test_phrases_and_lemmas_are_listed(tiny: WordNet) -> None:
    assert tiny.phrases == {"railway car", "go on foot"}
    assert len(tiny.fingerprint) == 64


def test_the_first_word_of_a_phrasal_verb_is_inflected(tiny: WordNet) -> None:
    assert texts(tiny, "goes on foot", "verb") == ["walks"]
