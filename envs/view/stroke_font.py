"""Letters as strokes, so that pictures show their words on every machine.

SVG `<text>` needs a font on the machine that turns the picture into pixels. Containers often have none (the
words would silently be missing), and where there is one, widths and shapes differ from machine to machine.
Shipping a font file would add weight and a licence. So the letters are drawn here: every picture looks the
same everywhere, and the width of a text is known before it is drawn. For programs, such as screen readers,
the words stay readable in the `aria-label` of each path.

A letter is a few strokes on a grid in which 100 units are the size of the text. The baseline is y = 0, y
grows downwards; capitals reach up to -70, small letters to -50, tails down to 19.
"""

from __future__ import annotations

from typing import NamedTuple

from .svg import element, number

_SPACE_WIDTH = 25.0
_GAP = 21.0  # between the centre lines of two neighbouring letters
_STROKE = {False: 8.5, True: 12.5}  # by `bold`


def letters(
    text: str,
    x: float,
    y: float,
    size: float,
    colour: str,
    bold: bool = False,
    anchor: str = "start",
) -> str:
    """Returns one SVG path that shows a line of text.

    `x`, `y` are the anchor point on the baseline, `size` the height of the line (a capital is 0.7 of it),
    all in units of the picture; `anchor` is "start", "middle" or "end". A character without a drawing
    appears as an empty box.
    """
    start = x - text_width(text, size) * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
    scale = size / 100
    pieces: list[str] = []
    position = 0.0
    for character in text:
        if character != " ":
            glyph = _GLYPHS.get(character, _MISSING)
            pieces.extend(f"M{number(left + position)} {number(top)}{rest}" for left, top, rest in glyph.strokes)
        position += _advance(character)
    return element(
        "path",
        d="".join(pieces) or "M0 0",
        transform=f"translate({number(start)} {number(y)}) scale({number(scale)})",
        fill="none",
        stroke=colour,
        stroke_width=_STROKE[bold],
        stroke_linecap="round",
        stroke_linejoin="round",
        aria_label=text,
    )


def text_width(text: str, size: float) -> float:
    """Returns the width of a line of text, in the units of `size`; 0 for an empty text."""
    return max(0.0, sum(_advance(character) for character in text) - _GAP) * size / 100


def _advance(character: str) -> float:
    return _SPACE_WIDTH if character == " " else _GLYPHS.get(character, _MISSING).width + _GAP


class _Glyph(NamedTuple):
    width: float
    strokes: tuple[tuple[float, float, str], ...]  # start x, start y, then relative SVG path commands


def _glyph(width: float, *strokes: str) -> _Glyph:
    """Reads strokes written as "x y commands"."""
    parts = [stroke.split(" ", 2) for stroke in strokes]
    return _Glyph(width, tuple((float(x), float(y), commands) for x, y, commands in parts))


_MISSING = _glyph(36, "0 0 v-70 h36 v70 z")
_BOWL = "a20 25 0 1 1 40 0 a20 25 0 1 1 -40 0"
# not shorter: programs leave out what they think has no length
_DOT = "h2"

_GLYPHS: dict[str, _Glyph] = {
    "0": _glyph(42, "0 -47 c0 -14 8 -23 21 -23 c13 0 21 9 21 23 v24 c0 14 -8 23 -21 23 c-13 0 -21 -9 -21 -23 z"),
    "1": _glyph(26, "2 -57 l18 -13 v70"),
    "2": _glyph(42, "1 -51 c1 -12 9 -19 20 -19 c12 0 20 7 20 18 c0 9 -5 15 -13 23 l-28 29 h42"),
    "3": _glyph(
        41,
        "2 -58 c3 -8 10 -12 18 -12 c11 0 18 7 18 16 c0 9 -7 15 -17 15 h-5",
        "21 -39 c12 0 20 8 20 19 c0 12 -9 20 -21 20 c-10 0 -17 -5 -20 -14",
    ),
    "4": _glyph(44, "32 0 v-70 l-32 52 h44"),
    "5": _glyph(42, "37 -70 h-30 l-3 33 c5 -5 10 -8 17 -8 c12 0 21 9 21 22 c0 14 -9 23 -22 23 c-10 0 -17 -5 -20 -13"),
    "6": _glyph(42, "0 -21 a21 21 0 1 1 42 0 a21 21 0 1 1 -42 0 c0 -22 13 -40 29 -49"),
    "7": _glyph(40, "0 -70 h40 l-25 70"),
    "8": _glyph(42, "4 -54 a17 16 0 1 1 34 0 a17 16 0 1 1 -34 0", "0 -19 a21 19 0 1 1 42 0 a21 19 0 1 1 -42 0"),
    "9": _glyph(42, "42 -49 a21 21 0 1 1 -42 0 a21 21 0 1 1 42 0 c0 22 -13 40 -29 49"),
    "A": _glyph(50, "0 0 l25 -70 l25 70", "9 -24 h32"),
    "B": _glyph(
        43,
        "0 0 v-70 h21 c12 0 19 7 19 16.5 c0 10 -7 16.5 -19 16.5 h-21",
        "21 -37 c14 0 22 7 22 18.5 c0 11 -8 18.5 -22 18.5 h-21",
    ),
    "C": _glyph(47, "47 -56 c-5 -9 -12 -14 -22 -14 c-15 0 -25 14 -25 35 c0 21 10 35 25 35 c10 0 17 -5 22 -14"),
    "D": _glyph(46, "0 0 v-70 h17 c18 0 29 13 29 35 c0 22 -11 35 -29 35 z"),
    "E": _glyph(39, "39 0 h-39 v-70 h38", "0 -36 h33"),
    "F": _glyph(37, "0 0 v-70 h37", "0 -35 h31"),
    "G": _glyph(48, "47 -57 c-5 -8 -12 -13 -21 -13 c-16 0 -26 14 -26 35 c0 21 10 35 26 35 c13 0 22 -9 22 -24 v-8 h-19"),
    "H": _glyph(46, "0 0 v-70", "46 0 v-70", "0 -36 h46"),
    "I": _glyph(1, "0 0 v-70"),
    "J": _glyph(28, "28 -70 v50 c0 13 -6 20 -15 20 c-7 0 -11 -3 -13 -9"),
    "K": _glyph(44, "0 0 v-70", "42 -70 l-42 43", "15 -42 l29 42"),
    "L": _glyph(37, "0 -70 v70 h37"),
    "M": _glyph(54, "0 0 v-70 l27 44 l27 -44 v70"),
    "N": _glyph(46, "0 0 v-70 l46 70 v-70"),
    "O": _glyph(52, "0 -35 c0 -21 10 -35 26 -35 c16 0 26 14 26 35 c0 21 -10 35 -26 35 c-16 0 -26 -14 -26 -35 z"),
    "P": _glyph(43, "0 0 v-70 h22 c13 0 21 8 21 20 c0 12 -8 20 -21 20 h-22"),
    "Q": _glyph(
        52,
        "0 -35 c0 -21 10 -35 26 -35 c16 0 26 14 26 35 c0 21 -10 35 -26 35 c-16 0 -26 -14 -26 -35 z",
        "33 -15 l17 19",
    ),
    "R": _glyph(44, "0 0 v-70 h22 c13 0 21 8 21 20 c0 12 -8 20 -21 20 h-22", "23 -30 l21 30"),
    "S": _glyph(
        45,
        "42 -58 c-5 -8 -11 -12 -20 -12 c-12 0 -20 7 -20 17 c0 11 9 14 20 17 c13 3 23 7 23 18"
        " c0 11 -10 18 -22 18 c-10 0 -18 -4 -23 -13",
    ),
    "T": _glyph(46, "0 -70 h46", "23 -70 v70"),
    "U": _glyph(44, "0 -70 v46 c0 16 9 24 22 24 c13 0 22 -8 22 -24 v-46"),
    "V": _glyph(48, "0 -70 l24 70 l24 -70"),
    "W": _glyph(70, "0 -70 l17.5 70 l17.5 -64 l17.5 64 l17.5 -70"),
    "X": _glyph(44, "0 -70 l44 70", "44 -70 l-44 70"),
    "Y": _glyph(46, "0 -70 l23 38 l23 -38", "23 -32 v32"),
    "Z": _glyph(42, "0 -70 h41 l-41 70 h42"),
    "a": _glyph(40, f"0 -25 {_BOWL}", "40 -50 v50"),
    "b": _glyph(40, f"0 -25 {_BOWL}", "0 -72 v72"),
    "c": _glyph(36, "36 -40 c-4 -6 -9 -10 -16 -10 c-12 0 -20 11 -20 25 c0 14 8 25 20 25 c7 0 12 -4 16 -10"),
    "d": _glyph(40, f"0 -25 {_BOWL}", "40 -72 v72"),
    "e": _glyph(40, "1 -27 h38 c0 -14 -8 -23 -19 -23 c-12 0 -20 11 -20 25 c0 15 9 25 21 25 c7 0 12 -3 16 -9"),
    "f": _glyph(22, "23 -71 c-10 -3 -16 2 -16 13 v58", "0 -50 h20"),
    "g": _glyph(40, f"0 -25 {_BOWL}", "40 -50 v49 c0 13 -8 20 -20 20 c-7 0 -12 -2 -16 -6"),
    "h": _glyph(35, "0 -72 v72", "0 -29 c0 -14 8 -21 18 -21 c11 0 17 7 17 19 v31"),
    "i": _glyph(1, "0 -50 v50", f"0 -68 {_DOT}"),
    "j": _glyph(10, "10 -50 v56 c0 9 -4 13 -12 13", f"10 -68 {_DOT}"),
    "k": _glyph(34, "0 -72 v72", "32 -50 l-32 31", "11 -30 l23 30"),
    "l": _glyph(9, "0 -72 v59 c0 9 4 13 9 13"),
    "m": _glyph(
        58,
        "0 -50 v50",
        "0 -30 c0 -13 6 -20 15 -20 c9 0 14 7 14 18 v32",
        "29 -30 c0 -13 6 -20 15 -20 c9 0 14 7 14 18 v32",
    ),
    "n": _glyph(35, "0 -50 v50", "0 -29 c0 -14 8 -21 18 -21 c11 0 17 7 17 19 v31"),
    "o": _glyph(40, f"0 -25 {_BOWL}"),
    "p": _glyph(40, f"0 -25 {_BOWL}", "0 -50 v69"),
    "q": _glyph(40, f"0 -25 {_BOWL}", "40 -50 v69"),
    "r": _glyph(20, "0 -50 v50", "0 -27 c0 -15 8 -23 20 -22"),
    "s": _glyph(
        33,
        "31 -42 c-4 -5 -9 -8 -15 -8 c-9 0 -15 5 -15 12 c0 8 6 11 15 13 c10 2 17 5 17 13"
        " c0 8 -7 12 -16 12 c-8 0 -13 -3 -17 -9",
    ),
    "t": _glyph(22, "8 -65 v51 c0 10 5 15 14 13", "0 -50 h21"),
    "u": _glyph(35, "0 -50 v30 c0 13 7 20 17 20 c11 0 18 -8 18 -21", "35 -50 v50"),
    "v": _glyph(36, "0 -50 l18 50 l18 -50"),
    "w": _glyph(54, "0 -50 l13.5 50 l13.5 -46 l13.5 46 l13.5 -50"),
    "x": _glyph(34, "0 -50 l34 50", "34 -50 l-34 50"),
    "y": _glyph(36, "0 -50 l18 49", "36 -50 l-21 57 c-3 9 -7 13 -14 12"),
    "z": _glyph(33, "0 -50 h32 l-32 50 h33"),
    ".": _glyph(1, f"0 -1 {_DOT}"),
    ",": _glyph(5, "4 -2 v4 l-4 9"),
    ":": _glyph(1, f"0 -1 {_DOT}", f"0 -42 {_DOT}"),
    ";": _glyph(5, "4 -2 v4 l-4 9", f"4 -42 {_DOT}"),
    "!": _glyph(1, "0 -70 v48", f"0 -1 {_DOT}"),
    "?": _glyph(34, "0 -56 c2 -9 8 -14 17 -14 c11 0 17 6 17 15 c0 8 -4 12 -10 17 c-5 4 -7 8 -7 16", f"17 -1 {_DOT}"),
    "-": _glyph(24, "0 -26 h24"),
    "\N{MINUS SIGN}": _glyph(32, "0 -35 h32"),
    "+": _glyph(36, "0 -35 h36", "18 -53 v36"),
    "=": _glyph(34, "0 -44 h34", "0 -26 h34"),
    "/": _glyph(26, "0 8 l26 -82"),
    "(": _glyph(12, "12 -76 c-16 22 -16 66 0 88"),
    ")": _glyph(12, "0 -76 c16 22 16 66 0 88"),
    "[": _glyph(12, "12 -76 h-12 v88 h12"),
    "]": _glyph(12, "0 -76 h12 v88 h-12"),
    "'": _glyph(1, "0 -72 v16"),
    '"': _glyph(14, "0 -72 v16", "14 -72 v16"),
    "_": _glyph(40, "0 6 h40"),
    "#": _glyph(44, "14 -66 l-6 62", "36 -66 l-6 62", "2 -46 h42", "0 -24 h42"),
    "%": _glyph(
        56,
        "46 -70 l-36 70",
        "0 -55 a11 13 0 1 1 22 0 a11 13 0 1 1 -22 0",
        "34 -15 a11 13 0 1 1 22 0 a11 13 0 1 1 -22 0",
    ),
    "\N{MULTIPLICATION SIGN}": _glyph(28, "0 -49 l28 28", "28 -49 l-28 28"),
    "\N{MIDDLE DOT}": _glyph(1, f"0 -32 {_DOT}"),
    "\N{RIGHTWARDS ARROW}": _glyph(46, "0 -32 h46", "28 -50 l18 18 l-18 18"),
}
