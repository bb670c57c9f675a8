"""Machine judges: a language model answers the questions of a study in the place of a person."""
