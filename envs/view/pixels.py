"""From SVG text to pixels, and a window to show them in; knows no game."""

from __future__ import annotations

import os
import re
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEFAULT_WIDTH, LEAST_WIDTH, MOST_WIDTH = 800, 100, 4000

_SIGNALS_LEFT = "SDL_NO_SIGNAL_HANDLERS"
_SIZE = re.compile(r'<svg[^>]* width="([\d.]+)" height="([\d.]+)"')
_DEFINITION = re.compile(r'<g id="([^"]+)">(.*?)</g>(?=<g id=|</defs>)', re.DOTALL)
_USE = re.compile(r'<use href="#([^"]+)"([^>]*)/>')


def rgb_array(svg: str, width: int = DEFAULT_WIDTH) -> NDArray[np.uint8]:
    """Returns the pixels of an SVG document as uint8 [height, width, 3], red, green and blue from 0 to 255.

    `width` is in pixels; the height follows from the proportions of the picture. Transparent parts become
    white. Raises ImportError if pygame-ce is missing, ValueError if `svg` is no SVG document.
    """
    pygame = _import_module("pygame")
    size = _SIZE.search(svg)
    if size is None:
        raise ValueError("no valid SVG document: it has no width and height")
    height = round(width * float(size[2]) / float(size[1]))
    try:
        picture = pygame.image.load_sized_svg(BytesIO(_without_uses(svg).encode()), (width, height))
    except pygame.error as error:
        raise ValueError(f"no valid SVG document: {error}") from error
    # the picture may be a pixel smaller, where the proportions are rounded
    surface = pygame.Surface((width, height), depth=24)
    surface.fill("white")
    surface.blit(picture, (0, 0))
    return np.frombuffer(pygame.image.tobytes(surface, "RGB"), np.uint8).reshape(height, width, 3).copy()


def _without_uses(svg: str) -> str:
    """Return the document with what each `use` refers to in its place: SDL draws no references."""
    definitions, end, content = svg.partition("</defs>")
    parts = dict(_DEFINITION.findall(definitions + end))
    for name in set(_USE.findall(content)):
        if name[0] not in parts:
            raise ValueError(f"the SVG document uses #{name[0]}, which is no group among its definitions")
    return definitions + end + _USE.sub(lambda use: f"<g{use[2]}>{parts[use[1]]}</g>", content)


def _import_module(module: str) -> Any:
    """Pictures are an extra: their packages are loaded when the first one is drawn, not before."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # otherwise pygame greets on standard output
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError("pygame-ce is missing; install it with: pip install 'meeplezoo[render]'") from error


def _start_display(pygame: Any) -> None:
    """Start the display; SIGTERM and SIGINT stay with Python and whoever handles them there."""
    if _SIGNALS_LEFT in os.environ:
        pygame.display.init()
        return
    # SDL would answer SIGTERM by a message in its own queue, which nobody reads while an agent thinks; it looks into
    # the environment while it starts, and nothing that the process starts later is to find this there
    os.environ[_SIGNALS_LEFT] = "1"
    try:
        pygame.display.init()
    finally:
        del os.environ[_SIGNALS_LEFT]


class Window:
    """A window on the screen that shows pictures; opens with the first `show`.

    It belongs to the object that made it and cannot be copied or pickled. When the person closes it, it stays
    closed, and later pictures are not shown.
    """

    def __init__(self, title: str = "meeplezoo") -> None:
        """Raises ImportError if pygame-ce is missing; opens nothing yet."""
        self._pygame = _import_module("pygame")
        self._title = title
        self._window: Any = None
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether the window has been closed, by `close` or by the person in front of it."""
        return self._closed

    def show(self, rgb: NDArray[np.uint8]) -> None:
        """Shows a picture, uint8 [height, width, 3]; the window takes its size. Does nothing once closed.

        Handles what the desktop has asked of the window since the last call, so call it regularly.
        """
        if self._closed:
            return
        size = (rgb.shape[1], rgb.shape[0])
        if self._window is None:
            _start_display(self._pygame)
            self._window = self._pygame.Window(self._title, size)
        elif tuple(self._window.size) != size:
            self._window.size = size
        picture = self._pygame.surfarray.make_surface(np.swapaxes(rgb, 0, 1))
        self._window.get_surface().blit(picture, (0, 0))
        self._window.flip()
        self._answer_desktop()

    def close(self) -> None:
        """Closes the window for good; a second call does nothing."""
        if self._window is not None:
            self._window.destroy()
            self._window = None
        self._closed = True

    def _answer_desktop(self) -> None:
        """Only the closing of this very window is taken from the queue; keys and clicks stay for others."""
        pygame = self._pygame
        pygame.event.pump()
        for event in pygame.event.get(pygame.WINDOWCLOSE):
            if event.window is self._window:
                self.close()
            else:
                pygame.event.post(event)
