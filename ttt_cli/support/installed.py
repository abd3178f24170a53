"""Rating systems and input formats that other packages install, as entry points."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal

from ttt_cli.support.errors import ConfigError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Group = Literal["ttt.systems", "ttt.formats"]
SYSTEMS: Final = "ttt.systems"
FORMATS: Final = "ttt.formats"


@cache
def entry_points_of(group: Group) -> dict[str, EntryPoint]:
    """The entry points of a group by name. All installed packages are searched, which takes 20 ms."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=group)}


def load_entry_point(group: Group, name: str) -> Any:
    """The object of an entry point. Raises ConfigError where its package cannot be imported."""
    point = entry_points_of(group)[name]
    try:
        return point.load()
    except (AttributeError, ImportError, SyntaxError) as error:
        package = point.dist.name if point.dist else point.value
        raise ConfigError(
            f"the package {package} cannot be imported: {error}", hint=f"it has {name!r} of {group}"
        ) from error
