"""What the pictures and texts of all games share."""
