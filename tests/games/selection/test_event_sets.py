"""Ready-made sets: what belongs to each in several languages, and what only looks like it."""

from __future__ import annotations

from typing import get_args

from tests.support.cases import each
from ttt_cli.config.schema import EventSet
from ttt_cli.games.selection import control_is, names_set, variant_is
from ttt_cli.reading.reports import EVENT_SETS
from ttt_cli.support.folding import fold

IN = {
    "simul": ["New York sim", "Simultan Wien", "simultaneous exhibition", "Simultánea", "clock simul", "Blindsimultan",
              "Сеанс одновременной игры"],
    "blindfold": ["Amber-blind 2nd", "Blindfold World Cup", "Blindsimultan", "Paris blind-simul", "sans voir",
                  "a la ciega", "alla cieca", "вслепую"],
    "correspondence": ["corr", "Correspondence", "Fernschach-Olympiade", "Fernpartie 1935", "telex", "URS-USA telex",
                       "e-mail", "ICCF WC 20", "par correspondance", "korrespondence", "По переписке"],
    "consultation": ["Consultation game", "Beratungspartie", "Prague consult", "Allies"],
    "odds": ["Odds match", "Essen Handicap", "Vorgabepartie", "pawn and move", "pawn & two"],
    "rapid": ["World Rapid 2015", "Oviedo rapid45", "Amber Rapidplay", "Schnellschach", "TCh-FRA rpd", "Active Chess",
              "Aktivschach", "Быстрые шахматы"],
    "blitz": ["World Blitz", "Blitzturnier", "lightning", "Bullet Arena", "Armageddon", "Snelschaak", "Блиц"],
    "variants": ["Chess960", "Fischer Random", "Mainz 960", "Freestyle Chess", "Bughouse"],
    "set-up": ["set-up position", "From Position"],
}  # fmt: skip
OUT = {
    "simul": ["Simferopol", "Simonson mem", "Nassim"],
    "blindfold": ["World Blind-ch", "Olympiad for the blind", "Blind olympiad"],
    "correspondence": [
        "Gibtelecom Masters",
        "Correze m",
        "San Fernando op",
        "Cerveny Kostelec",
        "cable match",
        "Corridor",
    ],
    "consultation": ["Constantinople"],
    "odds": ["Oddsson mem"],
    "rapid": ["Grand Rapids", "Rapid City op", "Interactive"],
    "blitz": ["St Petersburg"],
    "variants": ["Hastings5960", "French variation", "Randers"],
    "set-up": ["Setubal"],
}


def test_the_sets_are_those_of_the_config_and_the_reasons() -> None:
    assert get_args(EventSet) == EVENT_SETS == tuple(IN)


@each("name", IN)
def test_what_belongs_to_a_set(name: str) -> None:
    assert [text for text in IN[name] if not names_set(fold(text), name)] == []


@each("name", OUT)
def test_what_does_not(name: str) -> None:
    assert [text for text in OUT[name] if names_set(fold(text), name)] == []


def test_variants_of_the_tag() -> None:
    assert [variant_is(text, "variants") for text in ("", "standard", "chess 960", "atomic", "from position")] == [
        False, False, True, True, False,
    ]  # fmt: skip
    assert [variant_is(text, "set-up") for text in ("", "standard", "set up", "from position", "atomic")] == [
        False, False, True, True, False,
    ]  # fmt: skip
    assert not variant_is("atomic", "blitz")


@each(
    "text, expected",
    [
        ("60", "blitz"),  # bullet
        ("60+0", "blitz"),
        ("180+2", "blitz"),
        ("300+3", "blitz"),
        ("300+5", "blitz"),
        ("5+3", "blitz"),
        ("*180", "blitz"),
        ("600", "rapid"),
        ("600+0", "rapid"),
        ("900+10", "rapid"),
        ("15+10", "rapid"),  # minutes
        ("1800", "rapid"),
        ("25 + 10", "rapid"),
        ("90+30", None),
        ("5400+30", None),
        ("3600", None),
        ("40/7200:3600", None),
        ("40/7200:20/3600:900+30", None),
        ("40/540:300", "blitz"),
        ("1/86400", "correspondence"),
        ("1/259200", "correspondence"),
        ("Blitz", "blitz"),
        ("bullet", "blitz"),
        ("rapid", "rapid"),
        ("daily", "correspondence"),
        ("-", None),
        ("?", None),
        ("", None),
        ("classical", None),
    ],
)
def test_the_set_of_a_time_control(text: str, expected: str | None) -> None:
    assert [name for name in EVENT_SETS if control_is(text, name)] == ([expected] if expected else [])
