"""Which treebanks train the language check and which judge it, and the names of their files.

What trains the check allows use under CC BY-SA; no treebank does both.
"""

from __future__ import annotations

TRAINING = (
    "Breton-KEB", "Cebuano-GJA", "Croatian-SET", "Czech-CAC", "Danish-DDT", "Dutch-LassySmall",
    "Finnish-TDT", "French-GSD", "German-GSD", "Indonesian-GSD", "Irish-IDT", "Italian-TWITTIRO",
    "Javanese-CSUI", "Latin-LLCT", "Latvian-LVTB", "Lithuanian-ALKSNIS", "Low_Saxon-LSDC",
    "Maltese-MUDT", "Norwegian-Bokmaal", "Portuguese-GSD", "Romanian-RRT",
    "Scottish_Gaelic-ARCOSG-dev", "Slovak-SNK", "Slovenian-SSJ", "Spanish-GSD", "Swedish-Talbanken",
    "Tagalog-TRG", "Turkish-BOUN", "Upper_Sorbian-UFAL", "Vietnamese-VTB", "Welsh-CCG",
)  # fmt: skip
OTHER_SOURCES = (
    "Czech-PUD", "Finnish-PUD", "French-PUD", "German-PUD", "Indonesian-PUD", "Italian-PUD",
    "Italian-PoSTWITA", "Latin-Perseus", "Portuguese-PUD", "Scottish_Gaelic-ARCOSG-test",
    "Spanish-PUD", "Swedish-LinES", "Swedish-PUD", "Tagalog-Ugnayan", "Turkish-PUD",
)  # fmt: skip
"""Languages of the training, other texts."""
OTHER_LANGUAGES = (
    "Afrikaans-AfriBooms", "Basque-BDT", "Estonian-EWT", "Faroese-OFT", "Frisian_Dutch-Fame",
    "Galician-PUD", "Hungarian-Szeged", "Icelandic-PUD", "Polish-PUD", "Yoruba-YTB",
)  # fmt: skip
"""Languages that the training has not seen, in Latin script."""
OTHER_SCRIPTS = (
    "Arabic-PUD", "Chinese-PUD", "Greek-GDT", "Hebrew-HTB", "Hindi-PUD", "Japanese-GSD", "Korean-PUD",
    "Russian-PUD", "Thai-PUD", "Ukrainian-IU",
)  # fmt: skip
CODE = ("C-Plus-Plus", "Go", "Java", "JavaScript", "Python", "Ruby", "Rust")
MARKDOWN = "languages/markdown.txt.gz"
END_OF_FILE = "\n\0\n"


def language_file(name: str) -> str:
    return f"languages/{name}.txt.gz"


def code_file(name: str) -> str:
    return f"languages/code-{name}.txt.gz"


FILES_FOR_TRAINING = tuple(map(language_file, TRAINING))
FILES_FOR_JUDGING = (
    *map(language_file, (*OTHER_SOURCES, *OTHER_LANGUAGES, *OTHER_SCRIPTS)),
    *map(code_file, CODE),
    MARKDOWN,
)
