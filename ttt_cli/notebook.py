"""How things show themselves in a notebook."""

from collections.abc import Mapping
from html import escape


def facts_table(title: str, facts: Mapping[str, object]) -> str:
    """A table of named facts in HTML."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(str(fact))}</td></tr>"
        for name, fact in facts.items()
    )
    return f"<table><caption>{escape(title)}</caption>{rows}</table>"
