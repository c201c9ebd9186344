"""A leaderboard that cannot be overfitted: teams with quotas, a public part, and a final part that is used once."""
