"""Agents without search or training."""
