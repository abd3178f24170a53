"""The input formats there are. A format is a module; nothing of it is imported before a file of that kind is read."""

import re
from dataclasses import dataclass
from typing import Final

_READING: Final = "ttt_cli.reading"


@dataclass(frozen=True)
class Format:
    """A format: `name` in `data.format`, `kind` in reports (the name by default).

    `read` is `module:function`; `function(blocks, data, name)` returns a `reading.batches.Table`. The blocks are text
    as bytes, UTF-8 or like it, with LF line ends, unless the format is `binary`. `begins` matches the first bytes and
    takes precedence over the name; `holds` decides where no name does.
    """

    name: str
    read: str
    suffixes: tuple[str, ...]
    begins: re.Pattern[bytes] | None = None
    holds: re.Pattern[bytes] | None = None
    binary: bool = False
    kind: str = ""


FORMATS: Final = (
    Format(
        "pgn",
        f"{_READING}.pgn:read_pgn",
        (".pgn",),
        begins=re.compile(rb'(?:\s|[%;][^\n]*\n)*+\[[ \t]*[A-Za-z]\w*[ \t]*"'),
        holds=re.compile(
            rb'(?m:^)[ \t]*(?:\xef\xbb\xbf)?\[[ \t]*[A-Za-z]\w*[ \t]+"[^\n]*\]'
            rb"|\A\s*(?:\{[^}]*\}\s*)?1\.\s*(?:\.\.\s*)?[a-hKQRBNO]"
        ),
    ),
    Format("csv", f"{_READING}.delimited:read_delimited", (".csv",), holds=re.compile(rb"[,\t;|]")),
    Format("tsv", f"{_READING}.delimited:read_delimited", (".tsv", ".tab"), kind="csv"),
    Format(
        "jsonl",
        f"{_READING}.jsonl:read_jsonl",
        (".jsonl", ".ndjson", ".json"),
        begins=re.compile(rb'\s*(?:\[\s*)?\{\s*"(?:[^"\\]|\\.)*+"\s*:'),
    ),
    Format(
        "parquet",
        f"{_READING}.parquet:read_parquet",
        (".parquet", ".pq"),
        begins=re.compile(b"PAR1"),
        binary=True,
    ),
    Format(
        "trf",
        f"{_READING}.trf:read_trf",
        (".trf", ".trfx"),
        begins=re.compile(
            rb"(?:\s|###[^\n]*\n)*+(?:001|012|022|032|042|052|062|072|082|092|102|112|122|132|XX[A-Z]) "
        ),
    ),
    Format(
        "crosstable",
        f"{_READING}.crosstables:read_crosstables",
        (".crosstable", ".xtable"),
        begins=re.compile(rb"\s*(?i:event|site|date|round)[ \t]*:[^\n,;\t|]*\n"),
    ),
)
