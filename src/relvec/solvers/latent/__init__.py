"""The same search with a Laplace approximation inside, for other likelihoods."""
