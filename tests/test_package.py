"""The top-level module `meeplezoo`: its version, its names, and that it costs nothing until a name is used."""

import subprocess
import sys
from importlib.metadata import version

import pytest

import meeplezoo


def test_the_version_is_that_of_the_installed_package() -> None:
    assert meeplezoo.__version__ == version("meeplezoo")


def test_importing_it_loads_nothing() -> None:
    code = (
        "import sys; before = set(sys.modules); import meeplezoo; after = set(sys.modules); meeplezoo.__version__\n"
        "print([name for name in after - before if name.partition('.')[0] not in sys.stdlib_module_names])\n"
        "print(meeplezoo.make('azul').num_actions, meeplezoo.envs.game_names() == meeplezoo.game_names())"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert shown.stdout.splitlines() == ["['meeplezoo']", "180 True"]


def test_every_public_name_is_there_and_is_the_one_of_its_module() -> None:
    names = dir(meeplezoo)
    assert set(meeplezoo.__all__) < set(names)
    for name in names:
        assert getattr(meeplezoo, name) is not None
    from meeplezoo.agents.arena.evaluation import evaluate
    from meeplezoo.envs import make_game

    assert meeplezoo.make is meeplezoo.make_game is make_game
    assert meeplezoo.evaluate is evaluate


def test_an_unknown_name_is_told_with_those_there_are() -> None:
    with pytest.raises(AttributeError, match=r"has no attribute 'maek'; it has Game, GameBatch, .*make, "):
        meeplezoo.maek  # noqa: B018
