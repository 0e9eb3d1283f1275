"""Published tables, computed again. Run ``python -m reproduce`` for what there is."""
