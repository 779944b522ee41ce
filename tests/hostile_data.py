"""Data that no program should write, and the places of JSON data that it can be put in."""

import copy


def recursive():
    """Return a dict that holds itself."""
    own = {}
    own["own"] = own
    return own


def nested(depth):
    """Return lists in lists."""
    value = []
    for _ in range(depth):
        value = [value]
    return value


def places(value, path=()):
    """Yield the path of every value in JSON data, that of the whole first."""
    yield path
    if isinstance(value, dict):
        for name in value:
            yield from places(value[name], (*path, name))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from places(value[index], (*path, index))


def at(value, path):
    """Return what stands at a path."""
    for name in path:
        value = value[name]
    return value


def replaced(value, path, other):
    """Return a copy of JSON data with another value at a path."""
    if not path:
        return other
    changed = copy.deepcopy(value)
    at(changed, path[:-1])[path[-1]] = other
    return changed


def assert_one_sentence(error, longest=300):
    """Check that an error is one line of reasonable length without characters that act on a terminal."""
    text = str(error)
    assert 0 < len(text) <= longest, text[:500]
    assert text.isprintable(), text
