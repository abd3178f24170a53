"""A table of cases as one test."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest


def each(names: str, cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for each case, as `pytest.mark.parametrize` would, but as one item; each case that fails is reported.

    For fast tests: the cases share the fixtures.
    """
    keys = [name.strip() for name in names.split(",")]
    table = [dict(zip(keys, [case] if len(keys) == 1 else case, strict=True)) for case in cases]

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def run(subtests: pytest.Subtests, **fixtures: Any) -> None:
            for case in table:
                with subtests.test(**{name: repr(value) for name, value in case.items()}):
                    test(**fixtures, **case)

        left = {name for name in inspect.signature(test).parameters if name not in keys}
        wanted = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY)
            for name in ("subtests", *sorted(left))
        ]
        run.__signature__ = inspect.Signature(wanted)  # type: ignore[attr-defined]  # the fixtures that pytest looks for
        return run

    return decorated
