"""Checks of what callers give, before a kernel sees it."""
