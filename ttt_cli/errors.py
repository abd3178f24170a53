"""The errors of `ttt_cli.support.errors` under their name of the version before, for one version."""

from ttt_cli.support.errors import (
    ConfigError,
    DataError,
    LookupFailed,
    OutputError,
    RunError,
    SetupError,
    TttError,
)

__all__ = ["ConfigError", "DataError", "LookupFailed", "OutputError", "RunError", "SetupError", "TttError"]
