"""Agents that search, and the searches."""
