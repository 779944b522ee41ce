"""Moves and positions as JSON."""

from meeplezoo.envs.records.position_validation import OVER, check_integer, check_list, check_object, refuse

from .state import MOST_LUCK, MOST_STONES, NUM_ACTIONS


def move(options, action, state):
    return {"take": action + 1}


def action(options, move, state):
    check_object(move, "move", ["take"])
    return check_integer(move["take"], "take", 1, NUM_ACTIONS) - 1


def position(options, state):
    players = options["num_players"]
    return {
        "phase": "take",
        "to_move": int(state["to_move"]),
        "pile": int(state["stones"]),
        "taken": state["taken"][:players].tolist(),
        "luck": state["luck"][:players].tolist(),
        "last": int(state["to_move"]),
        "last_take": int(state["last_take"]),
    }


def fill(options, own, phase, state):
    check_object(own, "position", ["pile", "taken", "luck", "last", "last_take"])
    players = options["num_players"]
    state["stones"] = check_integer(own["pile"], "pile", 0, options["pile"])
    for name, most in (("taken", MOST_STONES), ("luck", MOST_LUCK)):
        for player, number in enumerate(check_list(own[name], name, length=players)):
            state[name][player] = check_integer(number, f"{name}[{player}]", 0, most)
    if int(state["stones"]) + int(state["taken"].sum()) != options["pile"]:
        refuse("taken", "does not make up for the pile")
    last = check_integer(own["last"], "last", 0, players - 1)
    if phase == OVER:
        state["to_move"] = last
    state["last_take"] = check_integer(own["last_take"], "last_take", 0, NUM_ACTIONS)


def ending_error(state):
    return "" if state["stones"] == 0 else "there are stones left"
