"""Text as metrics see it: `tokenizers`."""
