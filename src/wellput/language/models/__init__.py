"""Models of English, trained or installed once and shared by metrics and generators."""
