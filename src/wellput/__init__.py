"""wellput: how well a generated text is put, whether a difference is real, and whether the number
agrees with people."""

__version__ = "0.1.0"
