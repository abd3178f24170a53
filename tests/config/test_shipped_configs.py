import re
import tomllib
from pathlib import Path

import pytest

from tests.support.cases import each
from ttt_cli.config.load import read_document, shipped_configs
from ttt_cli.config.schema import DataConfig, FilterConfig, ScaleConfig, SolverConfig
from ttt_cli.systems.registry import MODULES, load
from ttt_cli.systems.resolve import resolve

ROOT = Path(__file__).parents[2]
VARIANTS = {
    "ttt-white": "ttt",
    "ttt-career": "ttt",
    "ttt-d-career": "ttt-d",
}  # further configs and their models
DELIBERATE: dict[tuple[str, str], object] = {  # (config, key path) -> a value that is not the default
    ("ttt-white", "model.white_advantage"): "estimate",
    **{
        ("ttt-career", f"model.{key}"): value
        for key, value in {
            "beta": 550, "tau": 40, "white_advantage": "estimate", "growth": 310, "growth_years": 2.7, "decline": 11,
            "early": 2.8, "draw_margin_drift": 0.04, "draw_margin_strength": 0.15,
        }.items()
    },
    **{
        ("ttt-d-career", f"model.{key}"): value
        for key, value in {
            "beta": 700, "tau": 25, "white_advantage": "estimate", "growth": 275, "growth_years": 2.8, "decline": 11,
            "early": 5.5, "early_years": 12, "draw_margin_drift": 0.04, "draw_margin_strength": 0.15,
            "covariates": {"activity_3y": 75}, "draw_margin_sd": 220, "draw_margin_tau": 58,
        }.items()
    },
}  # fmt: skip
UNIT = re.compile(
    r"point|year|auto|true|null|\bor\b|count|between 0 and 1|no unit|rating system", re.IGNORECASE
)


def leaves(name: str) -> dict[str, object]:
    """Key paths of a shipped config and their values; a section within a section is a value too, before its keys."""
    values = read_document(name).values
    paths = {
        f"{section}.{key}": value for section, keys in values.items() for key, value in keys.items()
    }
    inner = paths.get("data.filter", {})
    assert isinstance(inner, dict)
    return paths | {f"data.filter.{key}": value for key, value in inner.items()}


def test_every_model_has_its_config_and_no_config_is_without() -> None:
    assert sorted(shipped_configs()) == sorted([*MODULES, *VARIANTS])


@each("name", shipped_configs())
def test_a_config_loads_and_every_key_is_at_its_default(name: str) -> None:
    document = read_document(name)
    resolved = resolve(document)
    model = VARIANTS.get(name, name)
    assert resolved.config.model.name == model
    plain = resolve(read_document(None, [f"model.name={model}"])).config.model_dump()
    for path, value in leaves(name).items():
        default: object = plain
        for key in path.split("."):
            assert isinstance(default, dict)
            default = default[key]
        assert value == DELIBERATE.get((name, path), default), path
        assert (name, path) not in DELIBERATE or value != default, path


@each("name", shipped_configs())
def test_a_config_holds_every_key_of_its_model(name: str) -> None:
    params = load(VARIANTS.get(name, name)).Params
    expected = ["model.name", *(f"model.{key}" for key in params.model_fields)]
    assert [path for path in leaves(name) if path.startswith("model.")] == expected


def test_ttt_holds_every_key_of_the_other_sections() -> None:
    found = leaves("ttt")
    sections = {
        "data": DataConfig,
        "data.filter": FilterConfig,
        "solver": SolverConfig,
        "scale": ScaleConfig,
    }
    for section, schema in sections.items():
        expected = [f"{section}.{key}" for key in schema.model_fields]
        assert [path for path in found if path.rpartition(".")[0] == section] == expected


@each("name", shipped_configs())
def test_a_comment_with_the_unit_stands_above_every_key(name: str) -> None:
    document = read_document(name)
    lines = shipped_configs()[name].read_text(encoding="utf-8").splitlines()
    for path in leaves(name):
        line = int(str(document.where(tuple(path.split(".")))).rpartition(":")[2])
        comment = []
        while lines[line - 2 - len(comment)].lstrip().startswith("#"):
            comment.append(lines[line - 2 - len(comment)])
        assert UNIT.search(" ".join(reversed(comment))), f"{path} has no comment with its unit"


@pytest.mark.skipif(
    not (ROOT / "pyproject.toml").is_file(), reason="tests run outside the source tree"
)
def test_the_wheel_carries_the_configs_and_every_package() -> None:
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "setuptools"
    ]
    packages = {
        ".".join(file.parent.relative_to(ROOT).parts)
        for file in (ROOT / "ttt_cli").rglob("__init__.py")
    }
    assert set(setuptools["packages"]) == packages | {"ttt_cli.configs"}
    assert setuptools["package-dir"] == {"ttt_cli.configs": "configs"}
    assert setuptools["package-data"]["ttt_cli.configs"] == ["*.yaml"]
