"""Checks of arguments before they reach a kernel."""
