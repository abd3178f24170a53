"""Make docs/leaderboard.md: rating systems on games that anyone can download, by the protocol of whole-history-rating.

    python benchmarks/leaderboard.py FOLDER [--write]

FOLDER has clones of the repositories that docs/leaderboard.md names. `--write` writes the page; without it the tables
are printed. Data sets without files are reported and left out; that of chess comes with the program.
"""

import csv
import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from measuring import ROOT, Clock, options_of

from ttt_cli.reading.samples import sample_file

PAGE: Final = ROOT / "docs" / "leaderboard.md"
MARK: Final = "<!-- written by benchmarks/leaderboard.py: what follows -->\n"
LEAGUES: Final = ("de", "en", "es", "fr", "it")
SEASONS: Final = tuple(f"{year}-{year - 1999}" for year in range(2014, 2023))
CHESS: Final = "@classics"


class Row(NamedTuple):
    """A game as it is written for `ttt compare`: the season's first year in place of the date."""

    date: str
    first: str
    second: str
    result: str


Reader = Callable[[Iterable[Path]], Iterator[Row]]


class DataSet(NamedTuple):
    """A data set.

    - `title`: of its section
    - `files`: those read, in the folder of clones; for chess the name of the sample
    - `since`: the first period that is predicted
    - `settings`: of `ttt compare`
    - `published`: figures of others
    - `read`: rows of the games, None where `ttt` reads the file itself
    - `sides`: names of the columns of both sides
    """

    title: str
    files: tuple[str, ...]
    since: str
    settings: tuple[str, ...]
    published: str = ""
    read: Reader | None = None
    sides: tuple[str, str] = ("white", "black")


def tennis(files: Iterable[Path]) -> Iterator[Row]:
    """Matches of the ATP; the player with the smaller id, as text, is first, as in the published protocol."""
    for file in files:
        with file.open(encoding="utf-8", newline="") as lines:
            for match in csv.DictReader(lines):
                first, second, result = match["winner_name"], match["loser_name"], "1-0"
                if match["winner_id"] > match["loser_id"]:
                    first, second, result = second, first, "0-1"
                yield Row(match["tourney_date"][:4], first, second, result)


def leagues(files: Iterable[Path]) -> Iterator[Row]:
    """Matches of five football leagues; a season is called by its first year."""
    for file in files:
        season = file.parent.name[:4]
        for match in json.loads(file.read_text(encoding="utf-8"))["matches"]:
            goals = (match.get("score") or {}).get("ft")
            if goals and len(goals) == 2 and match.get("date"):
                yield Row(season, match["team1"], match["team2"], result_of(*goals))


def result_of(home_goals: int, away_goals: int) -> str:
    if home_goals == away_goals:
        return "1/2-1/2"
    return "1-0" if home_goals > away_goals else "0-1"


SETS: Final = (
    DataSet(
        "Tennis: ATP 2014, from 2000 to 2013",
        tuple(f"tennis_atp/atp_matches_{year}.csv" for year in range(2000, 2015)),
        "2014",
        ("data.period=year", "data.drop=[]", "data.filter.exclude=[]"),
        "whole-history-rating 0.6135, KickScore 0.6057, TrueSkillThroughTime 0.6043",
        tennis,
    ),
    DataSet(
        "Football: five leagues 2022-23, from 2014 to 2022",
        tuple(
            f"football.json/{season}/{league}.1.json" for season in SEASONS for league in LEAGUES
        ),
        "2022",
        ("data.period=year",),
        "whole-history-rating 1.0085, KickScore 1.0134, TrueSkillThroughTime 1.0228",
        leagues,
        ("home", "away"),
    ),
    DataSet(
        "Football: countries 2022, from 1872 to 2021",
        ("international_results/results.csv",),
        "2022",
        ("data.period=year", "data.filter.years=-2022"),
    ),
    DataSet("Chess: masters 1921 to 1941, each year from all before", (CHESS,), "1921", ()),
)


def compare(games: str, data_set: DataSet, folder: str) -> list[dict[str, str]]:
    """The rows of `ttt compare`."""
    command = [sys.executable, "-m", "ttt_cli", "-q", "compare", "all"]
    for setting in data_set.settings:
        command += ["-s", setting]
    command += ["--games", games, "--from", data_set.since, "--every", "1", "-f", "csv"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 4):
        sys.exit(done.stderr)
    return list(csv.DictReader(done.stdout.splitlines()))


def digest(files: Sequence[Path]) -> str:
    """SHA-256 of the contents of all files, one after the other."""
    whole = hashlib.sha256()
    for file in files:
        whole.update(file.read_bytes())
    return whole.hexdigest()


def files_of(data_set: DataSet, folder: Path) -> list[Path]:
    """The files of a data set."""
    if data_set.files == (CHESS,):
        sample = sample_file(CHESS)
        assert sample is not None
        return [sample]
    return [folder.resolve() / name for name in data_set.files]


def rows_of(data_set: DataSet, files: Sequence[Path]) -> list[dict[str, str]]:
    """The comparison of all systems on the games of the files."""
    with TemporaryDirectory() as folder:
        games = str(files[0])
        if data_set.read is not None:
            games = "games.csv"
            with Path(folder, games).open("w", encoding="utf-8", newline="") as out:
                writer = csv.writer(out)
                writer.writerow(("date", *data_set.sides, "result"))
                writer.writerows(data_set.read(files))
        return compare(games, data_set, folder)


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(__doc__, arguments, folder_=Path, write=False)
    parts = []
    for data_set in SETS:
        files = files_of(data_set, options.folder)
        if missing := [str(file) for file in files if not file.exists()]:
            print(f"{data_set.title}: left out, without {missing[0]}", file=sys.stderr)
            continue
        clock = Clock()
        with clock.running():
            rows = rows_of(data_set, files)
        print(f"{data_set.title}: {len(rows)} systems, {clock.wall:.0f} s", file=sys.stderr)
        parts.append(table_of(data_set, digest(files), rows))
    text = "\n".join(parts)
    if options.write:
        head = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
        PAGE.write_text(f"{head}{MARK}\n{text}", encoding="utf-8")
    else:
        print(text)


def table_of(data_set: DataSet, sha: str, rows: Sequence[dict[str, str]]) -> str:
    """The section of a data set as Markdown."""
    lines = [
        f"## {data_set.title}",
        "",
        f"SHA-256 of the files, one after the other: `{sha}`.",
        "",
        "| system | games | log-loss | behind the best | standard error |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        behind = [
            f"{float(row[name]):.4f}" if row[name] else "" for name in ("behind", "standard_error")
        ]
        lines.append(
            f"| {row['system']} | {row['games']} | {float(row['log_loss']):.4f} | {behind[0]} | {behind[1]} |"
        )
    if data_set.published:
        lines += ["", f"Published, not computed here: {data_set.published}."]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
