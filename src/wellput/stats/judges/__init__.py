"""How far judges agree: people with each other, and one more judge with people."""
