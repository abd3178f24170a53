"""Values for pages and figures, whatever names hold: nothing in them is taken for markup, script or no number."""

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

_ESCAPES: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_NO_TEXT: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]"
)  # XML has none of it


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
