"""SVG and text views of Manhattan."""
