"""Policies of MaskablePPO (sb3-contrib): their files, and the agent that plays them."""
