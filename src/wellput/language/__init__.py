"""Trees and models of language, and what is built on them: realizers, paraphrases, and degraded or
perturbed texts. The folder `english/` has the shipped models."""
