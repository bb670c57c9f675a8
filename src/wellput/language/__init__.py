"""The English wing: trees, models, and what is made with them; the shipped model lies in `english/`."""
