"""Where statistics are computed, and what is made of them."""
