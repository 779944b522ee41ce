"""Training configs that ship with the package."""
