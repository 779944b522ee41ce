"""The page: its templates, filled with the results of a tournament."""

import re
from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from ....envs.system.messages import pluralize
from ....envs.view.svg import number
from . import charts, formatting

# what XML cannot hold, not even as a character reference; and control characters, those among them that turn the
# direction of what follows
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

_FILTERS = (
    *(formatting.decimal, formatting.interval, formatting.list_options, formatting.milliseconds, formatting.percent),
    *(formatting.plus_or_minus, formatting.probability, formatting.format_with_sign, formatting.tick, pluralize),
    charts.short_name,
)
_FUNCTIONS = (charts.rating_axis, charts.seat_axis, charts.score_axis, charts.outline_histogram, charts.speed_plot)


def render_report(results: dict[str, Any]) -> str:
    """Return the report of a tournament as one HTML page that loads nothing and is well-formed XML as well.

    `results` is the content of a tournament's results.json. Characters that no page can hold become U+FFFD.
    """
    environment = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # the filters return text: the numbers that are left are coordinates
        finalize=lambda value: number(value) if isinstance(value, float) else value,
    )
    environment.filters |= {each.__name__: each for each in _FILTERS} | {"points": _write_points}
    environment.globals |= {each.__name__: each for each in _FUNCTIONS} | {"WIDTH": charts.WIDTH}
    page = environment.get_template("page.html.jinja").render(results)
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", page)


def _write_points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in points)
