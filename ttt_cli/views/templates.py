"""The texts that pages are made of, and values for pages and figures, whatever names hold.

Nothing in a value is taken for markup, script or no number.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

_PLACE: Final = re.compile(r"\{\{(\w+)\}\}")
_ESCAPES: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
# XML has none of it.
_NO_TEXT: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def embedded(data: Any) -> str:
    """JSON that can stand inside a script element; null for NaN and infinities."""
    text = json.dumps(_mapped(data, str), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return "".join(_ESCAPES.get(c, c) for c in text) if any(c in text for c in _ESCAPES) else text


def showable(data: Any) -> Any:
    """The same value with null for NaN and infinities, and a replacement character for what no picture can hold."""
    return _mapped(data, lambda text: _NO_TEXT.sub("\N{REPLACEMENT CHARACTER}", text))


def _mapped(value: Any, text: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {text(str(key)): _mapped(item, text) for key, item in value.items()}
    return [_mapped(item, text) for item in value] if isinstance(value, list | tuple) else value


@cache
def asset(name: str) -> str:
    """The text of a template, style or script."""
    return (files("ttt_cli.views.report") / "assets" / name).read_text(encoding="utf-8")


def script(names: Iterable[str]) -> str:
    """Several scripts as one."""
    return "\n".join(map(asset, names))


def filled(name: str, parts: Mapping[str, str]) -> str:
    """A template with `{{part}}` replaced by HTML; signs in that HTML stay as they are."""
    return _PLACE.sub(lambda match: parts[match[1]], asset(name))
