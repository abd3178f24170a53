"""Errors, each with a message, a hint and an exit code."""

import difflib
from collections.abc import Collection, Iterable


class TttError(Exception):
    """An error a user can act on: a message, where it happened, and a hint.

    `where` is `file` or `file:line`; `str()` gives `where: message`. Tracebacks show the hint, too, as a note.
    """

    exit_code = 1

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        self.message = message
        self.where = where
        self.hint = hint
        super().__init__(f"{where}: {message}" if where else message)
        if hint:
            self.add_note(f"hint: {hint}")


class ConfigError(TttError):
    """A config file, an override or an option that cannot be used."""

    exit_code = 2


class LookupFailed(TttError):
    """A name, a period or a run that is not there, or is not unique.

    `player`: the name, if it is that of nobody. `event`: the name, if no event has its words.
    """

    exit_code = 2

    def __init__(
        self,
        message: str,
        *,
        where: str | None = None,
        hint: str | None = None,
        player: str | None = None,
        event: str | None = None,
    ) -> None:
        self.player = player
        self.event = event
        super().__init__(message, where=where, hint=hint)


class DataError(TttError):
    """Input that yields nothing, or cannot be read at all."""

    exit_code = 3


class RunError(TttError):
    """A run file that cannot be opened, read or written."""

    exit_code = 2


class OutputError(TttError):
    """Standard output that cannot be written to."""

    exit_code = 2


class SetupError(TttError):
    """Surroundings in which nothing can be computed."""

    exit_code = 2


def nearest(word: str, words: Iterable[str]) -> str | None:
    """The most similar of the words, for suggestions only."""
    matches = difflib.get_close_matches(word, list(words), n=1)
    return matches[0] if matches else None


def suggested(word: str, words: Collection[str], otherwise: str, form: str = "{!r}") -> str:
    """A hint for an unknown word: the most similar of `words` in this `form`, else `otherwise`."""
    similar = nearest(word, words)
    return f"did you mean {form.format(similar)}?" if similar else otherwise
