"""What packages with rating systems and input formats may import; it changes only as docs/versions.md says."""

from ttt_cli.config.schema import DataConfig, SolverConfig, key
from ttt_cli.fitted import Fit, Line, Status
from ttt_cli.formats import Format
from ttt_cli.inference.filters import RatingParams, one_pass, rated, unknown_sd
from ttt_cli.inference.outcome import predict_ratings, resolve_logistic_margin
from ttt_cli.inference.params import ExpectedParams, Params, Traits
from ttt_cli.inference.solver import Given
from ttt_cli.reading.batches import Table, TextRecords
from ttt_cli.reading.text import decode
from ttt_cli.timeline import Timeline

__all__ = [
    "DataConfig",
    "ExpectedParams",
    "Fit",
    "Format",
    "Given",
    "Line",
    "Params",
    "RatingParams",
    "SolverConfig",
    "Status",
    "Table",
    "TextRecords",
    "Timeline",
    "Traits",
    "decode",
    "key",
    "one_pass",
    "predict_ratings",
    "rated",
    "resolve_logistic_margin",
    "unknown_sd",
]
