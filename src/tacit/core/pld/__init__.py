"""Privacy loss distributions: dominating pairs, and certified bounds on their compositions."""
