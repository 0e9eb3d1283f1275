"""Ratios against other implementations and against the unavoidable cost.

Run ``python -m bench regression`` or ``python -m bench scaling`` from the root of the repository.
"""
