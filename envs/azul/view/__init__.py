"""Pictures and texts of Azul."""
