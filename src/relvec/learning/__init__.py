"""Learning of input scales together with the sparse weights."""
