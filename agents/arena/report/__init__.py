"""The report of a tournament: one HTML page with its charts and tables."""
