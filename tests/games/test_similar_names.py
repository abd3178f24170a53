"""Similar names: by their letters alone, against a list of real pairs."""

from __future__ import annotations

import pytest

from tests.support.cases import each
from ttt_cli.games import similar_names
from ttt_cli.games.names import name_key
from ttt_cli.games.similar_names import (
    INITIALS,
    SPELLING,
    SURNAME_ONLY,
    NameParts,
    find_similar_names,
    likeness,
    neighbour_words,
    parts_of_key,
)


def parts_of(name: str) -> NameParts:
    return parts_of_key(name_key(name))


def likely(one: str, other: str) -> str | None:
    kind = likeness(parts_of(one), parts_of(other))
    assert kind == likeness(parts_of(other), parts_of(one))
    return kind


@each(
    "one, other, kind",
    [
        ("Morphy, Paul", "Morphy, P", INITIALS),
        ("Morphy, P.", "Morphy, Paul Charles", INITIALS),
        ("Philidor, Francois Andre Dani", "Philidor, Francois", INITIALS),
        ("Blackburne, JH", "Blackburne, Joseph Henry", INITIALS),
        ("Von Bardeleben, Curt", "Bardeleben, C. von", INITIALS),
        ("MacConnell, James", "Mc Connell, J", INITIALS),
        ("Vanderstricht, Geert", "Van der Stricht, G", SPELLING),
        ("De Firmian, Nick", "DeFirmian, N", INITIALS),
        ("Labourdonnais", "de la Bourdonnais", SPELLING),
        ("Labourdonnais", "de la Bourdonnais, Louis", SPELLING),
        ("La Bourdonnais", "Louis de la Bourdonnais", SURNAME_ONLY),
        ("Lasker, Em", "Lasker, Emanuel", INITIALS),
        ("Lasker, Em", "Lasker, Edward", None),
        ("Mueller, Hans", "Müller, Hans", SPELLING),
        ("Loewenthal, J", "Löwenthal, Johann", SPELLING),
        ("Huebner, Juergen", "Hübner, Jürgen", SPELLING),
        ("Morphy", "Morphy, Paul", SURNAME_ONLY),
        ("Boden, Samuel Standidge", "Boden, Samuel Standige", SPELLING),
        ("Karjakin, Sergey", "Karjakin, Sergei", SPELLING),
        ("Tchigorin, Mikhail", "Chigorin, M", SPELLING),
        ("Capablanca, Jose", "Capabalnca, J", SPELLING),
        ("Morphy, Paul", "Morphy, Peter", None),
        ("Morphy, Paul", "Murphy, Paul", SPELLING),
        ("Morph, Paul", "Murph, Paul", None),
        ("Lee, P", "Lea, P", None),
        ("Morphy, Jakob", "Morphy, Jacob", SPELLING),
        ("Morphy, Paul", "Morphy, Pavl", None),
        ("Berman, M", "Herman, M", None),
        ("Volkov, S1", "Volkov, Sergey", None),
        ("Popov, Ivan RUS", "Popov, I", INITIALS),
        ("Popov, Ivan RUS", "Popov, Ivan P", INITIALS),
        ("Popov, I RUS", "Popov, Ivan UKR", None),
        ("Li Chao2", "Li Chao", None),
        ("Player17, A", "Player18, A", None),
        ("Friedman", "Friedmann", None),
    ],
)
def test_how_names_are_alike(one: str, other: str, kind: str | None) -> None:
    assert likely(one, other) == kind


def test_pairs_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    words = [f"{number:04d}" for number in range(2000)]
    everything = len(neighbour_words(words))
    monkeypatch.setattr(similar_names, "_MAX_WORD_PAIRS", 10_000)
    assert 10_000 < len(neighbour_words(words)) < min(everything, 10_000 + 5 * len(words))


def test_numbered_names_are_not_slips_of_each_other() -> None:
    assert not find_similar_names(["Player 000123", "Player 000124", "Player 000125"]).pairs
    assert find_similar_names(["Robert Player", "Robert Playar"]).pairs
