"""One module a verb: a function with the keywords of the command of the same name, which returns a
`Result`. It joins the rooms below; it prints nothing."""
