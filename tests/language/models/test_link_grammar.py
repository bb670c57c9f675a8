"""Against the real library, 5.12.0: hand-checked sentences, hostile ones, and processes that die."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.programs import needs
from wellput.core.errors import InputError, WellputError
from wellput.language.models import link_grammar, link_worker
from wellput.language.models.link_grammar import LinkGrammar, LinkParse, cleaned

pytestmark = needs("link grammar")

WORDS = (
    *("the", "of", "a", "cat", "that", "which", "to", "and", "runs", "sees", "big", "house"),
    *("with", "on", "in", "he", "she", "because", "was", "been"),
)


@pytest.fixture(scope="module")
def grammar() -> Iterator[LinkGrammar]:
    with LinkGrammar(workers=2, timeout=1) as pool:
        yield pool


def salad(words: int, seed: int) -> str:
    chosen = random.Random(seed)
    return " ".join(chosen.choice(WORDS) for _ in range(words))


def mixed(n: int) -> list[str]:
    """Sound sentences and word salads of 3 to 12 words, an empty one, a pathological one of 200."""
    sound = "Sentence {} says that the big cat sat on the mat because it was warm ."
    sentences = [sound.format(i) if i % 2 else salad(3 + i % 10, i) for i in range(n)]
    sentences[n // 3] = ""
    sentences[n // 2] = salad(200, seed=1)
    return sentences


@pytest.mark.parametrize(
    ("sentence", "null_count"),
    [
        ("The cat sat on the mat.", 0),
        ("Colorless green ideas sleep furiously.", 0),
        ("Everybody likes big cakes do", 1),  # one word too many: "do"
        ("This is the the house .", 1),  # either "the"
        ("He have went to school.", 1),  # "He went to school" without "have"
        ("that", 2),  # the word and the wall: nothing is linked
    ],
)
def test_null_counts_are_those_counted_by_hand(
    grammar: LinkGrammar, sentence: str, null_count: int
) -> None:
    [parse] = grammar.parse([sentence])
    assert (parse.status, parse.timeouts, parse.null_count) == ("parsed", 0, null_count)


def test_an_ambiguous_sentence_has_several_linkages_and_a_cost(grammar: LinkGrammar) -> None:
    [parse] = grammar.parse(["He saw the man with the telescope."])
    assert (parse.status, parse.null_count) == ("parsed", 0)
    assert parse.found >= parse.post_processed >= parse.valid >= 2
    assert parse.cost == pytest.approx(-0.61)  # 5.12.0
    assert grammar.version.startswith("link-grammar-5.")


def test_the_invalid_ratio_is_of_those_post_processed() -> None:
    # 1000 of 14,471,040 were post-processed, 3 are valid: 1 - 3/1000, whatever was found.
    parse = LinkParse(
        "…", "parsed", 0, 32, found=14_471_040, post_processed=1000, valid=3, cost=29.6
    )
    assert parse.invalid_ratio == pytest.approx(0.997)
    assert LinkParse("", "empty").invalid_ratio is None


def test_the_linkage_limit_bounds_what_is_post_processed() -> None:
    sentence = "He saw the man with the telescope in the park on the hill by the sea."
    with LinkGrammar(workers=1, linkage_limit=10) as narrow:
        [parse] = narrow.parse([sentence])
    assert parse.found > 10 >= parse.post_processed


def test_results_come_in_order_and_do_not_depend_on_the_number_of_workers(
    grammar: LinkGrammar,
) -> None:
    sentences = [sentence for sentence in mixed(40) if len(sentence) < 200]
    with LinkGrammar(workers=1) as single:
        expected = single.parse(sentences)
    assert [parse.sentence for parse in expected] == sentences
    assert grammar.parse(sentences) == expected


def test_running_out_of_time_is_flagged_and_an_easier_search_tried(grammar: LinkGrammar) -> None:
    [parse] = grammar.parse([salad(200, seed=1)])
    assert parse.timeouts >= 1
    if parse.status == "parsed":  # by the easier search
        assert parse.null_count is not None and parse.null_count > 100
    else:
        assert (parse.status, parse.timeouts) == ("timeout", 3)


def test_sixty_sentences_with_an_empty_and_a_pathological_one(grammar: LinkGrammar) -> None:
    check_all_there(mixed(60), grammar.parse(mixed(60)))


def check_all_there(sentences: list[str], parses: list[LinkParse]) -> None:
    assert [parse.sentence for parse in parses] == sentences
    for parse in parses:
        if parse.sentence == "":
            assert parse == LinkParse("", "empty")
        elif len(parse.sentence.split()) < 100:
            assert parse.status == "parsed"
        else:
            assert parse.timeouts >= 1


@pytest.mark.slow
@pytest.mark.parametrize("killed", [False, True])
def test_a_thousand_sentences(killed: bool) -> None:
    with LinkGrammar(workers=2) as pool:
        done = threading.Event()

        def kill_one_now_and_then() -> None:
            while not done.wait(2.0):
                for pid in pool.pids[:1]:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)

        killer = threading.Thread(target=kill_one_now_and_then)
        if killed:
            killer.start()
        try:
            parses = pool.parse(mixed(1000))
        finally:
            done.set()
        if killed:
            killer.join()
    assert [parse.sentence for parse in parses] == mixed(1000)
    trouble = [parse for parse in parses if parse.status not in ("parsed", "empty")]
    # Killed every two seconds, the pathological sentence may lose both its processes; no other does.
    assert all(len(parse.sentence.split()) == 200 for parse in trouble)


def test_a_killed_process_is_replaced_and_its_sentence_parsed_again() -> None:
    with LinkGrammar(workers=1) as pool:
        _ = pool.version
        [first] = pool.pids
        os.kill(first, signal.SIGSTOP)  # so that it surely dies over the first sentence
        killer = threading.Timer(0.3, os.kill, (first, signal.SIGKILL))
        killer.start()
        cat, cakes = pool.parse(["The cat sat on the mat.", "Everybody likes big cakes do"])
        killer.join()
        assert (cat.status, cat.null_count) == ("parsed", 0)
        assert (cakes.status, cakes.null_count) == ("parsed", 1)
        assert pool.pids != [first]


def test_a_sentence_that_kills_twice_is_flagged_and_not_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    ask = link_grammar.LinkProcess.ask

    def deadly(process: link_grammar.LinkProcess, sentence: str) -> link_worker.LinkAnswer:
        asked.append(sentence)
        if sentence == "Boom.":
            process.close()
            raise link_grammar.WorkerDied
        return ask(process, sentence)

    monkeypatch.setattr(link_grammar.LinkProcess, "ask", deadly)
    with LinkGrammar(workers=1) as pool:
        lost, good = pool.parse(["Boom.", "The cat sat on the mat."])
        assert lost == LinkParse("Boom.", "lost")
        assert good.status == "parsed"
        assert asked == ["Boom.", "Boom.", "The cat sat on the mat."]
        pool.parse(["Boom."])
        assert asked.count("Boom.") == 4


def test_a_process_that_does_not_answer_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    process = link_grammar.LinkProcess({"language": "en", "timeout": 3, "linkage_limit": 100})
    _ = process.version
    stopped = process.pid
    assert stopped is not None
    os.kill(stopped, signal.SIGSTOP)
    monkeypatch.setattr(process, "_answer_limit", 0.2)
    with pytest.raises(link_grammar.NoAnswer):
        process.ask("The cat sat on the mat.")
    monkeypatch.undo()
    assert process.ask("The cat sat on the mat.")["status"] == "parsed"
    assert process.pid != stopped
    process.close()


def test_a_sentence_that_hangs_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def hanging(process: link_grammar.LinkProcess, sentence: str) -> link_worker.LinkAnswer:
        asked.append(sentence)
        process.close()
        raise link_grammar.NoAnswer

    monkeypatch.setattr(link_grammar.LinkProcess, "ask", hanging)
    with LinkGrammar(workers=1) as pool:
        assert pool.parse(["Hang."]) == [LinkParse("Hang.", "timeout", 3)]
        assert pool.parse(["Hang."])[0].status == "timeout"
    assert asked == ["Hang."]


def test_sentences_are_remembered_up_to_the_cache_size(monkeypatch: pytest.MonkeyPatch) -> None:
    with LinkGrammar(workers=1, cache_size=2) as pool:
        asked: list[str] = []
        ask = link_grammar.LinkProcess.ask

        def counting(process: link_grammar.LinkProcess, sentence: str) -> link_worker.LinkAnswer:
            asked.append(sentence)
            return ask(process, sentence)

        monkeypatch.setattr(link_grammar.LinkProcess, "ask", counting)
        pool.parse(["One.", "Two.", "One."])
        pool.parse(["One."])
        pool.parse(["Three."])  # forgets "Two.", asked before "One."
        pool.parse(["One.", "Two."])
        assert asked == ["One.", "Two.", "Three.", "Two."]


@pytest.mark.parametrize(
    ("sentence", "status"),
    [
        ("", "empty"),
        (" \t\n", "empty"),
        ("\0", "empty"),
        ("The cat\0sat.", "parsed"),
        ("😀 likes 👩‍👩‍👧", "parsed"),
        ("שלום עולם", "parsed"),
        ("\u200b", "unparsed"),
        ("lone \ud800 surrogate", "parsed"),
        ("x" * 10_000_000, "parsed"),
        ("x " * 5_000_000, "too-long"),
        ("that " * 254, "too-long"),  # two walls come on top
        ("that " * 255, "too-long"),
    ],
    ids=lambda value: ascii(value[:12]),
)
def test_hostile_input(grammar: LinkGrammar, sentence: str, status: str) -> None:
    [parse] = grammar.parse([sentence])
    assert (parse.sentence, parse.status) == (sentence, status)


def test_words_too_long_for_the_library_are_cut() -> None:
    assert cleaned("a\0b  c\x85d") == "a b c d"
    assert cleaned("é" * 100) == "é" * 75  # 150 bytes
    assert cleaned("\ud800") == "?"


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=30))
def test_any_text_gets_a_result(grammar: LinkGrammar, text: str) -> None:
    [parse] = grammar.parse([text])
    assert parse.status != "lost"
    assert (parse.null_count is None) == (parse.status != "parsed")


def test_without_the_library_the_packages_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "link_worker.py"
    source = Path(link_worker.__file__).read_text()
    source = source.replace("liblink-grammar", "libabsent").replace('"link-grammar"', '"absent"')
    script.write_text(source)
    monkeypatch.setattr(link_worker, "__file__", str(script))
    with (
        LinkGrammar() as pool,
        pytest.raises(InputError, match="liblink-grammar5 link-grammar-dictionaries-en"),
    ):
        pool.parse(["The cat sat on the mat."])


def test_without_a_dictionary_the_packages_are_named() -> None:
    process = link_grammar.LinkProcess({"language": "xx", "timeout": 3, "linkage_limit": 100})
    with pytest.raises(InputError, match=r"no dictionary for 'xx'.*link-grammar-dictionaries-en"):
        _ = process.version


def test_processes_that_cannot_start_are_not_started_forever(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "link_worker.py"
    script.write_text("raise SystemExit")
    monkeypatch.setattr(link_worker, "__file__", str(script))
    with (
        LinkGrammar() as pool,
        pytest.raises(WellputError, match="3 link grammar processes in a row"),
    ):
        pool.parse(["The cat sat on the mat."])


def test_settings_below_one_are_refused() -> None:
    with pytest.raises(InputError, match="workers must be at least 1, not 0"):
        LinkGrammar(workers=0)
