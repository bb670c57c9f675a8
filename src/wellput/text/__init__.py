"""Divides text into tokens (`tokenizers`) and English into sentences and words (`english`); finds the
prose in text with markup (`markup`) and the script of a text (`scripts`); stems words (`porter`)."""
