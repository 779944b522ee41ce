"""Games of other packages for a while: `stones/`, and whatever a test makes up."""

import importlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import gymnasium
import pytest

from meeplezoo.envs.interfaces.registration import register_games
from meeplezoo.envs.registry import GROUP, find_games_again

Install = Callable[[str, Mapping[str, str]], None]
"""Takes the name of a distribution, and its games with the values of their entry points."""


def write_distribution(folder: Path, name: str, games: Mapping[str, str]) -> None:
    """Write what an installer leaves behind of a distribution: its name and its entry points."""
    information = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [f"[{GROUP}]", *(f"{game} = {value}" for game, value in games.items())]
    (information / "entry_points.txt").write_text("\n".join(lines) + "\n")


@pytest.fixture
def install_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return a function that installs a distribution of this name with these games until the test ends."""
    known = set(gymnasium.registry)
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)

    def install_games(name: str, games: Mapping[str, str]) -> None:
        write_distribution(folder, name, games)
        importlib.invalidate_caches()
        find_games_again()

    yield install_games
    monkeypatch.undo()
    find_games_again()
    for name in set(gymnasium.registry) - known:
        del gymnasium.registry[name]


@pytest.fixture
def other_games(install_games: Install) -> None:
    """The games of `stones/` are installed."""
    install_games("stones", {"stones": "stones:GAME", "duel": "stones:DUEL", "pebble": "stones:PEBBLE"})
    register_games()
