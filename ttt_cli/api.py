"""The functions that Python users and the command line share."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Union

from ttt_cli.config.documents import Document
from ttt_cli.config.load import read_document
from ttt_cli.config.schema import DataConfig, SolverConfig
from ttt_cli.config.validation import validate
from ttt_cli.fitting import fitted_run, refit_of
from ttt_cli.games.extend import Extended
from ttt_cli.games.read import games_for
from ttt_cli.games.read import read_games as read_sources
from ttt_cli.games.table import Games
from ttt_cli.reading.sources import Named
from ttt_cli.runs.lookup import POINTS
from ttt_cli.runs.run import Run, open_run, run_path
from ttt_cli.runs.write import check_destination, write_lock
from ttt_cli.support.errors import ConfigError, DataError, suggested
from ttt_cli.support.outputs import PAGE, PICTURE, check_output, with_picture_mark
from ttt_cli.support.progress import SILENT, Progress
from ttt_cli.support.replacing import real_path, replacing
from ttt_cli.systems.resolve import Resolved, for_games, resolve
from ttt_cli.updating import add_games, update_config
from ttt_cli.views.evidence import computed_surface, evidence_report, surface_rows, term_rows
from ttt_cli.views.figures import FIGURE_FORMATS, KINDS
from ttt_cli.views.published_ratings import read_published_ratings
from ttt_cli.views.rankings.eligible import eligible
from ttt_cli.views.rankings.leaders import leader_rows
from ttt_cli.views.rankings.period import SEED, ranking

if TYPE_CHECKING:
    from pandas import DataFrame

    from ttt_cli.views.rows import Rows

__all__ = [
    "Run", "configure", "doubt", "event", "events", "evidence", "fit", "leaders", "open_run", "player", "plot",
    "read_games", "records", "report", "top", "tournament", "update", "versus", "why",
]  # fmt: skip

Source = Union[str, os.PathLike[str], BinaryIO, "DataFrame"]
_CONFIG_PATHS: Final = {"model": ("model", "name"), "period": ("data", "period")}  # of keywords


def read_games(*sources: Source, progress: Progress = SILENT, **data: Any) -> Games:
    """Read games from files, streams of bytes and DataFrames; `-` is standard input.

    A DataFrame has the columns of a file; its rows are numbered from 1. `data`: keys of the data section, e.g.
    `header=False, columns=[...]`. `report` of the result lists unused records.
    Raises ConfigError for a wrong key or value, DataError for a file without games.
    """
    named = [_readable(source) for source in sources]
    return read_sources(named, validate(DataConfig, data, Document(), ("data",)), progress=progress)


def configure(
    config: str | os.PathLike[str] | None = None, overrides: Sequence[str] = (), **keys: Any
) -> Resolved:
    """The config in a file, a shipped one by its name, or the defaults; `KEY=VALUE` and `keys` on top.

    Without a config and a model, `fit` takes `ttt-career` for games of chess read from files, else `ttt`. `keys`:
    `model` (its name), model parameters, `period`, solver keys. Raises ConfigError.
    """
    document = read_document(None if config is None else os.fspath(config), overrides)
    for key, value in keys.items():
        section = "solver" if key in SolverConfig.model_fields else "model"
        document = document.assign(
            _CONFIG_PATHS.get(key, (section, key)), value, f"{key}={value!r}"
        )
    resolved = resolve(document)
    named = config is not None or "name" in (document.values.get("model") or {})
    return resolved if named else replace(resolved, unnamed=document)


def fit(
    games: Games | Source,
    config: str | os.PathLike[str] | Resolved | None = None,
    *,
    output: str | os.PathLike[str] | None = None,
    start: Run | str | os.PathLike[str] | None = None,
    progress: Progress = SILENT,
    **overrides: Any,
) -> Run:
    """Infer every player's skill and store it as a run at `output`, or in memory.

    `games` may be a file or a DataFrame. `config` and `overrides` are as in `configure`:
    `fit(games, model="ttt", beta=480, tau=60)`.
    `start`: a run as the first guess; the result does not depend on it. A fit that has not converged is stored, too
    (`run.meta.converged`). Raises RunError, before inference, when `output` cannot be written; ConfigError; DataError
    without games.
    """
    if isinstance(config, Resolved) and overrides:
        raise TypeError("give overrides to configure(), not beside its result")
    resolved = config if isinstance(config, Resolved) else configure(config, **overrides)
    output = None if output is None else run_path(output)
    with write_lock(output):
        if output is not None:
            check_destination(output)
        if not isinstance(games, Games):
            data = resolved.config.data
            solver = resolved.config.solver
            with games_for([_readable(games)], data, solver, progress=progress) as games_read:
                return fit(games_read, resolved, output=output, start=start, progress=progress)
        if not len(games):
            raise DataError("there are no games to fit")
        start_run = None if start is None else _opened(start, [POINTS])
        resolved = for_games(resolved, games.report, has_sums=games.has_sums)
        return fitted_run(games, resolved, start_run, output, progress)


def update(
    run: Run | str | os.PathLike[str],
    *sources: Source,
    output: str | os.PathLike[str] | None = None,
    overrides: Sequence[str] = (),
    again: bool = False,
    on_read: Callable[[Extended, DataConfig], None] | None = None,
    progress: Progress = SILENT,
) -> Run:
    """Add the games of files to those of a run, refit, and replace the run, or write `output`.

    The result is that of a fresh fit of all games, with the run's config and `KEY=VALUE` overrides. `on_read` is
    called with all games before inference. A run in memory is not replaced. Raises ConfigError, DataError (for a file
    of the run, too, unless `again`) and RunError.
    """
    old_run = _opened(run, [POINTS])
    destination = old_run.path if output is None else run_path(output)
    with write_lock(destination):
        old_run = _opened(run, [POINTS])  # another process may have replaced it until now
        if destination is not None:
            check_destination(destination)
        resolved = update_config(old_run, overrides)
        data = resolved.config.data
        named = [_readable(source) for source in sources]
        extended = add_games(old_run, named, data, again=again, progress=progress)
        if on_read:
            on_read(extended, data)
        replaces = (
            destination and old_run.path and real_path(destination) == real_path(old_run.path)
        )
        ready = old_run.refuse_replaced if replaces else None
        return fitted_run(extended.games, resolved, old_run, destination, progress, ready)


def top(
    run: Run | str | os.PathLike[str],
    at: str | int | None = None,
    number: int | None = 20,
    *,
    seed: int = SEED,
    category: str | None = None,
    **limits: Any,
) -> DataFrame:
    """The best players of a period (None: the last), as in `ttt top`: a pandas DataFrame.

    `number` None: all. `seed`: of the samples. `category`: by skills in a category of games. `limits`: `active`,
    `min_games`, `min_opponents`, `max_sd`, `where`, `players` or `everyone=True`
    (`ttt_cli.views.rankings.eligible`). Raises LookupFailed if nobody is eligible.
    """
    opened = _opened(run, category=category)
    return _frame(ranking(opened, at, eligible(opened, **limits), number, seed))


def leaders(
    run: Run | str | os.PathLike[str],
    *,
    seed: int = SEED,
    category: str | None = None,
    **limits: Any,
) -> DataFrame:
    """The number one of every period, as in `ttt top --leaders --each`: a pandas DataFrame; arguments as of `top`."""
    opened = _opened(run, category=category)
    return _frame(leader_rows(opened, eligible(opened, **limits), seed))


def player(
    run: Run | str | os.PathLike[str],
    name: str,
    table: str = "history",
    *,
    since: int | None = None,
    until: int | None = None,
) -> DataFrame:
    """What is known of a player, as in `ttt player`: a pandas DataFrame.

    `table`: `history`, `games`, `opponents`, `events` or `streaks`. `since`, `until`: years. Raises LookupFailed for
    unknown names and years without games, ConfigError for another table.
    """
    from ttt_cli.views.player_book import BOOK_TABLES, book_rows
    from ttt_cli.views.players import player_view

    tables = ("history", *BOOK_TABLES)
    if table not in tables:
        hint = suggested(table, tables, f"tables are {', '.join(tables)}")
        raise ConfigError(f"no table {table!r} of a player", hint=hint)
    opened = _opened(run)
    view = player_view(opened, name, since, until)
    if table == "history":
        return _frame(view.rows)
    return _frame(book_rows(opened, view.player, table, since, until))


def versus(
    run: Run | str | os.PathLike[str],
    a: str,
    b: str,
    *more: str,
    each: bool = False,
    at: str | int | None = None,
    at_b: str | int | None = None,
    games: int | None = None,
    conditions: Sequence[str] = (),
    category: str | None = None,
) -> DataFrame:
    """Two players against each other, as in `ttt versus`: a pandas DataFrame of one row; probabilities are A's.

    `at`, `at_b`: periods of A and B, or `peak`; by default each at the peak. `games`: also a
    match of so many. `conditions`: covariates of the game, NAME=VALUE. `category`: of the game. `each`: who was
    ahead in each common period instead. `more`: further players; then for every pair the probability that the row is
    stronger. Raises LookupFailed.
    """
    if more:
        from ttt_cli.views.superiority import superiority_of_names

        opened = _opened(run, category=category)
        return _frame(superiority_of_names(opened, [a, b, *more], at).rows)
    if each:
        from ttt_cli.views.lead_history import lead_rows

        return _frame(lead_rows(_opened(run, category=category), a, b))
    from ttt_cli.views.versus import versus_view

    opened = _opened(run, category=category)
    return _frame(
        versus_view(opened, a, b, at=at, at_b=at_b, games=games, conditions=conditions).report
    )


def why(
    run: Run | str | os.PathLike[str],
    name: str,
    *,
    at: str | int | None = None,
    versus: str | None = None,
    by: str = "game",
    number: int | None = 10,
) -> DataFrame:
    """What moves a player's mean skill most, as in `ttt why`: a pandas DataFrame, largest changes first.

    `at`: period, or `peak` (the default). `versus`: another player, for the lead over him. `by`: `game`, `opponent`,
    `event`, `year`, `source`, or `chain` for the chains of opponents through which it is known. `number` None: all.
    Raises LookupFailed for unknown names, ConfigError for another kind and for models other than TTT, RunError
    without a joint posterior.
    """
    from ttt_cli.views.why import why_rows

    return _frame(why_rows(_opened(run), name, at, versus, by, number))


def doubt(
    run: Run | str | os.PathLike[str],
    where: str | None = None,
    *,
    games: str | os.PathLike[str] | None = None,
    source: str | None = None,
    corrections: str | os.PathLike[str] | None = None,
    leader: str | int | None = None,
    refit: bool = False,
    kind: str = "skills",
    each: bool = False,
    number: int | None = 20,
    progress: Progress = SILENT,
    **limits: Any,
) -> DataFrame:
    """What a run would say without some of its games, as in `ttt doubt`: a pandas DataFrame.

    The games that are left out: `where`, a condition such as `"event = 'London' and year = 1851"`, `games`, a file
    of them, or all of a `source`; or `corrections`, a file of what is changed instead (always refitted). To first
    order, or `refit`, exactly. `kind`: `skills` (most affected first; `each`: all periods of a player) or `leaders`,
    the number ones that would change. `leader`, a period: instead the fewest games whose removal changes its number
    one. `number` None: all. `limits` on who may be number one: `active`, `min_games`, `min_opponents`, `max_sd` or
    `everyone=True`. Raises ConfigError, LookupFailed, DataError; without `refit` also for models other than TTT and
    RunError without a joint posterior.
    """
    from ttt_cli.views.doubt import DoubtedGames, corrections_view, doubt_view
    from ttt_cli.views.fewest_removals import fewest_removal_rows

    if kind not in ("skills", "leaders"):
        raise ConfigError(f"no kind of doubt {kind!r}", hint="kinds are skills and leaders")
    opened = _opened(run)
    chosen = eligible(opened, **limits)
    refitting = refit_of(opened, progress)
    file = None if games is None else os.fspath(games)
    if leader is not None:
        if any(named is not None for named in (where, file, source, corrections)) or refit:
            message = "leader goes without where, games, source, corrections and refit"
            raise ConfigError(message, hint="it always refits")
        return _frame(fewest_removal_rows(opened, leader, chosen, refitting))
    if corrections is not None:
        if any(named is not None for named in (where, file, source)):
            raise ConfigError("corrections go without where, games and source")
        view = corrections_view(
            opened, os.fspath(corrections), chosen, refitting, number, every=each
        )
    else:
        doubted = DoubtedGames(where, file, source)
        view = doubt_view(opened, doubted, chosen, refitting if refit else None, number, every=each)
    return _frame(view.skills if kind == "skills" else view.leaders)


def events(
    run: Run | str | os.PathLike[str],
    pattern: str = "",
    *,
    since: int | None = None,
    until: int | None = None,
    by: str = "games",
    min_players: int | None = None,
    number: int | None = None,
) -> DataFrame:
    """The events of a run, as in `ttt events`: a pandas DataFrame.

    `pattern`: parts of the name. `since`, `until`: years. `by`: order, `games`, `strength` or `date`. `min_players`:
    None for 6 in the order of strength, else any. `number` None: all.
    """
    from ttt_cli.views.events import EventSelection, event_rows

    selection = EventSelection(pattern, since, until, by, min_players, number)
    return _frame(event_rows(_opened(run), selection))


def event(run: Run | str | os.PathLike[str], name: str, at: int | None = None) -> DataFrame:
    """What everybody did in one event, as in `ttt event`: a pandas DataFrame.

    `name`: words of its name, `at`: its year. Raises LookupFailed for none or several.
    """
    from ttt_cli.views.event import standing_rows

    return _frame(standing_rows(_opened(run), name, at))


def records(
    run: Run | str | os.PathLike[str],
    kind: str = "performances",
    *,
    since: int | None = None,
    until: int | None = None,
    number: int | None = 20,
    **limits: Any,
) -> DataFrame:
    """The records of a kind, as in `ttt records --kind KIND`: a pandas DataFrame.

    `since`, `until`: years. `number` None: all. `limits` as of `top`. Raises ConfigError for another kind.
    """
    from ttt_cli.views.records.table import record_rows

    opened = _opened(run)
    chosen = eligible(opened, **limits)
    return _frame(record_rows(opened, kind, chosen, since=since, until=until, number=number))


def tournament(
    run: Run | str | os.PathLike[str],
    *names: str,
    kind: str = "round-robin",
    games: int | None = None,
    rounds: int | None = None,
    at: str | int | None = None,
    samples: int = 40_000,
    seed: int = SEED,
) -> DataFrame:
    """The odds of a tournament, as in `ttt tournament`: a pandas DataFrame with the probability of every place.

    `names`: players, or files with a name a line. `kind`: `round-robin`, `double`, `knockout`, `swiss` or `match`.
    `games`: of a pair, `rounds`: of a swiss (None: by default). `at`: period of all skills, or `peak`; by default
    their last common one. Raises LookupFailed for unknown names, ConfigError for what cannot be played.
    """
    from ttt_cli.views.tournament import TournamentPlan, tournament_rows

    plan = TournamentPlan(kind, games, rounds)
    odds = tournament_rows(_opened(run), names, plan, at=at, samples=samples, seed=seed)
    return _frame(odds.rows)


def evidence(
    run: Run | str | os.PathLike[str],
    *,
    grid: str | None = None,
    settings: Sequence[str] = (),
    jobs: int | None = None,
    scores: bool = False,
    since: str | int | None = None,
    every: int = 1,
    terms: bool = False,
    progress: Progress = SILENT,
) -> DataFrame:
    """How well the games support the parameters, as in `ttt evidence`: a pandas DataFrame of one row.

    `grid`: a row for each point of a grid instead, of axes as `beta=200:800:7,tau=20:200:7`; `settings`
    (`model.prior_sd=300`) change other parameters, `jobs` is the number of processes; finished points are stored beside
    the run. `scores`: also scores of predictions of each period from earlier ones, from the period `since` on, refitted
    `every` so many periods. `terms`: a row for each term of the model instead, with the nats that it is worth. Raises
    ConfigError for systems without evidence and for options that do not go together.
    """
    opened = _opened(run)
    if terms:
        from ttt_cli.evaluate.terms import worth_of_terms

        if grid is not None or settings or jobs is not None or scores or since is not None:
            raise ConfigError("terms goes without grid, settings, jobs, scores and since")
        return _frame(term_rows(opened.meta, worth_of_terms(opened, progress=progress)))
    if grid is not None:
        if scores or since is not None or every != 1:
            raise ConfigError("grid goes without scores, since and every")
        return _frame(surface_rows(computed_surface(opened, grid, settings, jobs, progress)))
    if settings or jobs is not None:
        raise ConfigError("settings and jobs go with grid")
    if not scores:
        if since is not None or every != 1:
            raise ConfigError("since and every go with scores")
        return _frame(evidence_report(opened.meta))
    from ttt_cli.evaluate.forecast import predict_run

    first = None if since is None else str(since)
    return _frame(
        evidence_report(opened.meta, predict_run(opened, first, every, progress=progress))
    )


def plot(
    run: Run | str | os.PathLike[str],
    *names: str,
    output: str | os.PathLike[str],
    kind: str = "skills",
    by: str | None = None,
    at: str | int | None = None,
    number: int = 10,
    second_run: Run | str | os.PathLike[str] | None = None,
    beside: str | os.PathLike[str] | None = None,
    since: str | int | None = None,
    every: int = 1,
    category: str | None = None,
    **limits: Any,
) -> Path:
    """Draw a figure into the file `output`, png, svg, pdf or html by its name, as `ttt plot` does; the path.

    `names`: players of `skills` (none: those who led most), `difference` (two) and `why` (one, or two for a lead).
    `by`: `dominance` draws the leads of `skills` over the best others; for `why` as in `why`, of which `at` is the
    period. `number`: of players in the `top`, of rows of `why`. `second_run` or `beside`, a file of published
    ratings, is drawn dotted beside `skills`. `since`, `every`: first period to predict for `calibration`, and periods
    between refits. `category` and `limits` as of `top`. Raises ConfigError for another kind or format and for options
    of other kinds, LookupFailed for unknown names and an empty figure, OutputError where another file would be
    replaced.
    """
    from ttt_cli.views.figures.figure import FigureOptions, make_figure
    from ttt_cli.views.figures.render import render

    path = Path(output)
    form = path.suffix.removeprefix(".").lower()
    if form not in FIGURE_FORMATS:
        message = f"figures are {', '.join(FIGURE_FORMATS)}, by the file's name"
        raise ConfigError(message, where=str(path), hint="for instance skills.svg")
    if kind not in KINDS:
        raise ConfigError(
            f"no kind of figures {kind!r}",
            hint=suggested(kind, KINDS, f"kinds are {', '.join(KINDS)}"),
        )
    if names and "names" not in KINDS[kind].options:
        raise ConfigError(
            f"a figure of the kind {kind} has no names of players", hint="leave them out"
        )
    if kind == "difference" and len(names) != 2:
        raise ConfigError("a difference is of two players", hint="name both")
    if kind == "why" and len(names) not in (1, 2):
        raise ConfigError(
            "a figure of the kind why is of a player", hint="name one, or two for a lead"
        )
    accepted = KINDS[kind].options
    for option, is_used in {
        "at": at is not None, "by": by is not None and by not in KINDS[kind].by,
        "with": second_run is not None or beside is not None, "from": since is not None or every != 1,
    }.items():  # fmt: skip
        if is_used and option not in accepted:
            hint = (
                "second_run and beside go with skills, by with skills and why, at with why, "
                "since and every with calibration"
            )
            raise ConfigError(f"a figure of the kind {kind} does not have these options", hint=hint)
    if second_run is not None and (beside is not None or by == "dominance"):
        raise ConfigError(
            "of second_run, beside and by only one is drawn", hint="leave out the others"
        )
    opened = _opened(run, category=category)
    options = FigureOptions(
        names, by=by, at=at, count=number, limits=eligible(opened, **limits), every=every,
        since=None if since is None else str(since),
        second_run=None if second_run is None else _opened(second_run, category=category),
        published=None if beside is None else read_published_ratings(os.fspath(beside), opened),
    )  # fmt: skip
    content = with_picture_mark(render(make_figure(opened, kind, options).spec, form), form)
    check_output(str(path), PAGE if form == "html" else PICTURE)
    with replacing(path) as temporary:
        temporary.write_bytes(content)
    return path


def report(
    run: Run | str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    title: str | None = None,
    pages: int | None = None,
    beside: str | os.PathLike[str] | None = None,
    progress: Progress = SILENT,
    **limits: Any,
) -> Path:
    """Write one page, `output` PAGE.html, or a site, any other name, as `ttt report` does; the path of its first page.

    `title`: of a site. `pages`: most players with a page of a site, and most events. `beside`: a file of published
    ratings to show, too. `limits` as of `top`. Raises RunError and OutputError where it cannot be written.
    """
    path = Path(output)
    opened = _opened(run)
    chosen = eligible(opened, **limits)
    published = None if beside is None else read_published_ratings(os.fspath(beside), opened)
    if path.suffix.lower() not in (".html", ".htm"):
        from ttt_cli.views.report.site import MOST_PAGES, write_site

        most = MOST_PAGES if pages is None else pages
        write_site(
            opened, path, chosen, title=title, most=most, published=published, progress=progress
        )
        return path / "index.html"
    from ttt_cli.views.report.page import report_page

    check_output(str(path), PAGE)
    page = report_page(opened, chosen, published=published, progress=progress)
    with replacing(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return path


def _readable(source: object) -> Named:
    """The source as readers take it. Raises DataError for what is no file, stream of bytes or DataFrame."""
    is_stream = hasattr(source, "read") and not isinstance(source, io.TextIOBase)
    if isinstance(source, str | os.PathLike) or is_stream:
        return source  # type: ignore[return-value]
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(source, pandas.DataFrame):
        from ttt_cli.reading.frames import frame_as_file

        return frame_as_file(source)
    hint = (
        "pandas.DataFrame(...) with columns such as date, white, black and result is read as a file"
    )
    if isinstance(source, io.TextIOBase):
        hint = "open it for bytes: open(path, 'rb')"
    elif isinstance(source, list | tuple) and all(
        isinstance(file, str | os.PathLike) for file in source
    ):
        hint = "fit(read_games(*files)) takes several files"
    elif isinstance(source, Games):
        hint = "fit(games) takes games that were read"
    raise DataError(
        f"games are a file, a stream of bytes or a DataFrame, not {type(source).__name__}",
        hint=hint,
    )


def _frame(rows: Rows) -> DataFrame:
    from pandas import DataFrame

    return DataFrame(rows.rows, columns=list(rows.columns))


def _opened(
    run: Run | str | os.PathLike[str], scale: Sequence[str] = (), category: str | None = None
) -> Run:
    if not isinstance(run, Run):
        return open_run(run, scale, category)
    return run if category is None else run.in_category(category)
