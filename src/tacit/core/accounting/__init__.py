"""Privacy loss: the proved cost of a mechanism, the composition of costs, and what a budget admits."""
