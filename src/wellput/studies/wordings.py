"""The words that judges read unless a study brings its own: data, by design or by question."""

from __future__ import annotations

from collections.abc import Mapping

SEVEN_POINTS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    # Bangalore, Rambow & Whittaker 2000, section 4: three anchors, the other points have no words.
    "understandability": (
        "How easy is this sentence to understand?",
        {"1": "Impossible", "4": "Just barely possible", "7": "Extremely easy"},
    ),
    "quality": (
        "How well-written is this sentence?",
        {"1": "Horrible", "4": "Pretty bad", "7": "Extremely well-written"},
    ),
    "fluency": (
        "How fluent is this sentence?",
        {"1": "Not fluent at all", "4": "Somewhat fluent", "7": "Perfectly fluent"},
    ),
    "adequacy": (
        "How much of what should be said does this sentence say?",
        {"1": "None of it", "4": "About half of it", "7": "All of it"},
    ),
}
"""Questions and the labels of their 7 points; scales of other lengths keep the two ends."""

BETTER: Mapping[str, str] = {
    "preference": "better put",
    "understandability": "easier to understand",
    "quality": "better written",
    "fluency": "more fluent",
    "adequacy": "closer to what should be said",
}


TITLES: Mapping[str, str] = {
    "rating": "How well is it put?",
    "magnitude": "How fluent is it?",
    "slider": "How well is it put?",
    "pairwise": "Which is better put?",
    "task": "Read and answer",
}

THANKS = "That was the last one. Thank you: your answers are saved, and you can close this page."

INSTRUCTIONS: Mapping[str, str] = {
    "rating": (
        "You will read sentences, some of them with a short paragraph that leads up to them. Rate "
        "each sentence on the scales below it. Some points of a scale carry a description; use the "
        "points in between as you see fit.\n\n"
        "There are no right or wrong answers: your first impression is what counts. You can go back "
        "one step, and you can leave at any time and come back with the same link."
    ),
    # Mutton et al. 2007, section 3.3: intuition rather than rules, and form rather than content.
    "magnitude": (
        "Judge how fluent each sentence is: how natural and grammatical it sounds. Judge the form, "
        "not the content. A sentence may be nonsense and still be perfectly fluent: “Colorless green "
        "ideas sleep furiously” is one.\n\n"
        "{scale}\n\n"
        "There are no right or wrong answers: go by your intuition. You can go back one step, and "
        "you can leave at any time and come back with the same link."
    ),
    "slider": (
        "You will read sentences, some of them with a short paragraph that leads up to them. Move the "
        "slider below each sentence to where you would put it between the two ends.\n\n"
        "There are no right or wrong answers: your first impression is what counts. You can go back "
        "one step, and you can leave at any time and come back with the same link."
    ),
    "pairwise": (
        "You will see two versions of a sentence at a time. Choose the one that you think is put "
        "better.{ties}\n\n"
        "There are no right or wrong answers: your first impression is what counts. You can go back "
        "one step, and you can leave at any time and come back with the same link."
    ),
    "task": (
        "You will read short texts, each with a question. Answer the question from the text alone, "
        "as quickly as you can without hurrying. The time from seeing a text to answering is "
        "measured.\n\n"
        "It is the texts that are being tested, not you. You can leave at any time between two texts "
        "and come back with the same link."
    ),
}
OWN_SCALE = (
    "Use a scale of your own. Give the first sentence any number above zero that seems right to you. "
    "Give every later sentence a number in proportion: twice the number if it is twice as fluent, "
    "half the number if it is half as fluent. There is no highest or lowest number, and decimals are "
    "fine."
)
MODULUS_SCALE = (
    "A middling sentence counts as {modulus:g}. Give every sentence a number in proportion to that: "
    "{double:g} if it is twice as fluent as a middling one, {half:g} if it is half as fluent. Any "
    "number above zero is allowed, and decimals are fine."
)
TIES = " If you find neither better, say so."

HEAD_TITLE = "Which do you prefer?"

# Foster 2008, section 3.3: the same words are spoken, only the displays differ.
HEAD_INSTRUCTIONS = (
    "You will see a talking head say the same sentence in two versions; its face and head move "
    "differently. Play both, as often as you like, and choose the version that you prefer.{ties}\n\n"
    "There are no right or wrong answers: your first impression is what counts. You can go back one "
    "step, and you can leave at any time and come back with the same link."
)

SUBSTITUTIONS: Mapping[str, object] = {
    # Kauchak & Barzilay 2006, section 4.3: right only if right in meaning and in grammar.
    "title": "Is the replacement right?",
    "instructions": (
        "You will read sentences in which a word is to be replaced, as in “a quick [reply → answer] "
        "came”. Say that the replacement is right only if the sentence still means the same with it, "
        "and is still good English.\n\n"
        "There is no time limit. You can go back one step, and you can leave at any time and come "
        "back with the same link."
    ),
    "points": 2,
    "questions": [
        {
            "name": "right",
            "text": "Is the replacement right in this sentence, in meaning and in grammar?",
            "points": 2,
            "labels": {"1": "Wrong", "2": "Right"},
        }
    ],
}
"""Settings of a study of substitutions."""
