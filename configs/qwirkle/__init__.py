"""Training configs of Qwirkle."""
