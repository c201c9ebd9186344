"""From a query to a closed plan, an offer and a draw."""
