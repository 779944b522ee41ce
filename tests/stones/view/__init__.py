"""Pictures and texts of the stones."""
