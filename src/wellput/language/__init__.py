"""Models of English: what realizing, fluency, degrading and paraphrasing share."""
