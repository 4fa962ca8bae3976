"""`@@FILL:<text>:<count>@@`: long repetitions, written short in the vector files."""

import re

_FILL = re.compile(r"@@FILL:([^:@]+):([0-9]+)@@")
_REPEATED = re.compile(r"([^@]{1,12}?)\1{49,}", re.DOTALL)


def expand(text):
    """The text as it is meant."""
    return _FILL.sub(lambda match: match[1] * int(match[2]), text)


def fold(text):
    """The text with repetitions of fifty and more written short."""
    if len(text) < 100:
        return text
    assert "@@" not in text
    return _REPEATED.sub(_folded, text)


def _folded(match):
    unit = match[1]
    if ":" in unit:
        return match[0]
    return f"@@FILL:{unit}:{len(match[0]) // len(unit)}@@"


def fold_strings(value):
    """A value with every string in it folded; keys stay as they are."""
    if isinstance(value, str):
        return fold(value)
    if isinstance(value, dict):
        return {key: fold_strings(item) for key, item in value.items()}
    if isinstance(value, list):
        return [fold_strings(item) for item in value]
    return value
