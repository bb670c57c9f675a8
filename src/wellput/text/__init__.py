"""Cutting text into tokens (`tokenizers`), and English into sentences and words (`english`)."""
