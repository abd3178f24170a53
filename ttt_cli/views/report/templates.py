"""The texts that pages are made of, and how their places are filled."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Final

_PLACE: Final = re.compile(r"\{\{(\w+)\}\}")


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
