"""What SchemaStore takes: a schema that accepts the shipped configs and refuses wrong ones."""

import json
from pathlib import Path

import make_schemastore
import pytest
from jsonschema import Draft7Validator
from ruamel.yaml import YAML


def test_the_schema_accepts_and_refuses_what_it_should(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_schemastore.main(tmp_path)
    entry = json.loads(capsys.readouterr().out)
    schema = json.loads((tmp_path / "src/schemas/json/ttt-config.json").read_text(encoding="utf-8"))
    assert schema["$id"] == entry["url"]
    Draft7Validator.check_schema(schema)
    validator = Draft7Validator(schema)
    good = sorted((tmp_path / "src/test/ttt-config").iterdir())
    assert len(good) > 12
    assert all(validator.is_valid(YAML(typ="safe").load(file)) for file in good)
    wrong = sorted((tmp_path / "src/negative_test/ttt-config").iterdir())
    assert [file.stem for file in wrong if validator.is_valid(YAML(typ="safe").load(file))] == []
    assert len(wrong) == len(make_schemastore.WRONG)
