"""The arena: tournaments between agents, ratings, and their report."""
