import pytest

from ttt_cli.views.blocks import bar


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, ""), (16, "████"), (8, "██"), (9, "██▎"), (0.001, "▏"), (40, "████"), (-1, "")],
)
def test_a_bar_is_as_long_as_its_share_and_never_nothing_for_something(value: float, shown: str) -> None:
    assert bar(value, 16, 4) == shown


@pytest.mark.parametrize(("value", "shown"), [(0, ""), (16, "####"), (7, "##"), (0.001, "#")])
def test_without_unicode_in_whole_places(value: float, shown: str) -> None:
    assert bar(value, 16, 4, ascii_only=True) == shown


def test_nothing_of_nothing() -> None:
    assert bar(0, 0, 10) == ""
