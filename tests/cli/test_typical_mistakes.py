"""Mistakes, and options that do not go together: what is said, what is suggested, and the exit code, in one table.

In a folder with a run of 1857 to 1862 (`a.ttt`), games and configs, good and bad.
"""

import re
import shlex
import zipfile
from pathlib import Path

import pytest

from tests.support.handmade import put_small_run
from ttt_cli.cli import main
from ttt_cli.systems import ttt

GAMES = "date,white,black,result\n1900-01-01,Lasker,Steinitz,1-0\n1901-01-01,Lasker,Steinitz,0-1\n"
MORE = "`{} --help` shows all options"

# fmt: off
MISTAKES: tuple[tuple[str, int, str, str], ...] = (
    # files that are not what they should be
    ("fit gmaes.csv", 3, "gmaes.csv: there is no such file", "did you mean 'games.csv'?"),
    ("fit", 2, "missing argument 'FILE...'", "for instance `ttt fit games.pgn`"),
    ("fit *.cvs", 3, "no file matches", "patterns may have *, ?"),
    ("fit odd.csv", 3, "its columns are not known; the first line is when, one, two, who", "-s 'data.columns=["),
    ("fit empty.csv", 3, "empty.csv: is empty", ""),
    ("fit page.html", 3, "is a web page, not a file of games", "download the file itself"),
    ("fit photo.png", 3, "is an image, not a file of games", "games are read from PGN, CSV"),
    ("fit book.xlsx", 3, "is a spreadsheet", "save the table as CSV first"),
    ("fit folder", 3, "contains no file of games", "in folders these are read: .pgn"),
    ("fit a.ttt", 3, "perhaps a run that was written before", "games are read from"),
    ("fit https://example.org/games.pgn", 3, "https://example.org/games.pgn: is an address, not a file",
     "download it first: curl -LO https://example.org/games.pgn"),
    (f"fit {'y' * 300}.csv", 2, "File name too long", ""),
    (f"top -r {'y' * 300}", 2, "File name too long", ""),
    ("fit -x.csv", 2, "no such option '-x'", "a file whose name begins with a hyphen is named ./-x.csv"),
    ("games nosuch.pgn", 3, "nosuch.pgn: there is no such file", ""),
    # what a fit writes
    ("fit games.csv -o x.csv", 2, "name it x.ttt", "`ttt export skills -o x.csv` writes the skills"),
    ("fit games.csv -o s.xlsx", 2, "name it s.ttt", ".tsv .json .parquet"),
    ("fit games.csv -o folder", 2, "folder: is a folder", "NAME.ttt"),
    ("fit games.csv -o nowhere/x.ttt", 2, "its folder does not exist", "mkdir -p nowhere"),
    ("fit games.csv -o games.csv", 2, "games.csv", ""),
    ("fit games.csv -f csv", 2, "-f is for -o -", MORE.format("ttt fit")),
    ("fit games.csv -o", 2, "ttt fit: option '-o' requires an argument", MORE.format("ttt fit")),
    # configs and their keys
    ("fit games.csv -c a.yaml -c b.yaml", 2, "one config at a time, not a.yaml and b.yaml", MORE.format("ttt fit")),
    ("fit games.csv -c nosuch", 2, "nosuch: there is no such config", "one of the shipped configs: chessmetrics, edo"),
    ("fit games.csv -c nosuch.yaml", 2, "there is no such config", "one of the shipped configs"),
    ("fit games.csv -c ttt_d", 2, "there is no such config", "did you mean ttt-d?"),
    ("fit games.csv -c tpyo.yaml", 2, "there is no such config", "did you mean typo.yaml?"),
    ("fit games.csv -c tab.yaml", 2, "tab.yaml:2: a tab is where YAML needs spaces", "indent with spaces"),
    ("fit games.csv -c typo.yaml", 2, "typo.yaml:2: unknown key model.betta", "did you mean model.beta?"),
    ("fit games.csv -c level.yaml", 2, "level.yaml:1: unknown key beta", "did you mean model.beta?"),
    ("fit games.csv -c list.yaml", 2, "a config is a map of sections", "for instance a line `model:`"),
    ("fit games.csv -c games.csv", 2, "a config is a map of sections", "`beta: 480`"),
    ("fit games.csv -s beta=500", 2, "unknown key beta", "did you mean model.beta=500?"),
    ("fit games.csv -s model.betta=500", 2, "unknown key model.betta", "did you mean model.beta=500?"),
    ("fit games.csv -s model.beta = 500", 2, "an override is KEY=VALUE", "-s model.beta=600, without blanks"),
    ("fit games.csv -s model.beta=abc", 2, "model.beta must be a number, not 'abc'", "default 480"),
    ("fit games.csv -s model.beta=-1", 2, "model.beta must be greater than 0, not -1", "points"),
    ("fit games.csv -s model.gamma=30", 2, "model.gamma has two meanings", "model.white_advantage"),
    ("fit games.csv -s model.name=tttt", 2, "unknown model 'tttt'", "did you mean 'ttt'?"),
    ("fit games.csv -s data.period=monthly", 2, "'month', 'week' or 'day', not 'monthly'", "default year"),
    ("fit games.csv -s data.columns.white=Spieler", 2, "there is no column 'Spieler'",
     "columns are date, white, black, result"),
    ("fit games.csv --beta 500", 2, "no such option '--beta'", "keys of a config are set with -s model.beta=500"),
    ("fit games.csv --period=month", 2, "no such option '--period'", "-s data.period=month"),
    ("fit games.csv --model ttt-d", 2, "no such option '--model'", "a model is chosen with -c ttt-d"),
    ("fit --resume kept", 2, "no such option '--resume'", "the same command with the same --scratch continues an"),
    ("config show ttt-d", 2, "unexpected extra argument (ttt-d)", "`ttt config show -c ttt-d`"),
    ("config schema --model tttt", 2, "unknown model 'tttt'", "did you mean 'ttt'?"),
    # options and commands
    ("ft games.csv", 2, "no such command 'ft'. Did you mean 'fit'?", "`ttt --help`"),
    ("help nosuch", 2, "no such command 'nosuch'", "`ttt --help`"),
    ("--verison", 2, "no such option '--verison'. (Did you mean one of: '--verbose', '--version'?)", "`ttt --help`"),
    ("fit games.csv --peak", 2, "no such option '--peak'", "it is an option of `ttt top`"),
    ("player morphy --form csv", 2, "no such option '--form'. Did you mean '--format'?", MORE.format("ttt player")),
    ("top -n ten", 2, "'ten' is not a valid integer", MORE.format("ttt top")),
    ("top -n -1", 2, "-1 is not in the range x>=0", MORE.format("ttt top")),
    ("versus morphy paulsen --games 0", 2, "0 is not in the range 1<=x<=500", ""),
    ("player morphy --record --upsets", 2, "--record and --upsets exclude each other", MORE.format("ttt player")),
    ("report a.html -o b.html", 2, "name the page or folder once", MORE.format("ttt report")),
    ("report -o nowhere/report.html", 2, "nowhere/report.html cannot be written", "mkdir -p nowhere"),
    ("top -f xlsx", 2, "'xlsx' is not one of 'table', 'csv'", MORE.format("ttt top")),
    ("top --by lowest", 2, "'lowest' is not one of 'mean', 'lower'", MORE.format("ttt top")),
    ("top --leaders --peak", 2, "--at, --peak or --years, and --leaders: one of them", MORE.format("ttt top")),
    ("completion powershell", 2, "'powershell' is not one of 'bash'", MORE.format("ttt completion")),
    # which games
    ("fit games.csv --years 1900-1850", 2, "1900-1850 goes backwards: perhaps 1850-1900", MORE.format("ttt fit")),
    ("fit games.csv --years 1900:1950", 2, "'1900:1950' is not a range of years, for instance 1850-1900", ""),
    ("fit games.csv -s data.filter.years=1900-1850", 2, "1900-1850 goes backwards: perhaps 1850-1900", "default null"),
    ("fit games.csv --years 2100-", 3, "none of the 2 records is left: other years 2", "ask for less with --years"),
    ("fit games.csv --players Kasparov", 2, "there is no player 'Kasparov'", "names are those that `ttt games` shows"),
    ("fit games.csv --exclude bullet", 2, "there is no set 'bullet'; sets are simul", MORE.format("ttt fit")),
    ("fit games.csv --aliases nosuch.csv", 3, "nosuch.csv: there is no such file", ""),
    ("top --players", 2, "no such option '--players'", "`ttt players` is a command of its own"),
    ("player morphy anderssen", 2, "no player 'morphy anderssen'",
     "one player at a time; two together: `ttt versus morphy anderssen`"),
    ("players --from 1900 --to 1850", 2, "perhaps --from 1850 --to 1900 is meant", MORE.format("ttt players")),
    # which run, who, when
    ("top -r nosuch.ttt", 2, "nosuch.ttt: no such run", "make one with `ttt fit FILE`"),
    ("top -r b", 2, "b.ttt: no such run", "make one with `ttt fit FILE`"),
    ("top -r games.csv", 2, "games.csv: not a run of ttt", "make a run from games with `ttt fit FILE`"),
    ("update games.csv a.ttt", 2, "games.csv: not a run of ttt", "`ttt fit FILE`"),
    ("update a.ttt", 2, "missing argument 'FILE...'", "for instance `ttt update games.ttt new.pgn`"),
    ("player Morfy", 2, "a.ttt: no player 'Morfy' in this run", "did you mean 'Morphy, Paul'?"),
    ("player Kasparov", 2, "a.ttt: no player 'Kasparov' in this run", "`ttt players` lists them"),
    ("player", 2, "missing argument 'NAME...'", "for instance `ttt player morphy`"),
    ("versus morphy", 2, "missing argument 'B'", "for instance `ttt versus morphy anderssen`"),
    ("versus Morphy Paul Anderssen", 2, "unexpected extra argument (Anderssen)", "names of several words in quotes"),
    ("versus morphy paulsen --at 1700", 2, "Morphy, Paul has no skill at 1700", "the history starts in 1857"),
    ("top --at abc", 2, "a.ttt: 'abc' is not a period", "a year, or as in the run: 1857, 1862"),
    ("top --at 01.06.1858", 2, "'01-06-1858' is not a period", "1857, 1862"),
    ("top --at 1700", 2, "a.ttt: no player has a skill at 1700", "the run covers 1857 to 1862, by the year"),
    ("top 1858", 2, "unexpected extra argument (1858)", "the period of a ranking: --at 1858"),
    ("top 1858 -n 8", 2, "unexpected extra argument (1858)", "the period of a ranking: --at 1858"),
    ("top --at 1858-13", 2, "'1858-13' is not a period", "1857, 1862"),
    ("top --at 1858-02-30", 2, "'1858-02-30' is not a period", "1857, 1862"),
    ("top --at 1858-W54", 2, "'1858-W54' is not a period", "1857, 1862"),
    ("player morphy 1858", 2, "no player 'morphy 1858' in this run", "did you mean 'Morphy, Paul'"),
    ("player a.ttt morphy", 2, "no player 'a.ttt morphy' in this run", "a run is named with -r a.ttt"),
    ("versus a.ttt morphy paulsen", 2, "unexpected extra argument (paulsen)", "a run is named with -r a.ttt"),
    ("top a.ttt", 2, "unexpected extra argument (a.ttt)", "a run is named with -r a.ttt"),
    ("report a.ttt", 2, "a.ttt: is a file, not a folder", "a run is named with -r a.ttt"),
    ("compare elo a.ttt", 2, "a.ttt", "a run is named with -r a.ttt"),
    ("compare elo games.csv", 2, "games.csv", "games are named with --games games.csv"),
    ("simulate 100", 2, "unexpected extra argument (100)", "for instance `ttt simulate --players 200"),
    ("games games.csv --list=no", 2, "ttt games: option '--list' does not take a value", MORE.format("ttt games")),
    ("top --scale 2700", 2, "'2700' is not an anchor of a scale", "NAME @ YEAR = RATING"),
    ("update a.ttt games.csv --again --cluster local", 2, "'local' is no cluster", "where to work: local:N"),
    ("fit games.csv --memory 1GB --cluster local:1", 2, "memory and cluster exclude each other", ""),
    # where answers go
    ("export", 2, "missing argument 'TABLE'", "`ttt export skills -o skills.csv`"),
    ("export game", 2, "'game' is not one of 'skills'", MORE.format("ttt export")),
    ("export skills -o s.xlsx", 2, "'s.xlsx': tables are csv, tsv, json, jsonl, parquet", MORE.format("ttt export")),
    ("top -o nowhere/s.csv", 2, "nowhere/s.csv cannot be written: no such folder", "mkdir -p nowhere"),
    ("plot morphy -o x.gif", 2, "'x.gif': figures are png, svg, pdf, html", MORE.format("ttt plot")),
    ("report -o x.pdf", 2, "a report is an HTML page, not a figure", MORE.format("ttt report")),
    ("report games.csv", 2, "games.csv: is a file, not a folder", "name a page PAGE.html"),
    ("tune beta -o t.csv", 2, "-o is for the config, NAME.yaml", MORE.format("ttt tune")),
    ("simulate -o s.xlsx", 2, "games are written as CSV, or as PGN", "name it s.csv or s.pgn"),
    # parameters
    ("tune betta", 2, "betta", "did you mean beta?"),
    ("evidence --grid beta=200:800", 2, "beta=200:800 is not a range", "beta=START:STOP:COUNT"),
    ("evidence --scores --grid beta", 2, "--scores and --grid do not go together", MORE.format("ttt evidence")),
    ("compare nosuch", 2, "nosuch: there is no such config", "one of the shipped configs"),
    ("compare elo --from abc", 2, "'abc' is not a period", "a year, or as in the run: 1857, 1862"),
    # what does not go together, or not with this run
    ("compare", 2, "missing argument 'CONFIG...'", ""),
    ("compare ttt --evaluations 20", 2, "go with --tune", ""),
    ("compare ttt --tuned-to x", 2, "go with --tune", ""),
    ("compare ttt --games games.csv -r a.ttt", 2, "not from both", ""),
    ("compare ttt --from 1900", 2, "no games from 1900 on", ""),
    ("compare ttt --from 1857 --tune", 2, "no games before the test to tune with", ""),
    ("compare ttt --tune --tuned-to a.ttt/x", 2, "a.ttt/x cannot be used", ""),
    ("compare ttt ttt", 2, "is compared with itself", ""),
    ("compare tttt", 2, "there is no such config", "did you mean"),
    ("evidence --from 1858", 2, "--from and --every go with --scores", ""),
    ("evidence --every 2", 2, "--from and --every go with --scores", ""),
    ("evidence --scores --every 0", 2, "--every", ""),
    ("evidence --scores --from 1900", 2, "no games from 1900 on", ""),
    ("evidence --scores --from soon", 2, "'soon' is not a period", ""),
    ("evidence --jobs 2", 2, "-s go with --grid", ""),
    ("evidence -s model.beta=600", 2, "-s go with --grid", ""),
    ("evidence --grid bta=1/2", 2, "unknown parameter bta", "did you mean beta?"),
    ("tune prior_mean", 2, "does not change the evidence", ""),
    ("tune prior_sd,beta,tau", 2, "", "leave one out"),
    ("tune beta -s model.bet=3", 2, "unknown key", "did you mean model.beta"),
    ("tune beta -s data.period=month", 2, "", "ttt fit"),
    ("tune beta -o no/tuned.yaml", 2, "no such folder", ""),
    ("tune beta -o .", 2, "is a folder", ""),
    ("tune beta -o - -f csv", 2, "leave -f out", ""),
    ("tune beta -r no.ttt", 2, "no such run", ""),
    ("update none.ttt games.csv", 2, "no such run", ""),
    ("update a.ttt missing.pgn", 3, "missing.pgn", ""),
    ("update a.ttt games.csv -o games.csv", 2, "not a run", ""),
    ("update a.ttt games.csv -o -", 2, "cannot be streamed", ""),
    ("update a.ttt games.csv -s model.name=elo", 2, "cannot change", ""),
    ("update a.ttt games.csv -s model.bta=1", 2, "", "beta"),
    ("top --at 1858 --leaders", 2, "one of them", ""),
    ("top --each", 2, "--each goes with --leaders", ""),
    ("top --peak --active 1", 2, "--active goes with rankings and --leaders", ""),
    ("top --active 1 --everyone", 2, "one or the other", ""),
    ("top --at 1850", 2, "no player has a skill at 1850", ""),
    ("top --max-sd 1", 2, "nobody is eligible", "--everyone"),
    ("top --peak --seed 2", 2, "--seed goes with", ""),
    ("top --scale matched", 2, "there are none", ""),
    ("versus morphy anderssen --games 501", 2, "501 is not in the range", ""),
    ("versus morphy anderssen --at 1850", 2, "Morphy, Paul has no skill at 1850", ""),
    ("plot Fischer", 2, "no player 'Fischer'", ""),
    ("plot Morphy -f csv", 2, "csv is a format of tables", "`ttt player NAME -f csv`"),
    ("plot Morphy --kind games", 2, "go with --kind skills", ""),
    ("plot Morphy --kind difference", 2, "takes two names", ""),
    ("plot --by dominance --kind top", 2, "--by dominance goes with --kind skills", ""),
    ("plot --by dominance", 2, "5 others who are eligible", ""),
    ("plot Morphy Paulsen --with a.ttt --kind difference", 2, "go with --kind skills", ""),
    ("plot Morphy --with a.ttt --beside games.csv", 2, "exclude each other", ""),
    ("plot --kind top --beside games.csv", 2, "go with --kind skills", ""),
    ("plot --kind evidence", 2, "", "ttt evidence --grid"),
    ("plot --kind top", 2, "", "--min-games"),
    ("plot Morphy --with missing.ttt", 2, "missing.ttt: no such run", ""),
    ("plot Morphy -o nowhere/a.svg", 2, "cannot be written", ""),
    ("player Anderssen --plot a.bmp", 2, "png, svg, pdf, html", ""),
    ("player Anderssen --plot -", 2, "--plot needs a file", ""),
    ("fit missing.pgn -o .", 2, ".: ", ""),
    ("fit missing.pgn -o no/a.ttt", 2, "no/a.ttt: ", ""),
    ("fit missing.pgn -o games.csv", 2, "games.csv: ", ""),
    ("fit games.csv -o x.parquet", 2, "name it x.ttt", "`ttt export skills -o x.csv`"),
    ("fit games.csv -o x.PGN", 2, "x.PGN: a run is a database", ""),
    ("fit games.csv -o x.csv.gz", 2, "x.csv.gz: a run is a database", ""),
    ("games games.csv --years abc", 2, "'abc' is not a range of years", ""),
    ("games games.csv --exclude rapid,blindfld", 2, "did you mean blindfold?", ""),
    ("games games.csv --min-games -1", 2, "data.filter.min_games", ""),
    ("games games.csv --all", 2, "--all goes with --list", ""),
    ("games games.csv --list --only files", 2, "--list goes without", ""),
    ("games games.csv --list --suggest a", 2, "--list goes without", ""),
    ("games games.csv --suggest - -f csv", 2, "nothing else", ""),
    ("games games.csv -f table -o a.txt", 2, "> FILE", ""),
    ("games games.csv --only plyers", 2, "players", ""),
    ("games games.csv --suggest no/such/place", 2, "no/such/place cannot be written: no such folder", ""),
    ("games games.csv --list -o .", 2, ". cannot be written: is a folder", ""),
    ("games games.csv --list -o games.csv", 2, "games.csv cannot be written: this command reads it", ""),
    ("games games.csv --suggest ./games.csv", 2, "./games.csv cannot be written: this command reads it", ""),
    ("simulate -c elo", 2, "from the model ttt, not elo", "-c ttt or -c ttt-career"),
    ("simulate -s simulate.mixng=1", 2, "unknown key simulate.mixng", "did you mean simulate.mixing=1?"),
    ("simulate --mixing x", 2, "must be a number, not 'x'", ""),
    ("simulate -o none/mine.csv", 2, "none/mine.csv cannot be written: no such folder", "mkdir -p none"),
    ("simulate -o mine.csv -s simulate.movetext=9", 2, "moves are written to PGN only", "leave movetext out"),
    *((f"{command} -o s.xlsx", 2, "'s.xlsx': tables are csv, tsv, json, jsonl, parquet", "")
      for command in ("player Morphy", "players", "top", "evidence")),
)
# fmt: on


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("newcomer")
    make_folder(place)
    return place


def make_folder(place: Path) -> None:
    """Make good and bad files of all kinds, and one run."""
    texts = {
        "games.csv": GAMES,
        "-x.csv": GAMES,
        "odd.csv": "when,one,two,who\n1900,Lasker,Steinitz,1-0\n",
        "empty.csv": "",
        "page.html": "<!doctype html><html><body>Not found</body></html>",
        "tab.yaml": "model:\n\tbeta: 480\n",
        "typo.yaml": "model:\n  betta: 480\n",
        "level.yaml": "beta: 480\n",
        "list.yaml": "- 1\n",
        "of_another_program.ttt": "no run",
    }
    put_small_run(place / "a.ttt")
    for name, text in texts.items():
        (place / name).write_text(text, encoding="utf-8")
    (place / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    with zipfile.ZipFile(place / "book.xlsx", "w") as book:
        book.writestr("[Content_Types].xml", "<Types/>")
        book.writestr("xl/workbook.xml", "<workbook/>")
    (place / "folder").mkdir()


@pytest.mark.slow
def test_mistakes_are_reported_with_what_to_do(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Message and hint in their places, nothing on standard output, nothing unexpected, no file made or changed.

    All is refused before a fit or a simulation begins.
    """
    monkeypatch.chdir(folder)
    monkeypatch.delenv("TTT_RUN", raising=False)
    monkeypatch.setattr(ttt, "fit", None)
    monkeypatch.setattr("ttt_cli.evaluate.simulate.simulate", None)

    def files() -> dict[Path, bytes]:
        return {path: path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}

    before = files()
    wrong = []
    for line, code, message, hint in MISTAKES:
        found = main.run(shlex.split(line))
        out, err = capsys.readouterr()
        shown, separator, hinted = err.rstrip("\n").rpartition("\nhint: ")
        if (
            (found, out) != (code, "")
            or message not in (shown if separator else hinted)
            or hint not in (hinted if separator else shown)
            or "unexpected " in err.replace("unexpected extra", "")
            or re.search(r"[^\S\n]\n|\ufffd", err)
            or files() != before
        ):
            wrong.append((line, found, err))
    assert not wrong, "\n".join(map(str, wrong))
