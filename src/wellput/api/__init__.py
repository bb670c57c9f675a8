"""The public functions. Each command has a function of the same name with the same keywords, usually
in a module of that name. The function calls the other packages and returns a `Result`; it prints
nothing."""
