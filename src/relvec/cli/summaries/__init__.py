"""Printed summaries of the results that `--json` gives as an object."""
