"""One module per command: its options, and a call of the module that does the work.

To add a command, add a module with a function of the same name. The docstring of the function is
the help text and ends with an example. Import heavy modules inside the function, so that `--help`
stays fast.
"""
