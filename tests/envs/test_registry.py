"""Games of other packages: found by entry points, loaded when they are asked for, and told of if they are broken."""

import subprocess
import sys
import warnings

import gymnasium
import pytest
from other_games import write_distribution

from meeplezoo.cli.main import main
from meeplezoo.envs import game_names, make_game
from meeplezoo.envs.interfaces.registration import register_games
from meeplezoo.envs.registry import BUILT_IN, describe, load_games, on_load

SUITE = ("azul", "qwirkle", "manhattan")


def write_module(folder, name, text):
    (folder / f"{name}.py").write_text(text)


def test_the_games_of_the_suite_come_first_then_the_others_by_name(other_games):
    names = game_names()
    assert names[:3] == tuple(BUILT_IN) == SUITE
    assert list(names[3:]) == sorted(names[3:])
    assert {"duel", "pebble", "stones"} <= set(names)
    assert describe("duel") is describe("duel")
    with pytest.raises(ValueError, match=r"there is no game 'chess'; the games are azul, qwirkle, manhattan, .*stones"):
        describe("chess")


def test_nothing_is_imported_before_a_game_is_asked_for(install_games, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    write_module(tmp_path, "silent_game", "raise RuntimeError('was imported')")
    install_games("silent", {"silent": "silent_game:GAME"})
    assert "silent" in game_names()
    assert make_game("azul").num_actions == 180
    with pytest.raises(ValueError, match=r"game silent of silent 1\.0 cannot be loaded: RuntimeError: was imported"):
        make_game("silent")


def test_the_value_of_an_entry_point_may_be_a_module(install_games):
    install_games("stones", {"stones": "stones"})
    assert make_game("stones").num_players == 3


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ("GAME = 1", "broken_game:GAME", "TypeError: the entry point leads to no GameSpec, and to no module"),
        ("GAM = 1", "broken_game", "TypeError: the entry point leads to no GameSpec, and to no module"),
        ("", "broken_game:GAME", "AttributeError: module 'broken_game' has no attribute 'GAME'"),
        ("", "nowhere_game:GAME", "ModuleNotFoundError: No module named 'nowhere_game'"),
        ("x = (", "broken_game:GAME", "SyntaxError: '\\(' was never closed"),
        ("import sys; raise OSError('a\\x1b[2Jb\\nc')", "broken_game:GAME", r"OSError: a\\x1b\[2Jb c$"),
        ("from stones import DUEL as GAME", "broken_game:GAME", "ValueError: the entry point is called broken, but"),
    ],
)
def test_a_broken_game_is_told_in_one_sentence_that_names_its_distribution(
    text, value, reason, install_games, tmp_path, monkeypatch, capsys
):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "broken_game", raising=False)
    write_module(tmp_path, "broken_game", text)
    install_games("fragile", {"broken": value})
    expected = f"^the game broken of fragile 1.0 cannot be loaded: {reason}"
    with pytest.raises(ValueError, match=expected):
        make_game("broken")
    specs, reasons = load_games()
    assert [spec.name for spec in specs][:3] == list(SUITE)
    assert len(reasons) == 1
    with pytest.warns(UserWarning, match=expected):
        register_games()
    assert main(["games"]) == 0
    shown = capsys.readouterr().out
    assert "the game broken of fragile 1.0 cannot be loaded" in shown
    assert "azul: " in shown
    assert main(["evaluate", "broken", "random", "random", "--games", "2"]) == 2
    assert "the game broken of fragile 1.0 cannot be loaded" in capsys.readouterr().err


def test_two_games_of_one_name_are_refused(install_games):
    install_games("stones", {"stones": "stones:GAME"})
    install_games("other-stones", {"stones": "stones:GAME"})
    clash = "the game stones comes from .*other-stones 1.0.*: only one of them may be installed"
    with pytest.raises(ValueError, match=clash):
        make_game("stones")
    assert any("only one of them" in reason for reason in load_games()[1])


def test_a_name_of_the_suite_is_taken(install_games):
    install_games("my-azul", {"azul": "stones:GAME"})
    assert game_names().count("azul") == 1
    assert make_game("azul").num_actions == 180
    assert load_games()[1] == ["the game azul of my-azul 1.0 is left out: meeplezoo has a game of that name"]


@pytest.mark.parametrize("name", ["Stones", "two words", "st-ones", "1stone"])
def test_names_are_plain_words(name, install_games):
    install_games("stones", {name: "stones:GAME"})
    with pytest.raises(ValueError, match="has small letters, digits and underscores alone"):
        describe(name)


def test_two_games_of_one_gymnasium_id_are_refused(install_games, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    text = "from dataclasses import replace\nfrom stones import GAME\nGAME = replace(GAME, name='pile')"
    write_module(tmp_path, "pile_game", text)
    install_games("stones", {"stones": "stones:GAME"})
    describe("stones")
    install_games("pile", {"pile": "pile_game:GAME"})
    with pytest.raises(ValueError, match="pile: Gymnasium knows another game as meeplezoo/Stones-v0"):
        describe("pile")


def test_listeners_hear_of_every_game_once(install_games):
    heard = []
    on_load(heard.append)
    before = len(heard)
    install_games("stones", {"duel": "stones:DUEL"})
    describe("duel")
    describe("duel")
    assert [spec.name for spec in heard[before:]] == ["duel"]


_PACKAGE = """
import {first}
import gymnasium, meeplezoo.envs
from meeplezoo.envs import make_game
print(make_game("duel").num_players, "meeplezoo/Duel-v0" in gymnasium.registry)
"""


@pytest.mark.parametrize("first", ["meeplezoo.envs", "stones", "gymnasium"])
def test_a_package_may_be_imported_before_meeplezoo(first, tmp_path, monkeypatch):
    write_distribution(tmp_path, "stones", {"duel": "stones:DUEL"})
    path = [str(tmp_path), *(folder for folder in sys.path if folder.endswith("tests"))]
    monkeypatch.setenv("PYTHONPATH", ":".join(path))
    code = _PACKAGE.format(first=first)
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("2 True\n", "")


def test_installed_games_warn_of_nothing(other_games):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register_games()
    assert "meeplezoo/Pebble-v0" in gymnasium.registry
