"""Code shared by several experiments: data, protocols, statistics, plots."""
