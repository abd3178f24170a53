"""Files of artificial histories: the games as CSV or PGN, and the truth as CSV."""

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.evaluate.simulate import Simulated
from ttt_cli.games.table import DRAW, LOSS
from ttt_cli.support.arrays import Ids
from ttt_cli.support.errors import ConfigError, OutputError
from ttt_cli.support.opening import open_stream
from ttt_cli.support.outputs import Purpose, check_output, purpose_of_table
from ttt_cli.support.replacing import real_path, replacing

_Arrays = Mapping[str, NDArray[Any]]
_TEXT: Final = "HEADER false, QUOTE '', ESCAPE '', DELIMITER '\t'"  # lines as they are
_SQL_RESULT: Final = (
    f"CASE outcome WHEN {LOSS} THEN '0-1' WHEN {DRAW} THEN '1/2-1/2' ELSE '1-0' END"
)
_SQL_DATE: Final = "DATE '1970-01-01' + date"
_OTHER_FORMATS: Final = (
    ".tsv .json .jsonl .parquet .ttt .xlsx .xls .ods .html .yaml .gz .bz2 .xz .zst .zip"
)


_SIMULATED: Final = re.compile(
    rb"date(?:,white(?:_\d+)?)+(?:,black(?:_\d+)?)+,result(?:,category)?(?:,margin)?\n\S+?(?:,Player \d+)+,"
    rb'|event_id,date,player,rank(?:,team)?\n1,\S+?,Player \d+,|\[Event "Simulation"\]\n'
)


def _is_simulated(path: Path) -> bool:
    """Whether a file holds games as `save` writes them."""
    with path.open("rb") as file:
        return _SIMULATED.match(file.read(1000)) is not None


SIMULATED_GAMES: Final = Purpose("games", _is_simulated, "that `ttt simulate` did not write")
TRUE_SKILLS: Final = purpose_of_table(("player", "period", "skill"))
TRUE_SKILLS_BY_CATEGORY: Final = purpose_of_table(("player", "period", "category", "skill"))
TRUE_YEARS: Final = purpose_of_table(("period", "draw_margin", "newcomers_mean"))


def check_targets(
    games: Path | BinaryIO,
    truth: Path | None = None,
    years: Path | None = None,
    *,
    by_category: bool = False,
    of_sides: bool = False,
) -> list[Path]:
    """The files that `save` would replace; `by_category`: of a plan with offsets.

    `of_sides`: of a plan with teams or more than two sides, which PGN has no tags for.

    Raises ConfigError for other formats and equal paths, OutputError.
    """
    if isinstance(games, Path) and games.suffix.lower() in _OTHER_FORMATS.split():
        hint = f"name it {games.stem}.csv or {games.stem}.pgn"
        raise ConfigError(
            "games are written as CSV, or as PGN by the name", where=str(games), hint=hint
        )
    if of_sides and isinstance(games, Path) and games.suffix.lower() == ".pgn":
        raise ConfigError(
            "PGN is for games of two players",
            where=str(games),
            hint=f"name it {games.stem}.csv: teams and orders of finish are written as CSV",
        )
    true_skills = TRUE_SKILLS_BY_CATEGORY if by_category else TRUE_SKILLS
    outputs = (games, SIMULATED_GAMES), (truth, true_skills), (years, TRUE_YEARS)
    paths = [(path, purpose) for path, purpose in outputs if isinstance(path, Path)]
    if len({real_path(path) for path, _ in paths}) < len(paths):
        raise ConfigError(
            "games and true skills would go to one file", where=str(truth), hint="name other files"
        )
    return [path for path, purpose in paths if check_output(str(path), purpose)]


def save(
    simulated: Simulated,
    games: Path | BinaryIO,
    truth: Path | None = None,
    years: Path | None = None,
) -> None:
    """Write the games, as PGN when the name ends in .pgn, else as CSV, and the truth as CSV; whole or not at all.

    Truth: `player,period,skill`, with offsets `player,period,category,skill`; years:
    `period,draw_margin,newcomers_mean`. Raises as `check_targets`.
    """
    has_categories = simulated.category is not None
    of_sides = simulated.members is not None
    check_targets(games, truth, years, by_category=has_categories, of_sides=of_sides)
    game_arrays: _Arrays = {
        "date": simulated.date,
        "white": simulated.white,
        "black": simulated.black,
        "outcome": simulated.outcome,
    }
    if simulated.rank is not None:
        game_arrays = _participants(simulated)
        columns = ["event AS event_id", f"{_sql_date(simulated)} AS date"]
        columns += [f"{_sql_name('player', simulated)} AS player", "rank"]
        columns += ["team"] if simulated.plan.team_size > 1 else []
        game_options = "HEADER"
    elif isinstance(games, Path) and games.suffix.lower() == ".pgn":
        day = "%Y.%m.%d" if simulated.plan.dates == "day" else "%Y.??.??"
        tags = {
            "Event": "'Simulation'",
            "Site": "'?'",
            "Date": f"strftime({_SQL_DATE}, '{day}')",
            "Round": "'?'",
            "White": _sql_name("white", simulated),
            "Black": _sql_name("black", simulated),
            "Result": _SQL_RESULT,
        }
        if has_categories:
            tags["Category"] = _sql_category("category", simulated)
        if simulated.victory_margin is not None:
            tags["Margin"] = "victory_margin::VARCHAR"
        lines = "".join(
            f"'[{tag} \"' || {value} || '\"]' || chr(10) || " for tag, value in tags.items()
        )
        columns = [f"{lines} chr(10) || {_SQL_RESULT} || chr(10)"]
        game_options = _TEXT
    else:
        if simulated.members is not None:
            of_members = _columns_of_members(simulated.members)
            game_arrays = {**game_arrays, **of_members}
        names = [
            f"{_sql_name(side, simulated)} AS {side}"
            for side in (("white", "black") if simulated.members is None else of_members)
        ]
        columns = [f"{_sql_date(simulated)} AS date", *names, f"{_SQL_RESULT} AS result"]
        if has_categories:
            columns.append(f"{_sql_category('category', simulated)} AS category")
        if simulated.victory_margin is not None:
            columns.append("victory_margin AS margin")
        game_options = "HEADER"
    skills = [f"{_sql_name('player', simulated)} AS player", "year AS period", "skill"]
    by_year = ["years AS period", "margin AS draw_margin", "newcomers AS newcomers_mean"]
    if simulated.victory_margin is not None:
        game_arrays = {**game_arrays, "victory_margin": simulated.victory_margin}
    skill_arrays: _Arrays = {
        "player": simulated.player,
        "year": simulated.year,
        "skill": simulated.skill,
    }
    if simulated.category is not None:
        game_arrays = {**game_arrays, "category": simulated.category}
        skill_arrays = _skills_by_category(simulated)
        skills.insert(2, f"{_sql_category('category', simulated)} AS category")
    year_arrays: _Arrays = {
        "years": simulated.years,
        "margin": simulated.margin,
        "newcomers": simulated.newcomers,
    }
    with ExitStack() as files:
        for target, arrays, selected, options in (
            (games, game_arrays, columns, game_options),
            (truth, skill_arrays, skills, "HEADER"),
            (years, year_arrays, by_year, "HEADER"),
        ):
            if target is not None:
                _copy(arrays, selected, files.enter_context(_filled(target)), options)


@contextmanager
def _filled(target: Path | BinaryIO) -> Iterator[Path]:
    """Yield a file to write to; its content replaces the target if the block succeeds."""
    try:
        if isinstance(target, Path) and (target.is_file() or not target.exists()):
            with replacing(target) as part:
                yield part
        else:  # a stream, a pipe, a device
            with tempfile.TemporaryDirectory(prefix="ttt-simulate-") as folder:
                part = Path(folder) / "part"
                yield part
                opened = open_stream(target) if isinstance(target, Path) else nullcontext(target)
                with part.open("rb") as source, opened as sink:
                    shutil.copyfileobj(source, sink)
    except OSError as error:
        if not isinstance(target, Path):
            raise
        raise OutputError(f"cannot be written: {error.strerror}", where=str(target)) from error


def _skills_by_category(simulated: Simulated) -> _Arrays:
    """Columns of true skills by player, year, then category, those before a player's first game there left out."""
    assert simulated.category_skill is not None
    skill = np.column_stack([simulated.skill, simulated.category_skill])
    row, category = np.nonzero(~np.isnan(skill))
    return {
        "player": simulated.player[row],
        "year": simulated.year[row],
        "category": category,
        "skill": skill[row, category],
    }


def _columns_of_members(members: Ids) -> dict[str, Ids]:
    """Columns white_1, white_2, ..., black_1, ... of the members of two sides."""
    return {
        f"{name}_{number + 1}": np.ascontiguousarray(members[:, side, number])
        for side, name in enumerate(("white", "black"))
        for number in range(members.shape[2])
    }


def _participants(simulated: Simulated) -> _Arrays:
    """Columns of orders of finish with a row a participant."""
    assert simulated.members is not None
    assert simulated.rank is not None
    games, sides, size = simulated.members.shape
    players = sides * size
    return {
        "event": np.repeat(np.arange(1, games + 1), players),
        "date": np.repeat(simulated.date, players),
        "player": simulated.members.ravel(),
        "rank": np.repeat(simulated.rank.ravel(), size),
        "team": np.tile(np.repeat(np.arange(1, sides + 1), size), games),
    }


def _sql_date(simulated: Simulated) -> str:
    return _SQL_DATE if simulated.plan.dates == "day" else f"year({_SQL_DATE})"


def _sql_category(column: str, simulated: Simulated) -> str:
    names = ["'" + name.replace("'", "''") + "'" for name in simulated.category_names]
    return f"[{', '.join(names)}][{column} + 1]"


def _sql_name(column: str, simulated: Simulated) -> str:
    return f"'Player ' || lpad(({column} + 1)::VARCHAR, {simulated.name_width}, '0')"


@contextmanager
def _database_errors(path: Path) -> Iterator[None]:
    """Turn IO errors of the database inside the block into OSErrors."""
    import duckdb

    try:
        yield
    except duckdb.IOException as error:
        for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES):
            if os.strerror(number) in str(error):
                raise OSError(number, os.strerror(number), str(path)) from error
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(path)) from error


def _copy(arrays: _Arrays, columns: list[str], path: Path, options: str) -> None:
    """Write columns, as SQL of the arrays, to a file with these options of DuckDB's CSV."""
    import duckdb

    quoted_path = str(path).replace("'", "''")
    with _database_errors(path), duckdb.connect() as database:
        database.register("simulated", dict(arrays))
        database.execute(
            f"COPY (SELECT {', '.join(columns)} FROM simulated) TO '{quoted_path}' (FORMAT csv, {options})"
        )
