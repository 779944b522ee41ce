"""SVG and text views of Azul."""
