"""The render modes that all interfaces share: a record in, a frame of one kind out."""

import sys
from typing import Any

import numpy as np

from ..game import Game
from ..records.notation import LastMove
from ..validation.arrays import check_integer
from .ansi import supports_colour
from .pixels import DEFAULT_WIDTH, LEAST_WIDTH, MOST_WIDTH, Window, rgb_array

RENDER_MODES = ("human", "ansi", "rgb_array", "svg")
RENDER_FPS = 2


class Renderer:
    """Draws one game's positions in one render mode; the window of `human` opens with the first frame.

    | mode | frame |
    |---|---|
    | `human` | None; the picture stands in a window |
    | `ansi` | text, coloured if standard output is a terminal |
    | `rgb_array` | uint8 [height, width, 3] |
    | `svg` | the text of an SVG document |

    `width` is that of the pixels, 100 to 4000. A copy or a pickle leaves the window out and opens one of its own when
    it draws.
    """

    def __init__(self, game: Game, render_mode: str, width: int = DEFAULT_WIDTH) -> None:
        if render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode must be one of {', '.join(RENDER_MODES)}, not {render_mode!r}")
        self._game = game
        self._mode = render_mode
        self._width = check_integer(width, "render_width", LEAST_WIDTH, MOST_WIDTH)
        self._window: Window | None = None

    def draw(self, state: np.void, last_move: LastMove | None, seat: int | None = None) -> Any:
        """Return the frame of a record; `seat` is the player whose side of the table it is seen from."""
        position = self._game.position(state)
        if self._mode == "ansi":
            colour = supports_colour(sys.stdout)
            return self._game.spec.view().text(position, last_move, seat, colour)
        svg = self._game.spec.view().svg(position, last_move, seat)
        if self._mode == "svg":
            return svg
        pixels = rgb_array(svg, self._width)
        if self._mode == "rgb_array":
            return pixels
        if self._window is None:
            self._window = Window(self._game.spec.title)
        self._window.show(pixels)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_window": None}
