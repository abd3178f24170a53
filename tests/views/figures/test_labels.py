from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.views.figures.spec import GAP, LINE, Label, last_year, place, shorten, text_width, upright

FIGURE = 440.0
LABELS = st.lists(
    st.builds(
        Label,
        st.text("abcdefghij", min_size=1, max_size=25),
        st.floats(0.0, 860.0),
        st.floats(-20.0, FIGURE + 20.0),
    ),
    min_size=1,
    max_size=12,
)
POINTS = st.lists(st.tuples(st.floats(0.0, 860.0), st.floats(0.0, FIGURE)), max_size=60)


@given(LABELS, POINTS)
def test_twelve_names_never_cover_each_other_and_stay_inside(labels: list[Label], points: list) -> None:
    placed = place(labels, FIGURE, points)
    assert [label.text for label in placed] == [label.text for label in labels]
    assert [label.x for label in placed] == [label.x for label in labels]
    for i, one in enumerate(placed):
        assert LINE / 2 <= one.y <= FIGURE - LINE / 2
        assert not any(one.covers(other) for other in placed[i + 1 :])


def test_a_name_alone_stays_at_its_line() -> None:
    assert place([Label("Morphy", 10.0, 100.0)], FIGURE) == [Label("Morphy", 10.0, 100.0)]


def test_a_name_makes_way_for_a_line_beside_it_but_not_far() -> None:
    wanted = Label("Morphy", 10.0, 100.0)
    (moved,) = place([wanted], FIGURE, [(15.0, 100.0)])
    assert LINE / 2 <= abs(moved.y - 100.0) < LINE
    wall = [(15.0, float(y)) for y in range(440)]
    assert place([wanted], FIGURE, wall) == [wanted]


@given(st.lists(st.tuples(st.floats(1800.0, 2020.0), st.text("ab", max_size=30)), min_size=1))
def test_the_axis_leaves_room_for_every_name(ends: list[tuple[float, str]]) -> None:
    width, first = 860.0, 1790.0
    last = last_year(ends, first, width)
    for year, text in ends:
        assert (year - first) / (last - first) * width + GAP + text_width(text) <= width + 1e-6


def test_long_names_are_cut() -> None:
    assert shorten("x" * 100).endswith("…")
    assert len(shorten("x" * 100)) == 34
    assert shorten("Morphy, Paul") == "Morphy, Paul"


def test_names_stand_upright_where_there_is_room_the_longest_spans_first() -> None:
    spans = [(0.0, 2.0), (2.0, 3.0), (3.0, 3.2), (3.2, 100.0)]
    assert upright(spans, 0.0, 100.0, 20 * LINE) == {3: 51.6, 0: 2.5}
    assert set(upright(spans, 0.0, 100.0, 1000 * LINE)) == {0, 1, 2, 3}
