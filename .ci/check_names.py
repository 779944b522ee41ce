"""Check that names which have been replaced are gone: python .ci/check_names.py [--all].

Reads identifiers (by syntax tree), string keys, config keys and file names of all tracked files, and compares them with
a table of old and new names. A name that is left needs a reason; `--all` prints those with one, too. Exit code 1 if a
name is left without a reason.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CODE = ("envs", "agents", "training", "configs", "benchmarks", "cli", "web", "integrations", "examples")
SEARCH = ("envs/engine", "envs/search", "agents/search")
GAMES = ("envs/azul", "envs/qwirkle", "envs/manhattan")

FORMATS = "fixed by formats.md"
CONFIG = "config key, renamed with the configs"
TEXT_FORM = "setting in the text of an agent"


@dataclass(frozen=True)
class Found:
    """A name in a file.

    kind: "name" (variable, parameter, attribute), "function", "class", "key" (string in brackets, as of a record's
    field), "config" (field of TrainingConfig, or key of a YAML config), "file" (stem of a file, or folder).
    """

    path: str
    line: int
    kind: str
    name: str


@dataclass(frozen=True)
class Row:
    """Old names, separated by blanks (a trailing * matches any end), their replacement, and where they may not be."""

    old: str
    new: str
    kinds: tuple[str, ...] = ("name", "function", "class")
    where: tuple[str, ...] = CODE

    def covers(self, found: Found) -> bool:
        """Return whether a name is one of the old ones."""
        if found.kind not in self.kinds or not any(_is_below(found.path, folder) for folder in self.where):
            return False
        name = found.name.lstrip("_")
        return any(_matches(name, old) for old in self.old.split())


ANYTHING = ("name", "function", "class", "key", "file")
ONLY_CONFIG = ("config",)
ONLY_FILES = ("file",)
WITH_KEYS = ("name", "function", "key")

TABLE = (
    Row("games rollout decisions", "num_envs, num_steps, total_timesteps", ONLY_CONFIG),
    Row(
        "minibatch epochs clip entropy value_weight max_gradient",
        "minibatch_size, update_epochs, clip_coef, ent_coef, vf_coef, max_grad_norm",
        ONLY_CONFIG,
    ),
    Row("players", "num_actors", ONLY_CONFIG),
    Row("hidden shared dense", "hidden_sizes, shared_trunk, dense_rewards", ONLY_CONFIG),
    Row("hidden shared", "hidden_sizes, shared_trunk", where=("agents/networks",)),
    Row("window reuse averaging warm_*", "replay_buffer_size, replay_ratio, ema_decay, pretrain_*", ONLY_CONFIG),
    Row("window reuse averaging warm warm_*", "replay_buffer, replay_ratio, ema_*, pretrain_*", where=("training",)),
    Row(
        "simulations considered exploration",
        "num_simulations, max_num_considered_actions, c_puct",
        ("name", "key", "config"),
        (*SEARCH, "agents/networks", "agents/warm_up", "training", "configs"),
    ),
    Row(
        "policy_scale search_share",
        "policy_target_scale, full_search_prob",
        ("name", "config"),
        ("agents", "training", "configs"),
    ),
    Row("value", "value_baseline", ONLY_CONFIG),
    Row(
        "share_* league_power league_floor pool_size",
        "*_prob, pfsp_power, pfsp_uniform_mix, num_snapshots",
        ("name", "config"),
        ("training", "configs"),
    ),
    Row("share shares", "fraction, probability or weight"),
    Row("cells Cell*", "conv, Conv*", ("file", "class"), ("agents/networks", "agents/maskable_ppo")),
    Row("settled_scores settled_margins settled", "projected_scores, projected_margins, converged"),
    Row("redeal* redealt*", "determinize, determinized"),
    Row("over", "status", ("key",)),
    Row("CUT_OFF", "TRUNCATED"),
    Row("places", "ranks", WITH_KEYS, ("envs", "agents", "training")),
    Row("form", "encoding", ("name",), ("envs", "agents", "training")),
    Row("blank", "template", ("name",), ("envs", "agents", "training")),
    Row("begin begin_anew begun_anew restart* opponents_begun_anew", "reset", ("function",), ("envs", "agents")),
    Row(
        "slots used pool room first firsts own worth",
        "child_of_action, num_nodes, capacity, workspace, root_actions, root_value, value",
        ("name",),
        (*SEARCH, "benchmarks/search.py"),
    ),
    Row(
        "play_on* ahead outcome_of seen_before keep_below",
        "rollout, rollout_states, find_chance_child, find_observation_node, extract_subtree",
    ),
    Row(
        "visit_plan* scaled_returns mixed_return root_planning choose_planned planned",
        "sequential_halving_schedule, completed_qvalues, mixed_value, gumbel_root, select_root_action",
        ("name", "function", "file"),
    ),
    Row("closed", "closed_loop", ("name", "key"), (*SEARCH, "agents/networks")),
    Row(
        "AT_ONCE SHARE at_once portion portions ends search_end",
        "CHUNK_SIZE, TIME_FRACTION, chunk_size, chunks, deadline",
        where=("agents", "envs"),
    ),
    Row("Decisions", "DecisionBatch, TrainingBatch"),
    Row(
        "Lessons lessons GameHistories ReplayWindow SearchPlayer LeagueGames PastSelf ppo_games ppo_returns "
        "what_to_learn",
        "TrainingSamples, EpisodeBuffer, ReplayBuffer, SelfPlayActor, RolloutCollector, FrozenPolicy, gae, build_batch",
        ANYTHING,
    ),
    Row("NetworkHead make_head", "NetworkMetadata, make_metadata"),
    Row("head", "metadata", WITH_KEYS, ("training", "agents/networks", "envs/records")),
    Row("NetworkTrees Conduct Watch", "BatchedSearch, MatchLog, OnStep"),
    Row("conduct decide attempt", "match_log, act_or_raise, act_or_forfeit", where=("agents/arena",)),
    Row("Meeting Terms Entrant PlayedGames", "Match, MatchConfig, Participant, GameResults"),
    Row("meeting* terms entrant*", "match, match_config, participant", where=("agents/arena", "cli")),
    Row(
        "TurnEnv SingleSeatEnv Seated* seated*",
        "GameAECEnv, SingleAgentEnv, SingleAgentVectorEnv, OpponentBatch",
        ANYTHING,
    ),
    Row("aec single_seat", "pettingzoo_env, single_agent_env", ONLY_FILES),
    Row(
        "reading wording sight lettering drawing page_drawing frames shown answers outside terminal",
        "parsing, captions, player_view, stroke_font, svg, svg_theme, renderer, requests, replies, external, ansi",
        ONLY_FILES,
    ),
    Row("Sight Frames Lettering", "PlayerView, Renderer", ("class",)),
    Row("tiling targets table", "scoring, placement, board", ONLY_FILES, GAMES),
    Row("returns", "exchangeable", ("function",), ("envs/qwirkle",)),
    Row(
        "peers learning_duels learner learner_speed run_listing interruption positions_check record_checks",
        "other_libraries, head_to_head, algorithm, training_throughput, run_status, graceful_stop, *_validation",
        ONLY_FILES,
    ),
    Row("leg legs pace paces carry_out duel duels", "segment(s), throughput, run, head_to_head", where=("benchmarks",)),
    Row("Learner* iterate playing ListedRun", "Algorithm, train_iteration, ema_network, RunStatus"),
    Row("NoMove NoBot told_seed", "BotError, InvalidBot, bot_seed"),
    Row("usual_settings shipped_networks", "default_settings, bundled_networks"),
    Row("seat_agents", "make_agents"),
    Row("SETTINGS_DTYPE", "REWARD_SETTINGS, ROLLOUT_SETTINGS, MINIMAX_SETTINGS", ("name",)),
    Row("step_some kind_", "step_subset, kind"),
    Row("words", "argv", ("name",), ("cli",)),
    Row("SEATS_NAMES sizes_admitted", "SEAT_NAMES, allowed_sizes"),
    Row("note_fits kinds_beside picks", "update_fits, adjacent_kinds, pickable", ("function",), GAMES),
    Row(
        "open_line close_line narrow_line note_wall_tile tiles_out falling waiting_columns",
        "mark_line_*, record_wall_tile, tiles_left, overflow, pending_column_choices",
        ("function",),
        GAMES,
    ),
)

ALLOWED: tuple[tuple[str, str, str, str], ...] = (
    # path, kind, name, reason
    ("training/config.py", "config", "*", CONFIG),
    ("configs", "config", "*", CONFIG),
    ("agents/networks/network_agent.py", "name", "considered", TEXT_FORM),
    ("agents/search/mcts_agent.py", "name", "exploration", TEXT_FORM),
)

NOT_PARTICIPLES = {"need", "feed", "seed", "speed", "embed", "proceed", "exceed", "reseed", "red"}
IRREGULAR = {"begun", "chosen", "dealt", "drawn", "found", "given", "held", "kept", "known", "made", "meant", "paid"}
IRREGULAR |= {"said", "seen", "sent", "shown", "spent", "taken", "told", "thought", "understood", "won", "written"}
LINKS = {"after", "and", "anew", "apart", "at", "by", "for", "from", "in", "of", "on", "once", "or", "to", "with"}
PREDICATES = {"is", "are", "was", "has", "have"}
PARTICIPLE = "a function is a verb, not a participle"


def main(arguments: list[str]) -> int:
    """Print every old name that is left; return the exit code."""
    left = [(found, new, _reason(found)) for found, new in _find_old(_read_tree())]
    for found, new, reason in left:
        if not reason or "--all" in arguments:
            hint = f" ({reason})" if reason else ""
            print(f"{found.path}:{found.line}: {found.kind} {found.name} -> {new}{hint}")
    without = sum(not reason for _, _, reason in left)
    print(f"{without} old names without a reason, {len(left) - without} with one")
    return 1 if without else 0


def _find_old(names: list[Found]) -> Iterator[tuple[Found, str]]:
    for found in names:
        row = next((row for row in TABLE if row.covers(found)), None)
        if row is not None:
            yield found, row.new
        elif found.kind == "function" and _is_participle(found.name):
            yield found, PARTICIPLE


def _is_participle(name: str) -> bool:
    """Return whether the name of a function is a participle; one before a noun, as in clipped_loss, is none."""
    words = name.strip("_").split("_")
    if PREDICATES.intersection(words):
        return False
    participles = [word in IRREGULAR or (word.endswith("ed") and word not in NOT_PARTICIPLES) for word in words]
    return participles[-1] or (participles[0] and words[-1] in LINKS)


def _reason(found: Found) -> str:
    """Return why an old name may stay, "" if it may not."""
    for path, kind, name, reason in ALLOWED:
        if _is_below(found.path, path) and kind == found.kind and _matches(found.name, name):
            return reason
    return ""


def _read_tree() -> list[Found]:
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names: list[Found] = []
    for path in listing.splitlines():
        if not (ROOT / path).is_file() or path.startswith(("tests/", ".ci/")):
            continue
        names.extend(Found(path, 1, "file", part.partition(".")[0]) for part in Path(path).parts)
        if path.endswith(".py"):
            names.extend(_read_module(path))
        elif path.startswith("configs/") and path.endswith(".yaml"):
            names.extend(_read_config(path))
    return names


def _read_config(path: str) -> Iterator[Found]:
    for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1):
        if match := re.match(r"([a-z_]+):", line):
            yield Found(path, number, "config", match[1])


def _read_module(path: str) -> Iterator[Found]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    config_fields = {
        id(field.target)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and node.name == "TrainingConfig"
        for field in node.body
        if isinstance(field, ast.AnnAssign)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            kind = "name" if node.decorator_list and "property" in ast.unparse(node.decorator_list[0]) else "function"
            yield Found(path, node.lineno, kind, node.name)
        elif isinstance(node, ast.ClassDef):
            yield Found(path, node.lineno, "class", node.name)
        elif isinstance(node, ast.arg):
            yield Found(path, node.lineno, "name", node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield Found(path, node.lineno, "config" if id(node) in config_fields else "name", node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield Found(path, node.lineno, "name", node.attr)
        elif isinstance(node, ast.Subscript):
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if isinstance(key, str):
                yield Found(path, node.lineno, "key", key)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/") or path == f"{folder}.py"


def _matches(name: str, pattern: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
