"""Pictures and texts of Qwirkle."""
