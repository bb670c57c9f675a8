"""The words that judges read unless a study brings its own, as far as several designs share them."""

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


def seven_points(name: str) -> tuple[str, Mapping[str, str]]:
    """What is asked under a name, and the words at the points from 1 to 7, at least at the two ends."""
    plain = f"How would you rate the {name} of this sentence?"
    return SEVEN_POINTS.get(name, (plain, {"1": "Very low", "7": "Very high"}))


THANKS = "That was the last one. Thank you: your answers are saved, and you can close this page."

PRACTICE_TEXTS = (
    "The ferry to the island leaves every morning at nine.",
    "Every nine the leaves island morning ferry to at.",
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
