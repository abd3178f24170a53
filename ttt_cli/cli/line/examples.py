"""What commands are used for: the examples that stand in every help text and man page."""

from typing import Final

Example = tuple[str, str]  # what is typed, what it does

EXAMPLES: Final[dict[str, tuple[Example, ...]]] = {
    "fit": (
        ("ttt fit games.pgn", "read the games and write the run games.ttt"),
        ("ttt fit *.pgn --years 1850-1900 --exclude simul,odds -o old.ttt", "some of the games of several files"),
        ("ttt fit games.csv -c ttt-d-career -s model.beta=500", "another config, and one of its keys"),
        ("ttt fit games.pgn -o - -f csv > skills.csv", "the skills, without a run"),
    ),
    "update": (
        ("ttt update games.ttt new.pgn", "add the games of a file"),
        ("ttt update games.ttt new.pgn --dedupe -o all.ttt", "but those already in it, as another run"),
    ),
    "games": (
        ("ttt games games.pgn", "what stands in a file before it is fitted"),
        ("ttt games *.pgn --only players -f csv -o players.csv", "one section as a table"),
        ("ttt games games.pgn --suggest aliases.csv", "spellings that may be one person's"),
    ),
    "names": (
        ("ttt names games.pgn", "answer pair by pair; the answers go to aliases.csv"),
        ("ttt names *.pgn -o mine.csv --sure", "take what is sure at once, and ask about the rest"),
        ("ttt names *.pgn -o mine.csv && ttt fit *.pgn --aliases mine.csv", "use the answers"),
    ),
    "player": (
        ("ttt player morphy", "the history of the one player of that surname"),
        ('ttt player "Lasker, Em" --plot lasker.svg', "initials will do; with a figure"),
        ("ttt player morphy --record", "wins, draws and losses instead"),
    ),
    "players": (
        ("ttt players", "everybody, those with most games first"),
        ("ttt players alekh --from 1920", "who has this in the name and played later"),
    ),
    "top": (
        ("ttt top", "the ranking of the last period"),
        ("ttt top --at 1872 -n 10", "the ten best of 1872"),
        ("ttt top --peak --by lower", "everybody at the peak, by what is certain"),
        ("ttt top --leaders -f csv -o leaders.csv", "the number ones and their reigns"),
    ),
    "versus": (
        ("ttt versus morphy anderssen", "what a game between them promises, and those they played"),
        ("ttt versus morphy fischer --at 1859 --at-b 1972 --games 10", "a match across eras"),
    ),
    "evidence": (
        ("ttt evidence", "the log-evidence beside the naive model's"),
        ("ttt evidence --grid beta,tau", "its surface over the paper's grid"),
        ("ttt evidence --scores --from 1900", "how well later games were foreseen"),
    ),
    "tune": (
        ("ttt tune", "the best beta and tau"),
        ("ttt tune beta,tau,white_advantage -o tuned.yaml", "of three parameters, as a config"),
    ),
    "compare": (
        ("ttt compare ttt ttt-d elo --test-from 1900", "which foresees the games of the run best"),
        ("ttt compare all --games games.pgn --tune --tuned-to tuned", "all systems, each tuned first"),
    ),
    "plot": (
        ("ttt plot", "who led longest, as a figure"),
        ('ttt plot morphy "Steinitz, W" -o skills.svg', "these two"),
        ("ttt plot --kind top -o top.html", "the level of the best through time"),
    ),
    "report": (
        ("ttt report", "one page of everything, report.html"),
        ("ttt report site/ --title Masters", "a folder of pages, one for every player, year and event"),
    ),
    "export": (
        ("ttt export skills -o skills.csv", "every skill in every period"),
        ("ttt export games -f parquet > games.parquet", "the games as they were used"),
    ),
    "config": (
        ("ttt config show -c ttt > mine.yaml", "every key with its meaning, to be changed"),
        ("ttt config check mine.yaml", "what is wrong in which line"),
    ),
    "config show": (("ttt config show -c ttt-d -s model.beta=600 > mine.yaml", "a config to begin from"),),
    "config check": (("ttt config check *.yaml", "which are ok, and what is wrong in the others"),),
    "config schema": (("ttt config schema > ttt.schema.json", "for an editor"),),
    "simulate": (
        ("ttt simulate --players 200 --games 10000 -o games.csv", "games, and the skills beside them"),
        ("ttt simulate -o - | ttt fit - -o simulated.ttt", "fitted at once"),
    ),
    "warm": (("ttt warm && ttt fit games.pgn", "compile everything first"),),
    "completion": (
        ("ttt completion bash > ~/.local/share/bash-completion/completions/ttt", "from the next shell on"),
        ('eval "$(ttt completion zsh)"', "in this shell alone"),
    ),
}  # fmt: skip


def of_command(path: str) -> tuple[Example, ...]:
    """The examples of a command, `top` or `config show`."""
    return EXAMPLES.get(path, ())


def epilog(path: str) -> str | None:
    """They as the end of a help text, as click takes it; None where there are none."""
    lines = [line for typed, does in of_command(path) for line in (f"  {typed}", f"      {does}")]
    return "\n".join(["\b", "Examples:", *lines]) if lines else None
