"""The verbs, one module each: a function with the keywords of the command of the same name. It calls
the rooms below and returns a `Result`. It prints nothing."""
