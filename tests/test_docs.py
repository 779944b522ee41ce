"""The documentation says what the code does: tables are compared, examples are run."""

import re
from io import StringIO
from pathlib import Path

import pytest

from meeplezoo.envs import make_game
from meeplezoo.envs.interfaces.registration import gymnasium_id
from meeplezoo.envs.registry import BUILT_IN, describe

ROOT = Path(__file__).parents[1]


def observation_table(name: str) -> list[str]:
    rows = []
    for first, stop, field in make_game(name).observation_ranges():
        index = str(first) if stop - first == 1 else f"{first}-{stop - 1}"
        shape = " x ".join(map(str, field.shape))
        rows.append(f"| {index} | {field.name} | {shape} | {field.meaning} |")
    return rows


@pytest.mark.parametrize("name", ["azul", "manhattan"])
def test_observation_table_is_that_of_the_code(name: str) -> None:
    lines = (ROOT / f"docs/{name}.md").read_text(encoding="utf-8").splitlines()
    start = lines.index("| index | part | shape | meaning |") + 2
    expected = observation_table(name)
    assert lines[start : start + len(expected)] == expected
    assert not lines[start + len(expected)].startswith("|")


def test_table_of_azuls_sizes_is_that_of_the_code() -> None:
    text = (ROOT / "docs/azul.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d) \| (\w+) \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
    assert len(rows) == 6
    for players, wall, actions, observation in rows:
        game = make_game("azul", num_players=int(players), wall=wall)
        assert (game.num_actions, game.observation_size) == (int(actions), int(observation))


def test_table_of_manhattans_sizes_is_that_of_the_code() -> None:
    text = (ROOT / "docs/manhattan.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d) \| (\d+) \| (\d) \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
    assert [int(players) for players, *_ in rows] == [2, 3, 4]
    for players, selections, colours, actions, observation in rows:
        game = make_game("manhattan", num_players=int(players))
        assert (game.num_actions, game.observation_size) == (int(actions), int(observation))
        moves = [game.move(action) for action in range(game.num_actions)]
        # the formula of the page: selections, then buildings, then discards
        assert ["draft" in move for move in moves] == [action < int(selections) for action in range(len(moves))]
        assert int(selections) + 216 * int(colours) + 9 == game.num_actions
        assert "discard" in moves[-9]
        assert "discard" not in moves[-10]


@pytest.mark.parametrize("encoding", ["planes", "flat"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_observation_table_of_qwirkle_is_that_of_the_code(players: int, encoding: str) -> None:
    lines = (ROOT / "docs/qwirkle.md").read_text(encoding="utf-8").splitlines()
    start = lines.index("| part | shape | meaning |") + 2
    rows = [line.strip("| ").split(" | ") for line in lines[start : lines.index("", start)]]
    other = {"planes": "flat", "flat": "planes"}[encoding]
    rows = [row for row in rows if row[0] != f"board, `{other}`"]
    fields = make_game("qwirkle", num_players=players, encoding=encoding, board_size=26).observation_fields
    sizes = {"n": players, "s": 26}
    shapes = [tuple(sizes[part] if part in sizes else int(part) for part in row[1].split(" x ")) for row in rows]
    assert shapes == [field.shape for field in fields]
    assert [row[0].partition(",")[0] for row in rows] == [field.name for field in fields]
    assert [row[2] for row in rows[1:]] == [field.meaning for field in fields[1:]]


def test_table_of_games_is_that_of_the_code() -> None:
    text = (ROOT / "docs/environments.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| \[.*\]\((.*)\.md\) \| `(.*)` \| `(.*)` \| 2 to 4, default (.) \| (.*) \|$", text, re.MULTILINE
    )
    assert [name for name, *_ in rows] == list(BUILT_IN)
    for name, module, gymnasium_name, players, forms in rows:
        spec = describe(name)
        assert module == f"{name}_v{spec.version}"
        assert gymnasium_name == gymnasium_id(spec)
        assert int(players) == make_game(name).num_players
        assert re.findall("`(.*?)`", forms) == list(spec.encodings)


def test_the_tutorial_shows_the_whole_example() -> None:
    page = (ROOT / "docs/adding_a_game.md").read_text(encoding="utf-8")
    shown = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    code = (ROOT / "examples/connect_four/connect_four.py").read_text(encoding="utf-8")
    assert [line for part in shown for line in part.splitlines() if line] == [
        line for line in code.splitlines() if line
    ]
    entry = re.search(r"```toml\n(.*?)```", page, re.DOTALL)
    assert entry is not None
    assert entry[1] in (ROOT / "examples/connect_four/pyproject.toml").read_text(encoding="utf-8")


PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
NOT_RUN = re.compile(r"<!-- examples are not run: [^\n]+ -->")
"""Stands in a page whose code cannot be run as it is, with the reason."""


def examples(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [] if NOT_RUN.search(text) else re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_most_pages_have_examples() -> None:
    assert len([page for page in PAGES if examples(page)]) >= 12


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)])
def test_examples_run(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # programs read from it
    monkeypatch.setattr("sys.stdin", StringIO())
    names: dict[str, object] = {}
    for example in examples(page):
        if "sb3_contrib" in example:
            pytest.importorskip("sb3_contrib")
        exec(compile(example, page, "exec"), names)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if "://" not in target:
            assert (ROOT / page).parent.joinpath(target).exists(), f"{page}: {target}"
