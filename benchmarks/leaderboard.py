"""Make docs/leaderboard.md: rating systems on games that anyone can download, by the protocol of whole-history-rating.

    python benchmarks/leaderboard.py FOLDER [--write]

FOLDER has the downloaded files; docs/leaderboard.md says where they are. `--write` writes the page; without it the
tables are printed. Every system predicts the games of the last season from all games before it: its skills are
frozen at the start of the season. Data sets without files are reported and left out.
"""

import csv
import gzip
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from measuring import ROOT, options_of

PAGE: Final = ROOT / "docs" / "leaderboard.md"
MARK: Final = "<!-- written by benchmarks/leaderboard.py: what follows -->\n"
SYSTEMS: Final = ("ttt-career", "ttt-d-career", "ttt", "ttt-d", "whr", "glicko", "elo")
# Rows of names like "Brighton & Hove Albion" are games of two players at one board only in chess
SETTINGS: Final = ("data.period=year", "data.drop=[]", "data.filter.exclude=[]")
LEAGUES: Final = ("de", "en", "es", "fr", "it")


class Row(NamedTuple):
    """A game as it is written for `ttt compare`: the season's first year in place of the date."""

    date: str
    white: str
    black: str
    result: str


class DataSet(NamedTuple):
    """A data set: its title, files, season to be predicted, and the figures that others publish."""

    title: str
    files: tuple[str, ...]
    season: str
    published: str


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
        season = file.name[:4]
        for match in json.loads(file.read_text(encoding="utf-8"))["matches"]:
            goals = (match.get("score") or {}).get("ft")
            if goals and len(goals) == 2 and match.get("date"):
                date.fromisoformat(match["date"])
                yield Row(season, match["team1"], match["team2"], result_of(*goals))


def internationals(files: Iterable[Path]) -> Iterator[Row]:
    """Football between countries, to the end of 2022: the last season is that of a World Cup."""
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8", newline="") as lines:
            for match in csv.DictReader(lines):
                if match["home_score"].isdigit() and match["date"] < "2023":
                    goals = int(match["home_score"]), int(match["away_score"])
                    year, home, away = match["date"][:4], match["home_team"], match["away_team"]
                    yield Row(year, home, away, result_of(*goals))


def result_of(home_goals: int, away_goals: int) -> str:
    if home_goals == away_goals:
        return "1/2-1/2"
    return "1-0" if home_goals > away_goals else "0-1"


SETS: Final = {
    tennis: DataSet(
        "Tennis: ATP 2014, from 2000 to 2013",
        tuple(f"atp_matches_{year}.csv" for year in range(2000, 2015)),
        "2014",
        "whole-history-rating 0.6135, KickScore 0.6057, TrueSkillThroughTime 0.6043",
    ),
    leagues: DataSet(
        "Football: five leagues 2022-23, from 2014 to 2022",
        tuple(
            f"{year}-{year - 1999}_{league}.1.json" for year in range(2014, 2023) for league in LEAGUES
        ),
        "2022",
        "whole-history-rating 1.0085, KickScore 1.0134, TrueSkillThroughTime 1.0228",
    ),
    internationals: DataSet(
        "Football: countries 2022, from 1872 to 2021",
        ("football_international_results.csv.gz",),
        "2022",
        "",
    ),
}  # fmt: skip


def compare(games: Path, data_set: DataSet) -> list[dict[str, str]]:
    """The rows of `ttt compare`."""
    command = [sys.executable, "-m", "ttt_cli", "-q", "compare", *SYSTEMS]
    for setting in SETTINGS:
        command += ["-s", setting]
    command += ["--games", str(games), "--from", data_set.season, "-f", "csv"]
    done = subprocess.run(command, cwd=games.parent, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 4):
        sys.exit(done.stderr)
    return list(csv.DictReader(done.stdout.splitlines()))


def digest(files: Sequence[Path]) -> str:
    """SHA-256 of the contents of all files, one after the other."""
    whole = hashlib.sha256()
    for file in files:
        whole.update(file.read_bytes())
    return whole.hexdigest()


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(__doc__, arguments, folder_=Path, write=False)
    parts = []
    for read, data_set in SETS.items():
        files = [options.folder / name for name in data_set.files]
        if missing := [file.name for file in files if not file.exists()]:
            print(f"{data_set.title}: left out, without {missing[0]}", file=sys.stderr)
            continue
        with TemporaryDirectory() as folder:
            games = Path(folder, "games.csv")
            with games.open("w", encoding="utf-8", newline="") as out:
                writer = csv.writer(out)
                writer.writerow(Row._fields)
                writer.writerows(read(files))
            rows = compare(games, data_set)
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
        f"SHA-256 of the files, in the order of their names: `{sha}`.",
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
