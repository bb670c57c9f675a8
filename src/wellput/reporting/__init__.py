"""Values to what people read: terminal table, JSON, CSV, LaTeX, Markdown, self-contained HTML."""
