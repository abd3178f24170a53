import math

import pytest

from tests.support.cases import each
from ttt_cli.config.load import Document, dotted, parse_document, parse_value
from ttt_cli.support.errors import ConfigError


def failure(text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        parse_document(text, "run.yaml")
    return caught.value


def test_every_key_and_item_knows_its_line() -> None:
    document = parse_document(
        "# top\nmodel:\n  beta: 600\ndata:\n  columns:\n    - id\n    - year\n", "run.yaml"
    )
    assert document.values == {"model": {"beta": 600}, "data": {"columns": ["id", "year"]}}
    assert document.where(("model",)) == "run.yaml:2"
    assert document.where(("model", "beta")) == "run.yaml:3"
    assert document.where(("data", "columns", 1)) == "run.yaml:7"
    assert document.where(("model", "tau")) == "run.yaml:2"  # not written: that of what surrounds it
    assert document.where(("solver", "tol")) == "run.yaml"
    assert Document().where(("solver", "tol")) is None
    assert dotted(("data", "columns", 2)) == "data.columns[2]"


@each(
    "text, value",
    [
        ("1e-3", 0.001),
        ("1E3", 1000.0),
        ("+.5", 0.5),
        ("6.", 6.0),
        ("600", 600),
        ("-0", 0),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("-.INF", -math.inf),
        (".nan", math.nan),
        ("yes", "yes"),
        ("1858-06-15", "1858-06-15"),
        ("1_000", 1000),
        ("12:30", "12:30"),
        ("~", None),
        ("", None),
        ("TRUE", True),
        ("'600'", "600"),
        ("!!str 600", "600"),
    ],
)
def test_scalars_follow_yaml_1_2(text: str, value: object) -> None:
    found = parse_document(f"key: {text}", "run.yaml").values["key"]
    assert repr(found) == repr(value)


@each("text", ["", "# only a comment\n", "---\n", "null\n", "\ufeff"])
def test_nothing_written_is_an_empty_document(text: str) -> None:
    assert parse_document(text, "run.yaml").values == {}


def test_an_alias_repeats_its_value() -> None:
    assert parse_document("a: &x {b: 1}\nc: *x\n", "run.yaml").values == {"a": {"b": 1}, "c": {"b": 1}}


@each(
    "text, line, message",
    [
        ("model:\n\tbeta: 3\n", 2, "tab"),
        ("model:\n  beta: 3\n    tau: 4\n", 3, "mapping values"),
        ("model:\n  beta: 3\n tau: 4\n", 3, "from line 1"),
        ("model:\n  name: 'ttt\n  tau: 4\n", 4, "from line 2"),
        ("data:\n  columns: [id\n", 3, "expected"),
        ("- model\n", 1, "map of sections"),
        ("model", 1, "map of sections"),
        ("\nmodel:\n  beta: 3\n  beta: 4\n", 4, "model.beta is given twice, first on line 3"),
        ("model: {}\ndata: {}\nmodel: {}\n", 3, "model is given twice, first on line 1"),
        ("data:\n  columns: {a: x, a: y}\n", 2, "data.columns.a is given twice"),
        ("model:\n  1: white\n", 2, "word"),
        ("model:\n  [a]: white\n", 2, "word"),
        ("model:\n  beta: !points 3\n", 2, "!points"),
        ("model:\n  beta: !!python/object:os.system ls\n", 2, "python/object"),
        ("model: &m\n  beta: *m\n", 1, "itself"),
        ("model:\n  name: a\x07\n", 2, "U+0007"),
        ("---\nmodel: {}\n---\ndata: {}\n", 3, "single document"),
        ("model:\n  beta: *other\n", 2, "other"),
    ],
)
def test_bad_yaml_has_line_and_hint(text: str, line: int, message: str) -> None:
    error = failure(text)
    assert error.where == f"run.yaml:{line}"
    assert message in error.message
    assert error.hint


@each(
    "text, value",
    [
        ("600", 600),
        (" 600 ", 600),
        ("1e-3", 0.001),
        ("true", True),
        ("null", None),
        ("", None),
        ("'600'", "600"),
        ('"\\t"', "\t"),
        ("[id, year]", ["id", "year"]),
        ("{white: Winner, black: 2}", {"white": "Winner", "black": 2}),
        (",", ","),
        ("|", "|"),
        (";", ";"),
        ("#", "#"),
        ("\t", "\t"),
        (" ", " "),
        ("&", "&"),
        ("a: b", "a: b"),
        ("- a", "- a"),
    ],
)
def test_override_values_are_scalars_flow_or_text(text: str, value: object) -> None:
    assert parse_value(text, "-s key=") == value


@each("text", ["[id, year", "{a: 1", "'x", "{a: 1, a: 2}", "[1] 2"])
def test_an_override_that_is_not_closed_is_an_error(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_value(text, f"-s key={text}")
    assert caught.value.where == f"-s key={text}"
    assert caught.value.hint


def test_assignment_forgets_what_stood_there_and_comes_last() -> None:
    document = parse_document("data:\n  columns: [a, b]\n  period: day\n", "run.yaml")
    changed = document.assign(("data", "columns"), ["c"], "-s data.columns=[c]")
    assert list(changed.values["data"]) == ["period", "columns"]
    assert changed.where(("data", "columns", 1)) == "-s data.columns=[c]"
    assert changed.where(("data", "period")) == "run.yaml:3"
    assert document.values == {"data": {"columns": ["a", "b"], "period": "day"}}


MULTIPLIED = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
MULTIPLIED += [f"a{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 9)}]" for n in range(20)]
NESTED = ["a0: &a0 [x]", *(f"a{n + 1}: &a{n + 1} [*a{n}]" for n in range(2000))]


@each(
    "text, message",
    [
        ("\n".join(MULTIPLIED), "more than 50,000 values"),
        ("\n".join(NESTED), "nested more than 50 deep"),
        ("a: " + "[" * 1_000, ""),
    ],
)
def test_what_multiplies_or_nests_without_end_is_refused(text: str, message: str) -> None:
    error = failure(text)
    assert message in error.message
    assert str(error.where).startswith("run.yaml")
    assert error.hint
