"""The arrows between the parts: cli, web, benchmarks -> training -> agents -> envs, read from all import statements."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BELOW = {
    "envs": [],
    "configs": ["envs"],
    "agents": ["envs", "configs"],
    "training": ["agents", "envs", "configs"],
    "benchmarks": ["cli", "training", "agents", "envs", "configs"],
    "cli": ["benchmarks", "training", "agents", "envs", "configs"],
    "web": ["cli", "training", "agents", "envs", "configs"],
}
"""What every part may import beside itself."""
PARTS = [part for part in BELOW if (ROOT / part).is_dir()]


def imported_modules(text: str, package: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Yield line and absolute name of all that a module of a package imports, also within functions."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = [*base, *(node.module.split(".") if node.module else [])]
            # what is imported may be a module too: `from .. import training`
            yield from ((node.lineno, ".".join([*module, alias.name])) for alias in node.names)


def upward_imports(part: str, path: str, text: str) -> list[str]:
    allowed = [part, *BELOW[part]]
    found = []
    for line, name in imported_modules(text, ("meeplezoo", *Path(path).parts[:-1])):
        first, _, rest = name.partition(".")
        target = rest.partition(".")[0]
        if first == "meeplezoo" and target in BELOW and target not in allowed:
            found.append(f"{path}:{line} imports {name}")
    return found


@pytest.mark.parametrize("part", PARTS)
def test_no_part_imports_one_above_it(part: str) -> None:
    files = sorted((ROOT / part).rglob("*.py"))
    assert files
    found = []
    for file in files:
        found += upward_imports(part, file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8"))
    assert found == []


def test_every_folder_with_code_is_a_part() -> None:
    assert {path.parent.name for path in ROOT.glob("*/__init__.py")} == set(PARTS)


@pytest.mark.parametrize(
    ("line", "target"),
    [
        ("from ...agents.registry import make_agent", "meeplezoo.agents.registry.make_agent"),
        ("from ... import training", "meeplezoo.training"),
        ("def f():\n    import meeplezoo.cli.main", "meeplezoo.cli.main"),
        ("if TYPE_CHECKING:\n    from meeplezoo import agents", "meeplezoo.agents"),
    ],
)
def test_upward_imports_are_found_wherever_they_stand(line: str, target: str) -> None:
    (found,) = upward_imports("envs", "envs/interfaces/new.py", line)
    assert found.endswith(f" imports {target}")


def test_nothing_of_the_games_is_named_outside_their_folders_and_the_registry() -> None:
    games = [path.parent.name for path in (ROOT / "envs").glob("*/rules.py")]
    assert games
    for part in {"envs", "agents", "training", "cli"} & set(PARTS):
        for file in (ROOT / part).rglob("*.py"):
            place = file.relative_to(ROOT).as_posix()
            if place == "envs/registry.py" or any(place.startswith(f"envs/{game}") for game in games):
                continue
            for game in games:
                names = [name for _, name in imported_modules(file.read_text(encoding="utf-8"), ("meeplezoo", part))]
                assert not any(game in name.split(".") for name in names), f"{place} imports {game}"
