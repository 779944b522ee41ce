"""Policy-value networks (torch) and their files."""
