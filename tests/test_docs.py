"""The documentation says what the code does: tables are compared, examples are run."""

import re
from pathlib import Path

import pytest

from meeplezoo.envs import make_game

ROOT = Path(__file__).parents[1]


def observation_table(**options: object) -> list[str]:
    rows = []
    for first, stop, field in make_game("azul", **options).observation_ranges():
        index = str(first) if stop - first == 1 else f"{first}-{stop - 1}"
        shape = " x ".join(map(str, field.shape))
        rows.append(f"| {index} | {field.name} | {shape} | {field.meaning} |")
    return rows


def test_observation_table_of_azul_is_that_of_the_code() -> None:
    lines = (ROOT / "docs/azul.md").read_text(encoding="utf-8").splitlines()
    start = lines.index("| index | part | shape | meaning |") + 2
    expected = observation_table()
    assert lines[start : start + len(expected)] == expected
    assert not lines[start + len(expected)].startswith("|")


def test_table_of_sizes_is_that_of_the_code() -> None:
    text = (ROOT / "docs/azul.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d) \| (\w+) \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
    assert len(rows) == 6
    for players, wall, actions, observation in rows:
        game = make_game("azul", num_players=int(players), wall=wall)
        assert (game.num_actions, game.observation_size) == (int(actions), int(observation))


PAGES = ["README.md", "docs/azul.md", "docs/engine.md", "docs/environments.md"]


@pytest.mark.parametrize("page", PAGES)
def test_examples_run(page: str) -> None:
    examples = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    assert examples
    names: dict[str, object] = {}
    for example in examples:
        exec(compile(example, page, "exec"), names)


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))])
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if "://" not in target:
            assert (ROOT / page).parent.joinpath(target).exists(), f"{page}: {target}"
