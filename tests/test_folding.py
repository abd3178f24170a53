from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from ttt_cli.support.folding import fold, fold_all, fold_surname, fold_surnames


@each(
    "name, folded",
    [
        ("Morphy, Paul ", "morphy paul"),
        ("MÜLLER-Öst,  Jörg", "muller ost jorg"),
        ("O'Kelly de Galway, Albéric", "okelly de galway alberic"),
        ("O’Kelly", "okelly"),
        ("O´Kelly", "okelly"),
        ("Ståhlberg, Gideon", "stahlberg gideon"),
        ("Bjørn Łódź", "bjorn lodz"),
        ("Weiß", "weiss"),
        ("Æthelred", "aethelred"),
        ("İstanbul", "istanbul"),
        ("Алехин, А.", "алехин а"),
        ("a_b", "a b"),
        ("?", ""),
    ],
)
def test_spellings_fold_as_the_rule_says(name: str, folded: str) -> None:
    assert fold(name) == folded


@each(
    "name, surname",
    [
        ("Morphy, Paul", "morphy"),
        ("de la Bourdonnais, Louis", "de la bourdonnais"),
        ("Paul Morphy", "morphy"),
        ("Morphy P.", "morphy"),
        ("Morphy", "morphy"),
        (", Paul", "paul"),
        ("X", "x"),
        ("?", ""),
    ],
)
def test_the_surname_stands_before_the_comma_or_last(name: str, surname: str) -> None:
    assert fold_surname(name) == surname


@given(st.text())
def test_folding_twice_changes_nothing_more(name: str) -> None:
    assert fold(fold(name)) == fold(name)


@given(st.text(alphabet="abcxyzäöüéñÅØ -.,'", max_size=20))
def test_case_and_outer_punctuation_do_not_matter(name: str) -> None:
    assert fold(name.upper()) == fold(name.lower()) == fold(f" .{name}, ")


@given(st.lists(st.text(st.sampled_from("aB é߻Øİ,.'’´_-\n\r\x1c0 "), max_size=12), max_size=6))
def test_many_names_fold_as_each_by_itself(names: list[str]) -> None:
    folded = fold_all(names)
    assert folded == [fold(name) for name in names]
    assert fold_surnames(names, folded) == [fold_surname(name) for name in names]
