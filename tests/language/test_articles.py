from wellput.language.articles import indefinite_article


def test_the_article_follows_the_sound_of_the_next_word() -> None:
    an = ["answer", "hour", "honest man", "umbrella", "uninteresting day", "unimportant", "onerous"]
    a = [
        "reply",
        "useful",
        "university",
        "European",
        "one-way",
        "house",
        "union",
        "utensil",
        "unimodal",
    ]
    assert {indefinite_article(text) for text in an} == {"an"}
    assert {indefinite_article(text) for text in a} == {"a"}


def test_without_a_word_the_article_is_a() -> None:
    assert indefinite_article("") == "a"
