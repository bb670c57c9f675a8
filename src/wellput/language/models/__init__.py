"""Models of English, such as taggers, parsers and n-gram models, which metrics and generators share."""
