"""SVG and text views of Qwirkle."""
