"""Secrets of matches: bots cannot work out what is dealt, whoever has the secret can, and built-in agents need none."""

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from meeplezoo.agents import make_agent
from meeplezoo.agents.arena.evaluation import evaluate
from meeplezoo.agents.arena.folder import TournamentFolder
from meeplezoo.agents.arena.match_runner import Match
from meeplezoo.agents.arena.match_seeds import MatchSeeds, Secrets, new_secret, read_secrets, secret_line
from meeplezoo.agents.arena.matches import make_agents
from meeplezoo.agents.arena.recording import record_games
from meeplezoo.agents.arena.settings import make_settings
from meeplezoo.agents.arena.tournament import play_tournament
from meeplezoo.agents.external import private_memory as private_memory_module
from meeplezoo.agents.external.private_memory import private_memory
from meeplezoo.agents.external.requests import bot_seed
from meeplezoo.cli.main import main
from meeplezoo.envs import make_game
from meeplezoo.envs.engine.random_stream import game_seeds

SECRET = bytes(range(16))
AZUL = make_game("azul")

# a program, since Python bots take a second to start
PROGRAM = """
import json, random, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        generator = random.Random(message["seed"])
        answer = {"type": "ready"}
    elif message["type"] == "decision":
        move = generator.choice(message["legal"]) if message["ply"] < int(sys.argv[1]) else 0
        answer = {"id": message["id"], "move": move}
    else:
        break
    print(json.dumps(answer), flush=True)
"""
BOT = f"program:{shlex.quote(sys.executable)} -I -S bot.py 999"
FAILING = BOT.replace("999", "20")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with a bot in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot.py").write_text(PROGRAM)
    return tmp_path


# matches of built-in agents

GOLDEN = {
    "azul": ("d054a5b69e741b59", "da59ce208df8d9dc", "75fe7871cbd0dbd6"),
    "qwirkle": ("f9ce3d95da2cbd25", "bef7ed28fea65486", "e70b08f3f7eca933"),
    "manhattan": ("dfdbef8eb5c30f63", "806a0d07311a3955", "12b91eb45b984ebb"),
}


def digest(data):
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


@pytest.mark.parametrize("name", GOLDEN)
def test_matches_of_built_in_agents_follow_from_the_seed_as_ever(name):
    game = make_game(name, num_players=3)
    evaluation = evaluate(game, ["greedy", "random", "greedy"], 40, 7)
    records = record_games(game, ["random", "greedy", "random"], 3, 5)
    settings = {"game": name, "options": {"num_players": 2}, "agents": ["greedy", "random", "greedy"], "seed": 4}
    games = play_tournament(make_settings({**settings, "rounds": 2, "deals": 2})).games
    assert evaluation.secret is None
    assert GOLDEN[name] == (
        digest(evaluation.as_json()["agents"]),
        digest([[record["seed"], record["plies"]] for record in records]),
        digest([games.deals.tolist(), games.seats.tolist(), games.scores.tolist()]),
    )


def test_without_a_secret_every_deal_is_played_in_all_seatings():
    seeds = MatchSeeds(9)
    np.testing.assert_array_equal(seeds.of_games(0, 13, 6), np.repeat(game_seeds(9, 3), 6)[:13])
    np.testing.assert_array_equal(seeds.of_games(12, 7, 6), np.repeat(game_seeds(9, 4), 6)[12:19])
    assert seeds.of_agents(3) == game_seeds(9, 3).tolist()


# seeds out of a secret


def test_a_secret_gives_every_game_and_agent_a_seed_of_its_own():
    match = MatchSeeds(0, SECRET)
    games = match.of_games(0, 500, 2).tolist()
    np.testing.assert_array_equal(match.of_games(300, 200, 2), games[300:])
    others = [
        *(match.of_games(0, 500, 2) for match in (MatchSeeds(1, SECRET), MatchSeeds(0, new_secret()))),
        *(MatchSeeds(0, SECRET, number, (0, 1)).of_games(0, 500, 2) for number in (1, 2)),
        match.of_agents(4),
    ]
    every = [*games, *np.concatenate(others).tolist()]
    assert len(set(every)) == len(every) == 2504
    assert max(every) < 2**53
    # the same on every machine
    assert games[:2] == [5454084647908818, 324042071555849]
    settings = tournament(deals=5, seed=0)
    match = Match(3, (0, 2)).seeds(settings, SECRET)
    seeds, agents = match.of_games(0, 10, 2).tolist(), match.of_agents(2)
    assert len(set(seeds)) == len(seeds) == 10
    assert not set(agents) & set(seeds)
    assert Match(4, (0, 2)).seeds(settings, SECRET).of_agents(2) != agents


SPY = """
import json, os
import numpy as np
from meeplezoo.agents.external.requests import bot_seed
from meeplezoo.envs import make_game
from meeplezoo.envs.engine.random_stream import game_seeds

def match_seeds_of(told, number=2000):
    "The seeds of a match in which an agent may have been told that seed."
    return [seed for seed in range(number) if told in [bot_seed(one) for one in game_seeds(seed, 4).tolist()]]

def deals_like(position, number=5000):
    "The seeds of games, and of matches, in which the first factories are these."
    game = make_game(position["game"], **position["options"])
    return [seed for seed in range(number) if game.position(game.new(seed))["factories"] == position["factories"]]

def files_of(process):
    found = {}
    for name in ("cmdline", "environ"):
        try:
            found[name] = open(f"/proc/{process}/{name}", "rb").read().decode(errors="replace")
        except OSError as error:
            found[name] = type(error).__name__
    return found

def ancestors():
    process = os.getppid()
    while process > 1:
        yield process
        process = int(open(f"/proc/{process}/stat").read().rpartition(")")[2].split()[1])

class Spy:
    def __init__(self, game, seed):
        self.game, self.seed = game, seed
        self.asked = False
    def act(self, decisions):
        if not self.asked:
            self.asked = True
            # every game of the call has its first decision here
            positions = [self.game.position(state) for state in decisions._states]
            with open("spied.json", "w") as file:
                json.dump({
                    "told": self.seed,
                    "match": match_seeds_of(self.seed),
                    "deals": [deals_like(position) for position in positions[:1]],
                    "starts": len({json.dumps(position["factories"]) for position in positions}),
                    "games": len(positions),
                    "seeds": decisions._states["seed"].tolist(),
                    "files": [files_of(process) for process in ancestors()] if os.path.isdir("/proc/self") else [],
                }, file)
        return decisions.mask.argmax(axis=1)
"""


def test_a_spy_finds_neither_the_seed_of_the_match_nor_a_deal(folder, capsys):
    (folder / "spy.py").write_text(SPY)
    assert main(["evaluate", "azul", "spy.py:Spy", "random", "--games", "24", "--seed", "3", "--json", "out.json"]) == 0
    secret = read_secrets("out.json.secret").one
    spied = json.loads((folder / "spied.json").read_text())
    assert (spied["match"], spied["deals"]) == ([], [[]])
    assert set(spied["seeds"]) == {0}
    # 12 games in which it moves first: each has a deal of its own
    assert spied["starts"] == spied["games"] == 12
    agents = make_agents(AZUL, ["random", "random"], MatchSeeds(3, secret))
    assert len(agents) == 2
    assert bot_seed(MatchSeeds(3, secret).of_agents(2)[0]) == spied["told"]
    assert secret.hex() not in json.dumps(spied["files"])
    # the same spy does find them where everything follows from the seed
    names = {}
    exec(SPY, names)
    assert names["match_seeds_of"](bot_seed(MatchSeeds(3).of_agents(2)[1])) == [3]
    assert names["deals_like"](AZUL.position(AZUL.new(3))) == [3]
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can close a process's memory")
def test_memory_is_closed_while_bots_run(folder):
    def is_open():
        return private_memory_module._prctl(3, 0) == 1

    assert is_open()
    with private_memory(), private_memory():
        assert not is_open()
    assert is_open()
    first, second = (make_agent(BOT, AZUL, 0) for _ in range(2))
    assert not is_open()
    first._session._discard_process()
    assert not is_open()
    del second
    assert is_open()
    with pytest.raises(ValueError, match="cannot be started"):
        make_agent("program:./none", AZUL, 0)
    assert is_open()


LOOK = """
import os, pathlib, sys
names = {}
exec(pathlib.Path(sys.argv[1]).read_text(), names)
with names["private_memory"]() if sys.argv[2] == "closed" else open(os.devnull):
    read, write = os.pipe()
    if os.fork() == 0:
        # as a bot: a program of its own, whose memory is open
        look = "try: open(f'/proc/%d/mem', 'rb'); print('open')\\nexcept OSError: print('closed')" % os.getppid()
        os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", look])
    os.wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can close a process's memory")
@pytest.mark.parametrize("memory", ["open", "closed"])
def test_a_child_of_the_same_user_can_read_memory_unless_it_is_closed(tmp_path, memory):
    # root may read everything
    user = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin") if user else sys.executable
    if python is None:
        pytest.skip("root needs a Python that others may run")
    script = Path(private_memory_module.__file__).read_text()
    command = [
        python,
        "-I",
        "-S",
        "-c",
        LOOK.replace("pathlib.Path(sys.argv[1]).read_text()", repr(script)),
        "",
        memory,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd="/", **user)
    assert done.stdout == f"{memory}\n", done.stderr


# the secret gives the match again


def test_a_secret_repeats_an_evaluation_and_records(folder, capsys):
    evaluation = evaluate(AZUL, [BOT, "greedy"], 12, 5)
    assert len(evaluation.secret) == 16
    again = evaluate(AZUL, [BOT, "greedy"], 12, 5, evaluation.secret)
    assert again.agents == evaluation.agents
    assert evaluate(AZUL, [BOT, "greedy"], 12, 5).agents != evaluation.agents
    words = ["record", "azul", "--agents", f"{BOT},random", "--games", "3", "--seed", "5"]
    assert main([*words, "--out", "a.jsonl"]) == 0
    assert "a.jsonl.secret: the secret that repeats it with --secret" in capsys.readouterr().out
    assert os.stat("a.jsonl.secret").st_mode & 0o777 == 0o600
    assert main([*words, "--secret", "a.jsonl.secret", "--out", "b.jsonl"]) == 0
    assert Path("a.jsonl").read_bytes() == Path("b.jsonl").read_bytes()
    assert main([*words, "--out", "a.jsonl"]) == 0
    assert Path("a.jsonl").read_bytes() != Path("b.jsonl").read_bytes()
    # the seed of a record is that of its game
    assert main(["replay", "a.jsonl", "--check"]) == 0
    assert main([*words, "--secret", "a.jsonl", "--out", "b.jsonl"]) == 2


def test_an_evaluation_without_a_file_and_one_that_fails_tell_their_secret(folder, capsys):
    assert main(["evaluate", "azul", BOT, "random", "--games", "2"]) == 0
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("secret ")]
    assert len(told) == 1
    Path("secret").write_text(told[0].split()[1].rstrip(":"))
    assert main(["evaluate", "azul", BOT, "random", "--games", "2", "--secret", "secret"]) == 0
    assert told[0] in capsys.readouterr().out
    assert main(["evaluate", "azul", FAILING, "random", "--games", "2", "--secret", "secret"]) == 1
    assert f"({told[0].split(':')[0]}: in a file for --secret it repeats the match)" in capsys.readouterr().err


def tournament(**changes):
    agents = [BOT, "random", "greedy"]
    return make_settings({"game": "azul", "agents": agents, "rounds": 2, "deals": 1, "records": True, **changes})


def lines(path):
    return sorted(path.read_bytes().splitlines())


def without_seconds(path):
    return sorted(json.dumps({**json.loads(line), "seconds": None}) for line in path.read_text().splitlines())


def test_a_tournament_that_was_torn_off_goes_on_and_is_repeated_with_its_secrets(folder):
    whole = TournamentFolder("whole")
    whole.create(tournament())
    play_tournament(tournament(), whole)
    assert os.stat(whole.secret).st_mode & 0o777 == 0o600
    games = [json.loads(line) for line in whole.games.read_text().splitlines()]
    assert len({game["deal"] for game in games}) == len(games) == 12
    torn = TournamentFolder("torn")
    torn.create(tournament())
    torn.games.write_bytes(whole.games.read_bytes()[:1500])
    torn.records.write_bytes(whole.records.read_bytes())
    torn.secret.write_bytes(whole.secret.read_bytes()[:-20])
    kept = torn.read_games(tournament())
    assert 0 < len(kept) < 12
    play_tournament(tournament(), torn)
    # what was played stays, what was not is dealt anew
    assert len(set(lines(torn.records)) & set(lines(whole.records))) == len(kept)
    for path in (whole, torn):
        again = TournamentFolder(f"{path.path}-again")
        again.create(tournament())
        processes = 2 if path is torn else 1
        play_tournament(tournament(), again, processes, secrets=read_secrets(path.secret))
        assert without_seconds(again.games) == without_seconds(path.games)
        assert lines(again.records) == lines(path.records)
        assert read_secrets(again.secret) == read_secrets(path.secret)
    # one secret for all matches makes a tournament, too, in which they differ
    one = play_tournament(tournament(records=False), secrets=Secrets(SECRET)).games
    assert len(set(one.deals.tolist())) == 12


def test_the_secret_of_a_match_is_written_when_it_is_over(folder):
    """What lies in the folder while a bot plays is of no use to it."""
    (folder / "reader.py").write_text("""
import pathlib
class Reader:
    def __init__(self):
        self.first = True
    def act(self, decisions):
        if self.first:
            self.first = False
            seen = {name: pathlib.Path("cup", name).read_text() if pathlib.Path("cup", name).exists() else ""
                    for name in ("secret", "games.jsonl", "records.jsonl")}
            with open("seen", "a") as file:
                print(*(text.count(chr(10)) for text in seen.values()), file=file)
        return decisions.mask.argmax(axis=1)
""")
    wanted = tournament(agents=["reader.py:Reader", "random"], rounds=3)
    cup = TournamentFolder("cup")
    cup.create(wanted)
    play_tournament(wanted, cup)
    assert Path("seen").read_text().split("\n") == ["0 0 0", "1 2 2", "2 4 4", ""]
    assert len(lines(cup.secret)) == 3


def test_a_killed_tournament_with_bots_goes_on(folder):
    words = [sys.executable, "-m", "meeplezoo.cli", "tournament"]
    given = ["azul", BOT, "random", "--rounds", "500", "--deals", "1", "--processes", "1", "--out", "cup"]
    running = subprocess.Popen([*words, *given], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    games = Path("cup/games.jsonl")
    deadline = time.monotonic() + 60
    while not games.exists() or games.read_text().count("\n") < 6:
        assert time.monotonic() < deadline
        assert running.poll() is None
        time.sleep(0.02)
    running.kill()
    running.wait()
    kept = games.read_text().splitlines()
    settings = Path("cup/tournament.yaml")
    rounds = len(kept) // 2 + 2
    settings.write_text(settings.read_text().replace("rounds: 500", f"rounds: {rounds}"))
    assert main(["tournament", "--resume", "cup", "--processes", "1"]) == 0
    again = ["azul", BOT, "random", "--rounds", str(rounds), "--deals", "1", "--processes", "1"]
    assert main(["tournament", *again, "--secret", "cup/secret", "--out", "again"]) == 0
    assert without_seconds(Path("again/games.jsonl")) == without_seconds(games)
    assert games.read_text().splitlines()[: len(kept) // 2 * 2] == kept[: len(kept) // 2 * 2]


# files of secrets


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty; it should hold the secret of a match"),
        ("12", r"line 1: secret: must be 32 hexadecimal digits, not None"),
        ("0g" * 16, "it is no secret of 32 hexadecimal digits either"),
        ("\xff", "it is no secret of 32 hexadecimal digits either"),
        ('{"secret": 7}', "secret: must be 32 hexadecimal digits, not 7"),
        ('{"secret": "%s", "round": 1}' % ("0" * 32), "needs the keys round, an integer from 0, agents and secret"),
        ('{"secret": "%s", "round": true, "agents": []}' % ("0" * 32), "needs the keys round"),
        ('{"secret": "%s", "round": 1, "agents": "ab"}' % ("0" * 32), "agents: must be the names of a line-up"),
        ("0" * 32 + "\n" + "1" * 32, "line 1: is the secret of a whole match, so nothing else may stand in the file"),
        ("[" * 100_000, "is nested too deeply"),
    ],
)
def test_damaged_files_of_secrets_are_refused(tmp_path, text, message):
    path = tmp_path / "secret"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=message):
        read_secrets(path)


def test_lines_of_secrets_are_read_back(tmp_path):
    path = tmp_path / "secret"
    path.write_text(secret_line(SECRET, (0, ["ä", "b"])) + secret_line(bytes(16), (1, ["ä", "b"])))
    found = read_secrets(path)
    assert found.of_match(0, ["ä", "b"]) == SECRET
    assert found.of_match(2, ["ä", "b"]) != found.of_match(2, ["ä", "b"])
    for line in (SECRET.hex(), secret_line(SECRET)):
        path.write_text(line)
        assert read_secrets(path) == Secrets(SECRET)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["evaluate", "azul", "greedy", "random", "--secret", "one"],
            "follows from its seed alone and takes no --secret",
        ),
        (["evaluate", "azul", BOT, "random", "--secret", "none"], "there is no file none"),
        (["evaluate", "azul", BOT, "random", "--secret", "cup"], "cup holds the secrets of a tournament"),
        (["evaluate", "azul", BOT, "random", "--secret", "/dev/zero"], "/dev/zero is not a regular file"),
        (["tournament", "azul", "greedy", "random", "--secret", "one"], "takes no --secret"),
        (["tournament", "azul", BOT, "random", "--secret", "cup"], "a tournament in which 'c' plays"),
        (
            ["evaluate", "azul", BOT, "random", "--start-seconds", "0"],
            "--start-seconds: must be a number above 0, at most 86,400, not '0'",
        ),
        (["play", "azul", BOT, "random", "--start-seconds", "nan"], "--start-seconds: must be a number above 0"),
    ],
)
def test_wrong_calls_are_refused_before_anything_is_written(folder, capsys, words, message):
    (folder / "one").write_text(SECRET.hex())
    (folder / "cup").write_text(secret_line(SECRET, (0, [BOT, "c"])))
    before = sorted(folder.iterdir())
    assert main(words) == 2
    assert message in capsys.readouterr().err
    assert sorted(folder.iterdir()) == before
