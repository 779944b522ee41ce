"""A position as text."""


def text(position, last_move=None, seat=None, colour=False):
    shown = [value if seat in (None, player) else "?" for player, value in enumerate(position["luck"])]
    last = f"Last move: Player {last_move.player} takes {last_move.move['take']}. " if last_move else ""
    pile = f"{position['pile']} stones left, taken {position['taken']}, luck {shown}"
    return f"{position['game'].title()}, player by player. {last}{pile}"
