"""Artificial histories as files: the games as CSV or PGN, the truth as CSV."""

import errno
import os
import shutil
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO, Final, Literal

import numpy as np

from ttt_cli.errors import ConfigError
from ttt_cli.evaluate.simulate.simulate import Simulated
from ttt_cli.files import database_writing, real_place, replacing
from ttt_cli.games.table import DRAW, LOSS, WIN
from ttt_cli.progress import SILENT, Progress

_PGN_BLOCK: Final = 1 << 16
_SHUFFLES: Final = ("Nf3", "Nf6", "Ng1", "Ng8")
_RESULTS: Final = {LOSS: "0-1", DRAW: "1/2-1/2", WIN: "1-0"}
_SQL_RESULT: Final = f"CASE outcome WHEN {LOSS} THEN '0-1' WHEN {DRAW} THEN '1/2-1/2' ELSE '1-0' END"
_SQL_DATE: Final = "DATE '1970-01-01' + date"
_OTHERS: Final = ".tsv .json .jsonl .parquet .ttt .xlsx .xls .ods .html .yaml .gz .bz2 .xz .zst .zip"
_PLACE_HINT: Final = "name a file in a folder that exists and may be written to"


def check_places(
    games: Path | BinaryIO, truth: Path | None = None, years: Path | None = None, *, movetext: int = 0
) -> list[Path]:
    """Whether `save` could write there, found out before the work; the files that it would replace.

    Raises ConfigError for moves in a CSV, one place for both, and a place that cannot be written to.
    """
    if movetext and not _is_pgn(games):
        raise ConfigError("a CSV has no room for moves", hint="leave movetext out, or name a .pgn file")
    if isinstance(games, Path) and games.suffix.lower() in _OTHERS.split():
        hint = f"name it {games.stem}.csv or {games.stem}.pgn"
        raise ConfigError("games are written as CSV, or as PGN by the name", where=str(games), hint=hint)
    places = [place for place in (games, truth, years) if isinstance(place, Path)]
    if len({real_place(place) for place in places}) < len(places):
        raise ConfigError("games and the truth go to one file", where=str(truth), hint="name other files")
    for place in places:
        _check_writable(place)
    return [place for place in places if place.is_file()]


def save(
    simulated: Simulated,
    games: Path | BinaryIO,
    truth: Path | None = None,
    years: Path | None = None,
    *,
    movetext: int = 0,
    progress: Progress = SILENT,
) -> None:
    """Write the games, as PGN when the name ends in .pgn and else as CSV, and the truth as CSV.

    Games: `date,white,black,result`; a PGN game carries about `movetext` bytes of legal moves.
    Truth: `player,period,skill`. Years: `period,draw_margin,newcomers_mean`. Files appear complete or not at all.
    Raises ConfigError as `check_places`.
    """
    check_places(games, truth, years, movetext=movetext)
    with _filled(games) as part, _filled(truth) as truth_part, _filled(years) as years_part:
        if truth_part:
            columns = [f"{_sql_name('player', simulated)} AS player", "year AS period", "skill"]
            _copy(simulated, ("player", "year", "skill"), columns, truth_part)
        if years_part:
            columns = ["years AS period", "margin AS draw_margin", "newcomers AS newcomers_mean"]
            _copy(simulated, ("years", "margin", "newcomers"), columns, years_part)
        if part and _is_pgn(games):
            _write_pgn(simulated, part, movetext, progress)
        elif part:
            date = _SQL_DATE if simulated.plan.dates == "day" else f"year({_SQL_DATE})"
            names = [f"{_sql_name(side, simulated)} AS {side}" for side in ("white", "black")]
            columns = [f"{date} AS date", *names, f"{_SQL_RESULT} AS result"]
            _copy(simulated, ("date", "white", "black", "outcome"), columns, part)


def _is_pgn(games: Path | BinaryIO) -> bool:
    return isinstance(games, Path) and games.suffix.lower() == ".pgn"


def _check_writable(place: Path) -> None:
    try:
        if place.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if place.is_file() or not place.exists():  # else a pipe or a device
            with tempfile.TemporaryDirectory(prefix=".ttt.", dir=real_place(place).parent):
                pass
    except OSError as error:
        raise _unwritable(place, error) from error


def _unwritable(place: Path, error: OSError) -> ConfigError:
    return ConfigError(f"cannot be written: {error.strerror}", where=str(place), hint=_PLACE_HINT)


@contextmanager
def _filled(target: Path | BinaryIO | None) -> Iterator[Path | None]:
    """A file to write to, whose content the target gets at the end of a block that succeeds."""
    try:
        if target is None:
            yield None
        elif isinstance(target, Path) and (target.is_file() or not target.exists()):
            with replacing(target) as part:
                yield part
        else:  # a stream, a pipe, a device
            with tempfile.TemporaryDirectory(prefix="ttt-simulate-") as folder:
                part = Path(folder) / "part"
                yield part
                opened = target.open("wb") if isinstance(target, Path) else nullcontext(target)
                with part.open("rb") as source, opened as sink:
                    shutil.copyfileobj(source, sink)
    except OSError as error:
        if not isinstance(target, Path):
            raise
        raise _unwritable(target, error) from error


def _sql_name(column: str, simulated: Simulated) -> str:
    return f"'Player ' || lpad(({column} + 1)::VARCHAR, {simulated.name_width}, '0')"


def _copy(simulated: Simulated, arrays: tuple[str, ...], columns: list[str], path: Path) -> None:
    import duckdb

    place = str(path).replace("'", "''")
    with database_writing(path), duckdb.connect() as database:
        database.register("simulated", {name: getattr(simulated, name) for name in arrays})
        database.execute(
            f"COPY (SELECT {', '.join(columns)} FROM simulated) TO '{place}' (FORMAT csv, HEADER)"
        )


def _write_pgn(simulated: Simulated, path: Path, movetext: int, progress: Progress) -> None:
    end = {code: f'"]\n[Result "{text}"]\n\n{_moves(text, movetext)}\n' for code, text in _RESULTS.items()}
    with (
        path.open("w", encoding="ascii", newline="\n") as stream,
        progress.task("writing", total=len(simulated.date), unit="games") as bar,
    ):
        for low in range(0, len(simulated.date), _PGN_BLOCK):
            part = slice(low, low + _PGN_BLOCK)
            stream.write("\n" if low else "")
            stream.write("\n".join(_pgn_games(simulated, part, end)))
            bar.advance(len(simulated.date[part]))


def _pgn_games(simulated: Simulated, part: slice, end: dict[int, str]) -> Iterator[str]:
    unit: Literal["D", "Y"] = "D" if simulated.plan.dates == "day" else "Y"
    dates = np.datetime_as_string(simulated.date[part].astype("datetime64[D]"), unit=unit).tolist()
    months = "" if unit == "D" else ".??.??"
    names = simulated.players
    rows = zip(
        dates,
        *(getattr(simulated, name)[part].tolist() for name in ("white", "black", "outcome")),
        strict=True,
    )
    for date, white, black, outcome in rows:
        yield (
            f'[Event "Simulation"]\n[Site "?"]\n[Date "{date.replace("-", ".")}{months}"]\n[Round "?"]\n'
            f'[White "{names[white]}"]\n[Black "{names[black]}{end[outcome]}'
        )


def _moves(result: str, size: int) -> str:
    """Knights that go out and back, about `size` bytes of them, and the result."""
    words: list[str] = []
    length = 0
    while length < size:
        ply = len(words)
        words.append(f"{ply // 2 + 1}. {_SHUFFLES[ply % 4]}" if ply % 2 == 0 else _SHUFFLES[ply % 4])
        length += len(words[-1]) + 1
    return textwrap.fill(" ".join([*words, result]), width=79, break_on_hyphens=False)
