"""The command `relvec`: models of tables and cleaner signals from a terminal.

Commands read files, call the estimators and say what they found. Every command is one file in
`relvec.cli.commands`, which only declares options; the work is done by the modules next to it,
imported when a command runs.
"""
