"""Bots of the user's own, in processes of their own: Python files and programs in any language."""
