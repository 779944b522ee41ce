"""The forms in which other libraries take a game: PettingZoo, Gymnasium, Stable-Baselines3."""
