"""How a cluster moves: deterministic limits and the stochastic processes they are limits of."""
