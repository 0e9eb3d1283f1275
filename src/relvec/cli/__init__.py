"""The command `relvec`: fit models to tables and denoise signals from a terminal.

Each command is one file in `relvec.cli.commands`, which only declares the options. The modules in
this subpackage do the work; they are imported when a command runs, so that `--help` stays fast.
"""
