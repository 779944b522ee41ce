"""Training configs of Azul."""
