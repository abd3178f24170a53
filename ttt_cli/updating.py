"""Games added to those of a run: what of its config may change, and which files are refused."""

import os
from collections.abc import Sequence
from typing import BinaryIO, Final

from ttt_cli.config.document import Document, KeyPath
from ttt_cli.config.load import override, refuse_overrides
from ttt_cli.config.schema import DataConfig
from ttt_cli.errors import ConfigError, DataError
from ttt_cli.games.extend import Extended, extend_games
from ttt_cli.games.read import read_games
from ttt_cli.progress import SILENT, Progress
from ttt_cli.reading.reports import FileReport
from ttt_cli.runs.run import Run
from ttt_cli.systems.resolve import Resolved, resolve

Source = str | os.PathLike[str] | BinaryIO

SECTIONS: Final = frozenset({"model", "solver", "scale"})  # which may change, but for the model itself
DATA_KEYS: Final = frozenset(  # of `data`, which do not decide which games the old files give
    {"period", "colours", "aliases", "reader", "format", "header", "columns", "delimiter", "encoding"}
    | {"strict", "max_errors", "filter.dedupe"}
)


def update_config(run: Run, overrides: Sequence[str] = ()) -> Resolved:
    """The config of a run with `KEY=VALUE` overrides on top, for its games and further ones.

    Raises ConfigError for keys that would have to be applied to the files of the run, too, and for filters of the run
    that look at all games together: games that they left out are not in the run.
    """
    document = override(Document(values=run.meta.config), overrides)
    why, hint = "cannot change for the games of a run", "fit all files together with `ttt fit`"
    refuse_overrides(document, _may_change, why, hint)
    resolved = resolve(document)
    chosen = resolved.config.data.filter
    for key, asked in (("min_games", chosen.min_games > 1), ("largest_group", chosen.largest_group)):
        if asked:
            raise ConfigError(
                f"the run was made with data.filter.{key}, which looks at all games together",
                where=None if run.path is None else str(run.path),
                hint="fit all files together with `ttt fit`: what the filter left out is not in the run",
            )
    return resolved


def add_games(
    run: Run, sources: Sequence[Source], data: DataConfig, *, again: bool = False, progress: Progress = SILENT
) -> Extended:
    """Read files and add their games to those of a run.

    Raises DataError for a file that the run was made from (unless `again`), when nothing is added, and as `read_games`.
    """
    old = run.stored_games()
    new = read_games(sources, data, progress=progress)
    if not again:
        _refuse_known(new.report.files, old.report.files, run.name)
    extended = extend_games(old, new, data)
    if not len(extended.added):
        raise DataError(
            f"all games read are in {run.name} already", hint="without data.filter.dedupe they are added"
        )
    return extended


def _may_change(path: KeyPath) -> bool:
    if path[0] == "data":
        return ".".join(map(str, path[1:])) in DATA_KEYS or path[1:2] == ("columns",)
    return path[0] in SECTIONS and len(path) > 1 and path != ("model", "name")


def _refuse_known(files: Sequence[FileReport], known: Sequence[FileReport], run: str) -> None:
    """Raise DataError for the first file whose bytes were read before."""
    by_digest = {file.digest: file.path for file in known}
    for file in files:
        if file.digest in by_digest:
            before = by_digest[file.digest]
            name = "" if before == file.path else f", as {before}"
            raise DataError(
                f"is in {run} already{name}",
                where=file.path,
                hint="leave it out, or count its games once more with --again",
            )
