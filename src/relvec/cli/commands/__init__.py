"""One file for each command: its options, and a call of the module that does the work.

A new command is a new file: a function of the same name, whose docstring is its help and ends with
an example. Heavy modules are imported where the work is done, so that help stays fast.
"""
