"""Pictures and texts of Manhattan."""
