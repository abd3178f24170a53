"""Write what SchemaStore takes of the schema of configs: `python docs/make_schemastore.py CHECKOUT`.

CHECKOUT is a clone of SchemaStore. The schema, the shipped configs as its tests and `WRONG` as its negative tests are
written there, and the entry of its catalog is printed, which goes into `src/api/json/catalog.json`. Editors then know
configs that are called `ttt.yaml` or `NAME.ttt.yaml`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from ttt_cli.config.load import shipped_configs
from ttt_cli.config.schema import json_schema
from ttt_cli.systems.registry import load, names

NAME: Final = "ttt-config"
ADDRESS: Final = f"https://www.schemastore.org/{NAME}.json"
PRAGMA: Final = f"# yaml-language-server: $schema=../../schemas/json/{NAME}.json\n"
DRAFT: Final = "http://json-schema.org/draft-07/schema#"  # which SchemaStore recommends
ENTRY: Final = {
    "name": "ttt config",
    "description": "Configs of ttt, which estimates skills from game records",
    "fileMatch": ["ttt.yaml", "*.ttt.yaml"],
    "url": ADDRESS,
}
# Configs that the schema refuses, by what is wrong with them
WRONG: Final = {
    "misspelt-key": "model:\n  name: ttt\n  betta: 480\n",
    "unknown-model": "model:\n  name: elos\n",
    "out-of-range": "model:\n  name: ttt\n  prior_sd: -1\n",
    "unknown-period": "data:\n  period: fortnight\n",
}


def schema() -> dict[str, Any]:
    """The schema of configs with the address that SchemaStore gives it."""
    models = {name: load(name).Params for name in names()}
    return {"$id": ADDRESS} | json_schema(models) | {"$schema": DRAFT}


def files() -> dict[str, str]:
    """All files, by their paths in SchemaStore."""
    configs = {name: file.read_text(encoding="utf-8") for name, file in shipped_configs().items()}
    return {
        f"src/schemas/json/{NAME}.json": f"{json.dumps(schema(), indent=2)}\n",
        **{f"src/test/{NAME}/{name}.yaml": PRAGMA + text for name, text in configs.items()},
        **{f"src/negative_test/{NAME}/{name}.yaml": PRAGMA + text for name, text in WRONG.items()},
    }


def main(checkout: Path) -> None:
    """Write the files and print the entry of the catalog."""
    for path, text in files().items():
        file = checkout / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    sys.stdout.write(f"{json.dumps(ENTRY, indent=2)}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
