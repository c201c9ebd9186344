"""Privacy loss: what a mechanism is proved to cost, how costs add up, and what a budget admits."""
